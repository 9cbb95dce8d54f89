import { isDeepStrictEqual } from "node:util";
import type { DirectedWriting, DirectoryEntry } from "../../runtime/directory.js";
import { type DirectorySource, rowSource } from "../../runtime/directory-source.js";
import type { Entry, Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { FieldError } from "../refusal.js";
import { indexedTable } from "../tables/indexed-table.js";
import { beside } from "../tables/table-declaration.js";
import type { AddressReference, KeyReference, Kind, Reference } from "./kind.js";
import { findResource, type ResourceRow, resourceAddresses, resources } from "./resource.table.js";
import { hashEntry } from "./resource-hash.table.js";
import { locationEntry } from "./resource-location.table.js";

/** What names another resource. */
export interface Referrer {
  readonly kind: string;
  readonly address: string;
}

/** `[target kind, target id, source kind, source id]` -> who refers to it. */
const referrers = table<Referrer>("reference");
/** `[team, kind, id]` -> what a team holds. */
const teamHoldings = table<Referrer>("held");

/** `[kind, team, word, id]` -> true */
const lookupKeys = table<true>("resource-word");
/** `[target kind, team, word, source kind, source id]` -> who names the word. */
const keyReferrers = table<Referrer>("word-reference");

/** Tables that work reads at every step and configuration alone writes. */
export const configurationTables: readonly string[] = [resources.name, lookupKeys.name];

/** Which resources of a team are looked for by a word. */
export interface LookupKeyQuery {
  readonly kind: string;
  readonly teamId: string;
  readonly key: string;
}

/** Places of an index read at once. */
const PAGE = 64;

/**
 * The resources of a team that their kind lists under a word, by id, those after `after`. Each is read when it is come
 * to: one may be large, and whoever goes through them may end at any.
 */
export function* listByLookupKey<Fields>(
  reading: Reading,
  workspaceId: string,
  { kind, teamId, key: word }: LookupKeyQuery,
  after: string | null,
): Generator<ResourceRow<Fields>> {
  const under = [kind, teamId, word];
  for (let last = after; ; ) {
    const page = last === null ? { limit: PAGE } : { limit: PAGE, after: [...under, last] };
    const entries = lookupKeys.entries(reading, workspaceId, under, page);
    for (const { key } of entries) {
      last = String(key.at(-1));
      const row = findResource<Fields>(reading, workspaceId, kind, last);
      if (row !== undefined) yield row;
    }
    if (entries.length < PAGE) return;
  }
}

/** How a team-held address begins. */
export function getTeamKey(reading: Reading, workspaceId: string, teamId: string | null): string {
  return teamId === null ? "" : (resources.get(reading, workspaceId, "team", teamId)?.address ?? "");
}

/** Writes a resource and everything it is found by, in the place of `previous`. */
export function putResource(
  writing: DirectedWriting,
  kind: Kind,
  row: ResourceRow,
  previous: ResourceRow | null,
): void {
  const before = previous === null ? [] : listResourceEntries(kind, previous);
  const after = listResourceEntries(kind, row);
  for (const entry of before) if (!isAmong(after, entry)) writing.undirect(entry);
  tableOf(kind).put(writing, row.workspaceId, previous, row);
  for (const entry of after) if (!isAmong(before, entry)) writing.direct(entry);
}

/** Takes away a resource and everything it is found by. */
export function removeResource(writing: DirectedWriting, kind: Kind, row: ResourceRow): void {
  for (const entry of listResourceEntries(kind, row)) writing.undirect(entry);
  tableOf(kind).remove(writing, row.workspaceId, row);
}

type ResourceTable = ReturnType<typeof declareResources>;

const tables = new WeakMap<Kind, ResourceTable>();

/** The resources of a kind with what they are found by; the same table for all kinds, declared once for each. */
function tableOf(kind: Kind): ResourceTable {
  const known = tables.get(kind) ?? declareResources(kind);
  tables.set(kind, known);
  return known;
}

function declareResources(kind: Kind) {
  return indexedTable<ResourceRow>(resources.name, {
    under: ["kind"],
    order: ["id"],
    beside: [
      beside(resourceAddresses, (row) => [[[kind.name, row.address], row.id]]),
      beside(teamHoldings, (row) => (row.teamId === null ? [] : [[[row.teamId, kind.name, row.id], toReferrer(row)]])),
      beside(lookupKeys, (row) =>
        getLookupKeys(kind, row.fields).map((key) => [[kind.name, row.teamId ?? "", key, row.id], true]),
      ),
      // A resource may refer to itself: by now its own address is there.
      { rowsOf: (reading, partition, row) => listReferrerRows(reading, partition, kind, row) },
    ],
  });
}

function listReferrerRows(reading: Reading, workspaceId: string, kind: Kind, row: ResourceRow): Entry[] {
  const { addresses, keys } = getReferences(reading, kind, row);
  const value = toReferrer(row);
  return [
    ...findTargets(reading, workspaceId, addresses).map((target) => ({
      ...{ key: referrers.key(workspaceId, target.kind, target.id, kind.name, row.id), value },
    })),
    ...keys.map(({ kind: target, word }) => ({
      ...{ key: keyReferrers.key(workspaceId, target, row.teamId ?? "", word, kind.name, row.id), value },
    })),
  ];
}

function isAmong(entries: readonly DirectoryEntry[], entry: DirectoryEntry): boolean {
  return entries.some((one) => isDeepStrictEqual(one, entry));
}

/** What directories say of a resource: its location, and whose its hashed values are. */
function listResourceEntries(kind: Kind, row: ResourceRow): DirectoryEntry[] {
  const { id, workspaceId } = row;
  return [
    locationEntry(id, { workspaceId, kind: kind.name }),
    ...getHashes(kind, row).map((hash) => hashEntry(kind.name, hash, { workspaceId, id })),
  ];
}

/** Resources are found by their ids, and by the hashes that they keep. */
export function resourceSource(kinds: readonly Kind[]): DirectorySource {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return rowSource(resources, (row) => {
    const kind = byName.get(row.kind);
    return kind === undefined ? [] : listResourceEntries(kind, row);
  });
}

/** Who uses the resource: what refers to it, and for a team what it holds. At most `limit`. */
export function listReferrers(reading: Reading, row: ResourceRow, limit: number): readonly Referrer[] {
  const referring = referrers.list(reading, row.workspaceId, [row.kind, row.id], { limit });
  const holding = row.kind === "team" ? teamHoldings.list(reading, row.workspaceId, [row.id], { limit }) : [];
  return [...referring, ...holding].slice(0, limit);
}

/** A word that a resource alone is listed under, with those of the team that name it. */
export interface KeyInUse {
  readonly key: string;
  readonly users: readonly Referrer[];
}

/**
 * The first word that others of the team name and nothing would be listed under any more if `row` had the fields
 * `next` (null: if it were gone); null when there is none. At most `limit` users.
 */
export function findLostKey(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
  { next, limit }: { readonly next: ResourceRow["fields"] | null; readonly limit: number },
): KeyInUse | null {
  const kept = new Set(next === null ? [] : getLookupKeys(kind, next));
  for (const word of getLookupKeys(kind, row.fields)) {
    if (kept.has(word)) continue;
    const under = [kind.name, row.teamId ?? "", word];
    const users = keyReferrers.list(reading, row.workspaceId, under, { limit });
    if (users.length > 0 && lookupKeys.list(reading, row.workspaceId, under, { limit: 2 }).length < 2)
      return { key: word, users };
  }
  return null;
}

/** Those of the references that name nothing that is there. */
export function danglingReferences(
  reading: Reading,
  workspaceId: string,
  { references, teamId }: { readonly references: readonly Reference[]; readonly teamId: string | null },
): readonly Reference[] {
  return references.filter((reference) => {
    if (!("word" in reference)) {
      return resourceAddresses.get(reading, workspaceId, reference.kind, reference.address) === undefined;
    }
    const under = [reference.kind, teamId ?? "", reference.word];
    return lookupKeys.list(reading, workspaceId, under, { limit: 1 }).length === 0;
  });
}

/** What is said of a reference that names nothing that is there. */
export function missingReference(reference: Reference): FieldError {
  const { path, kind } = reference;
  return { path, message: "word" in reference ? reference.missing : `there is no ${kind} ${reference.address}` };
}

function getReferences(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
): { readonly addresses: readonly AddressReference[]; readonly keys: readonly KeyReference[] } {
  const all = kind.references(row.fields, getTeamKey(reading, row.workspaceId, row.teamId));
  return {
    addresses: all.flatMap((reference) => ("word" in reference ? [] : [reference])),
    keys: all.flatMap((reference) => ("word" in reference ? [reference] : [])),
  };
}

function findTargets(
  reading: Reading,
  workspaceId: string,
  references: readonly AddressReference[],
): { readonly kind: string; readonly id: string }[] {
  return references.flatMap(({ kind, address }) => {
    const id = resourceAddresses.get(reading, workspaceId, kind, address);
    return id === undefined ? [] : [{ kind, id }];
  });
}

function getLookupKeys(kind: Kind, fields: ResourceRow["fields"]): readonly string[] {
  return kind.lookupKeys?.keys(fields) ?? [];
}

function getHashes(kind: Kind, row: ResourceRow): string[] {
  return kind.hidden.flatMap(({ path, keep }) => {
    const value = row.hidden[path];
    return keep === "hash" && value !== undefined ? [value] : [];
  });
}

function toReferrer(row: ResourceRow): Referrer {
  return { kind: row.kind, address: row.address };
}
