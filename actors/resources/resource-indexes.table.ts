import { isDeepStrictEqual } from "node:util";
import { type DirectedWriting, type DirectoryEntry, directoryKey } from "../../runtime/directories/directory.js";
import { type DirectorySource, rowSource } from "../../runtime/directories/directory-source.js";
import type { Entry, Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { FieldError } from "../refusal.js";
import type { DependentSource } from "../tables/dependents.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { EVERYONE, type Titled, type TitleEntry, titleEntries } from "../tables/title-index.js";
import type { AddressReference, KeyReference, Kind, Reference, ResourcePart, ResourceUser } from "./kind.js";
import { expectResource, findResource, type ResourceRow, resourceAddresses, resources } from "./resource.table.js";
import { hashEntry } from "./resource-hash.table.js";
import { locationEntry } from "./resource-location.table.js";

/** Key: `[target kind, target id, source kind, source id]`. Value: the referrer. */
export const referrers = table<ResourceUser>("reference");
/** Key: `[team, kind, id]`. Value: a resource that the team holds. */
const teamHoldings = table<ResourceUser>("held");

/** Key: `[kind, team, lookup key, id]`. Value: true. */
export const lookupKeys = table<true>("resource-word");
/** The titles of resources and of their parts, by words (`../tables/title-index.ts`). */
export const resourceTitles = table<Titled>("resource-title");
/** Key: `[part]`. Value: the resource that has the part. */
const partHolders = table<{ readonly kind: string; readonly id: string }>("resource-part");
/** Key: `[target kind, team, lookup key, source kind, source id]`. Value: the referrer. */
export const keyReferrers = table<ResourceUser>("word-reference");

/** Selects resources of a team by a lookup key. */
export interface LookupKeyQuery {
  readonly kind: string;
  readonly teamId: string;
  readonly key: string;
}

/** Number of index rows to read in one batch. */
const PAGE = 64;

/**
 * Yields the resources of a team that have this lookup key, in the order of their ids, after the id `after`. Reads a
 * resource only when the caller asks for it, because resources may be large and callers may stop early. Throws
 * `damaged` if an id has no row.
 */
export function* listByLookupKey<Fields>(
  reading: Reading,
  workspaceId: string,
  { kind, teamId, key: lookupKey }: LookupKeyQuery,
  after: string | null,
): Generator<ResourceRow<Fields>> {
  const under = [kind, teamId, lookupKey];
  for (let last = after; ; ) {
    const page = last === null ? { limit: PAGE } : { limit: PAGE, after: [...under, last] };
    const entries = lookupKeys.entries(reading, workspaceId, under, page);
    for (const { key } of entries) {
      last = String(key.at(-1));
      yield expectResource<Fields>(reading, workspaceId, kind, last);
    }
    if (entries.length < PAGE) return;
  }
}

/**
 * Returns the key of a team, which is the first part of its resources' addresses. Returns "" if `teamId` is null or the
 * team does not exist.
 */
export function getTeamKey(reading: Reading, workspaceId: string, teamId: string | null): string {
  return teamId === null ? "" : (resources.get(reading, workspaceId, "team", teamId)?.address ?? "");
}

/** Writes a resource and its index rows. `previous` is the resource that `row` replaces; null for a new resource. */
export function putResource(
  writing: DirectedWriting,
  kind: Kind,
  row: ResourceRow,
  previous: ResourceRow | null,
): void {
  const before = previous === null ? [] : listResourceEntries(kind, previous);
  const after = listResourceEntries(kind, row);
  for (const entry of before) if (!isAmong(after, entry)) writing.undirect(entry);
  createTable(kind).put(writing, row.workspaceId, previous, row);
  for (const entry of after) if (!isAmong(before, entry)) writing.direct(entry);
}

/** Removes a resource, its index rows, and the other rows that the kind's `afterDelete` removes. */
export function removeResource(writing: DirectedWriting, kind: Kind, row: ResourceRow): void {
  for (const entry of listResourceEntries(kind, row)) writing.undirect(entry);
  createTable(kind).remove(writing, row.workspaceId, row);
  kind.afterDelete?.(writing, row);
}

type ResourceTable = ReturnType<typeof declareResources>;

const tables = new WeakMap<Kind, ResourceTable>();

/**
 * Returns the resource table with the indexes of this kind. All kinds store their rows in one table, but each kind
 * declares its own indexes of it.
 */
function createTable(kind: Kind): ResourceTable {
  const known = tables.get(kind) ?? declareResources(kind);
  tables.set(kind, known);
  return known;
}

function declareResources(kind: Kind) {
  return indexedTable<ResourceRow>(resources.name, {
    under: ["kind"],
    order: ["id"],
    derived: [
      derivedRows(resourceAddresses, (row) => [[[kind.name, row.address], row.id]]),
      derivedRows(teamHoldings, (row) =>
        row.teamId === null ? [] : [[[row.teamId, kind.name, row.id], toReferrer(row)]],
      ),
      derivedRows(lookupKeys, (row) =>
        getLookupKeys(kind, row.fields).map((key) => [[kind.name, row.teamId ?? "", key, row.id], true]),
      ),
      titleEntries<ResourceRow>(resourceTitles, {
        scope: () => EVERYONE,
        titles: (row) => listTitles(kind, row),
        isSame: (before, after) => isDeepStrictEqual(listTitles(kind, before), listTitles(kind, after)),
      }),
      derivedRows(partHolders, (row) => listParts(kind, row).map(({ id }) => [[id], { kind: kind.name, id: row.id }])),
      // Write these rows after the addresses. A resource may refer to itself, and its references are found by address.
      { listRows: (reading, partition, row) => listReferrerRows(reading, partition, kind, row) },
    ],
  });
}

/** Lists the titles of a resource and of its parts. */
function listTitles(kind: Kind, row: ResourceRow): readonly TitleEntry[] {
  const { id, address, fields } = row;
  const teamId = kind.name === "team" ? id : row.teamId;
  const own = kind.title?.(fields);
  const title = own === undefined ? [] : [{ id, kind: kind.name, title: own, also: getKey(address), teamId, address }];
  const parts = listParts(kind, row).map(({ key, ...part }) => ({ ...part, also: key, teamId, address }));
  return [...title, ...parts];
}

function listParts(kind: Kind, { fields }: ResourceRow): readonly ResourcePart[] {
  return kind.listParts?.(fields) ?? [];
}

/** Returns the last part of an address: the resource's key. */
function getKey(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

/** Finds the resource that has the part with this id; undefined if there is none. */
export function findPartHolder(reading: Reading, workspaceId: string, partId: string): ResourceRow | undefined {
  const found = partHolders.get(reading, workspaceId, partId);
  return found === undefined ? undefined : expectResource(reading, workspaceId, found.kind, found.id);
}

/**
 * The indexes of all kinds' resources. Leaves out the indexes of references, because their entries depend on other
 * resources.
 */
export function resourceDependents(kinds: readonly Kind[]): DependentSource {
  const byName = new Map(kinds.map((kind) => [kind.name, createTable(kind)]));
  const [first] = byName.values();
  return {
    name: resources.name,
    dependentTables: first?.dependentTables ?? [],
    *dependents(reading, partition) {
      for (const row of first?.rows(reading, partition) ?? []) {
        yield* byName.get(row.kind)?.listDependents(reading, partition, row) ?? [];
      }
    },
  };
}

function listReferrerRows(reading: Reading, workspaceId: string, kind: Kind, row: ResourceRow): Entry[] {
  const { addresses, keys } = getReferences(reading, kind, row);
  const value = toReferrer(row);
  return [
    ...findTargets(reading, workspaceId, addresses).map((target) => ({
      key: referrers.key(workspaceId, target.kind, target.id, kind.name, row.id),
      value,
    })),
    ...keys.map(({ kind: target, key }) => ({
      key: keyReferrers.key(workspaceId, target, row.teamId ?? "", key, kind.name, row.id),
      value,
    })),
  ];
}

function isAmong(entries: readonly DirectoryEntry[], entry: DirectoryEntry): boolean {
  return entries.some((one) => isDeepStrictEqual(one, entry));
}

/** Lists the directory entries of a resource: its location and its hashed values. */
function listResourceEntries(kind: Kind, row: ResourceRow): DirectoryEntry[] {
  const { id, workspaceId } = row;
  return [
    locationEntry(id, { workspaceId, kind: kind.name }),
    ...getHashes(kind, row).map((hash) => hashEntry(kind.name, hash, { workspaceId, id })),
  ];
}

/**
 * The directory entries of resources, by id and by hash. A hash of a resource in a closed workspace may now belong to
 * another workspace. The directory then keeps the entry of the other workspace.
 */
export function resourceSource(kinds: readonly Kind[]): DirectorySource {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return rowSource(resources, (row, { partition, reading }) => {
    const kind = byName.get(row.kind);
    if (kind === undefined) return [];
    const entries = listResourceEntries(kind, row);
    if (kind.hidden.length === 0 || findResource(reading, partition, "workspace", partition) !== undefined) {
      return entries;
    }
    return entries.filter((entry) => {
      const present = reading.get(directoryKey(entry));
      return present === undefined || isDeepStrictEqual(present, entry.row);
    });
  });
}

/** Lists at most `limit` users of a resource: the resources that refer to it, and for a team the resources in it. */
export function listReferrers(reading: Reading, row: ResourceRow, limit: number): readonly ResourceUser[] {
  const referring = referrers.list(reading, row.workspaceId, [row.kind, row.id], { limit });
  const holding = row.kind === "team" ? teamHoldings.list(reading, row.workspaceId, [row.id], { limit }) : [];
  return [...referring, ...holding].slice(0, limit);
}

/** A lookup key that only one resource has, and the team's resources that use this key. */
export interface KeyInUse {
  readonly key: string;
  readonly users: readonly ResourceUser[];
}

/**
 * Finds the first lookup key that would be lost if `row` got the fields `next` (null for a delete). A key is lost if
 * resources of the team use it, but no resource has it any longer. Returns null if there is none. Returns at most
 * `limit` users of the key.
 */
export function findLostKey(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
  { next, limit }: { readonly next: ResourceRow["fields"] | null; readonly limit: number },
): KeyInUse | null {
  const current = new Set(next === null ? [] : getLookupKeys(kind, next));
  for (const key of getLookupKeys(kind, row.fields)) {
    if (current.has(key)) continue;
    const under = [kind.name, row.teamId ?? "", key];
    const users = keyReferrers.list(reading, row.workspaceId, under, { limit });
    if (users.length > 0 && lookupKeys.list(reading, row.workspaceId, under, { limit: 2 }).length < 2)
      return { key, users };
  }
  return null;
}

/** Lists the references whose target does not exist. */
export function danglingReferences(
  reading: Reading,
  workspaceId: string,
  { references, teamId }: { readonly references: readonly Reference[]; readonly teamId: string | null },
): readonly Reference[] {
  return references.filter((reference) => {
    if (!("key" in reference)) {
      return resourceAddresses.get(reading, workspaceId, reference.kind, reference.address) === undefined;
    }
    const under = [reference.kind, teamId ?? "", reference.key];
    return lookupKeys.list(reading, workspaceId, under, { limit: 1 }).length === 0;
  });
}

/** The error for a reference whose target does not exist. */
export function missingReference(reference: Reference): FieldError {
  const { path, kind } = reference;
  return { path, message: "key" in reference ? reference.missing : `there is no ${kind} ${reference.address}` };
}

function getReferences(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
): { readonly addresses: readonly AddressReference[]; readonly keys: readonly KeyReference[] } {
  const all = kind.references(row.fields, getTeamKey(reading, row.workspaceId, row.teamId));
  return {
    addresses: all.flatMap((reference) => ("key" in reference ? [] : [reference])),
    keys: all.flatMap((reference) => ("key" in reference ? [reference] : [])),
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

function toReferrer(row: ResourceRow): ResourceUser {
  return { kind: row.kind, address: row.address };
}
