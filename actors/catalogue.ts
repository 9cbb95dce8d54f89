/**
 * Collects the definitions of all areas. Each function or list here gathers one part of all manifests, in the order of
 * the areas. Only the edge and tests import this file. All other code gets the definitions as arguments.
 */
import type { ActorType, Effect, Gate, Subscriber } from "../runtime/cells/actor-type.js";
import type { DirectoryCatalogue } from "../runtime/directories/rebuild-directories.js";
import type { MigrationStep } from "../storage/migrations.js";
import type { StreamTopic } from "./access/visibility/stream-topic.js";
import type { ActorParts, AreaTable } from "./area.js";
import { type AllActorParts, areas, type Deployment, type EffectParts, type TopicParts } from "./areas.js";
import { type Examination, listExaminations } from "./doctor.js";
import type { Kind } from "./resources/kind.js";
import type { RunOwner } from "./runs/run-owner.js";
import type { ReferringTable } from "./tables/blob-recount.js";
import type { DependentSource } from "./tables/dependents.js";
import type { RetentionCatalogue } from "./tables/retention-sweeper.machine.js";
import type { CachedTable, StoredTable } from "./tables/stored-table.js";

/** The settings of the deployment that some actors depend on. */
export type ActorSettings = Omit<AllActorParts, keyof ActorParts>;

/** Creates all resource kinds, each after the kinds that it refers to. */
export function createKinds(deployment: Deployment): readonly Kind[] {
  const kinds = areas.flatMap((area) => area.kinds?.(deployment) ?? []);
  return inOrder(kinds, ({ listedAfter = [] }) => listedAfter).map(withUse);
}

/** Returns the kind with the reasons of other areas why one of its resources cannot be deleted. */
function withUse(kind: Kind): Kind {
  const reasons = areas.flatMap(({ inUse }) => inUse?.[kind.name] ?? []).reverse();
  if (reasons.length === 0) return kind;
  const own = kind.inUse === undefined ? [] : [kind.inUse];
  return {
    ...kind,
    inUse: (row, reading) => {
      for (const reason of [...reasons, ...own]) {
        const use = reason(row, reading);
        if (use !== null) return use;
      }
      return null;
    },
  };
}

/** Creates all actor types. `kinds` are the resource kinds of workspaces. */
export function createActorTypes(kinds: readonly Kind[], settings: ActorSettings = {}): readonly ActorType[] {
  const parts = { ...settings, kinds, runOwners, retained: retainedTables };
  return areas.flatMap((area) => area.actors?.(parts) ?? []);
}

/** Creates all effects. */
export function createEffects(parts: EffectParts): readonly Effect[] {
  return areas.flatMap((area) => area.effects?.(parts) ?? []);
}

/** Creates the topics of the stream by their kind, the first part of `<kind>/<id>`. */
export function createTopics(parts: TopicParts): ReadonlyMap<string, StreamTopic> {
  return new Map(areas.flatMap((area) => Object.entries(area.topics?.(parts) ?? {})));
}

/** All subscribers to facts. */
export const subscribers: readonly Subscriber[] = areas.flatMap((area) => area.subscribers ?? []);

/** All gates. */
export const gates: readonly Gate[] = areas.flatMap((area) => area.gates ?? []);

/** All kinds of run owners. */
export const runOwners: readonly RunOwner[] = areas.flatMap((area) => area.runOwners ?? []);

/** The steps that migrate a store from an earlier release, in order. */
export const migrations: readonly MigrationStep[] = areas
  .flatMap((area) => area.migrations ?? [])
  .sort((left, right) => left.to - right.to);

const areaTables: readonly AreaTable[] = areas.flatMap((area) => area.tables ?? []);
const directories = areas.flatMap((area) => area.directories ?? []);

/** All tables that areas list. Indexes and derived rows are not among them. */
export const tables: readonly StoredTable[] = areaTables.map(toTable);

/** The names of the tables and directories whose small rows the runtime caches in memory. */
export const cachedTables: readonly string[] = [...areaTables, ...directories].flatMap((entry) =>
  "isCached" in entry ? [entry.table.name] : [],
);

/** All tables whose rows refer to bodies. The recount of references reads them (`tables/blob-recount.ts`). */
export const referringTables: readonly ReferringTable[] = tables.filter(isReferring);

/**
 * The data that the retention sweeper removes (`tables/retention.ts`). `rules` has the retention rules, in the order of
 * a pass. `owned` has the tables whose rows belong to rows of other tables. The sweeper removes these rows after the
 * rows that they belong to.
 */
export const retainedTables: RetentionCatalogue = {
  rules: inOrder(
    areaTables.flatMap((entry) => ("sweep" in entry ? [entry] : [])),
    ({ after }) => after,
  ),
  owned: areaTables.flatMap((entry) => ("clear" in entry ? [entry] : [])),
};

/**
 * Lists all tables with declared indexes or derived rows. The doctor compares the tables with these indexes and rows.
 */
export function createDependentSources(kinds: readonly Kind[]): readonly DependentSource[] {
  return [...areas.flatMap((area) => area.kindIndexes?.(kinds) ?? []), ...tables.filter(hasDependents)];
}

/** Lists all directories, with the rows and states that can rebuild them. */
export function createDirectoryCatalogue(kinds: readonly Kind[]): DirectoryCatalogue {
  return {
    names: directories.map(toTable).map(({ name }) => name),
    sources: areas.flatMap((area) => area.directorySources?.(kinds) ?? []),
  };
}

/** Creates all examinations of the doctor, in the order in which their findings must be repaired. */
export function createExaminations(kinds: readonly Kind[], nowMs: number): readonly Examination[] {
  const contents = {
    sources: createDependentSources(kinds),
    directories: createDirectoryCatalogue(kinds),
    referring: referringTables,
    catalogue: { actors: createActorTypes(kinds), subscribers, gates, effects: [] },
  };
  return listExaminations(contents, nowMs);
}

function toTable(entry: AreaTable | CachedTable): StoredTable {
  return "table" in entry ? entry.table : entry;
}

function isReferring(table: StoredTable): table is StoredTable & ReferringTable {
  return table.hasBodies === true && table.referrals !== undefined;
}

function hasDependents(table: StoredTable): table is StoredTable & DependentSource {
  return (table.dependentTables ?? []).length > 0 && table.dependents !== undefined;
}

/**
 * Orders items so that each item comes after the items whose names `after` returns for it. Keeps the given order where
 * possible. Throws if there is no such order.
 */
function inOrder<Item extends { readonly name: string }>(
  items: readonly Item[],
  after: (item: Item) => readonly string[],
): readonly Item[] {
  const waiting = [...items];
  const ordered: Item[] = [];
  while (waiting.length > 0) {
    const isFree = (item: Item) => after(item).every((name) => ordered.some((before) => before.name === name));
    const [next] = waiting.splice(waiting.findIndex(isFree), 1);
    if (next === undefined || !isFree(next)) throw new Error(`no order: ${waiting.map(({ name }) => name).join(", ")}`);
    ordered.push(next);
  }
  return ordered;
}
