import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { forgetHash, recordHash } from "./hash-index.js";
import type { Kind, Reference } from "./kind.js";
import { forgetPlace, recordPlace } from "./place.js";
import { type ResourceRow, resourceAddresses, resourceAt, resources } from "./resource-rows.js";

interface User {
  readonly kind: string;
  readonly address: string;
}

/** `[target kind, target id, source kind, source id]` -> who refers to it. */
const referrers = table<User>("reference");
/** `[team, kind, id]` -> what a team holds. */
const held = table<User>("held");

/** `[kind, team, word, id]` -> true */
const words = table<true>("resource-word");

/** The resources of a team that their kind lists under a word, by id. */
export function resourcesUnder<Fields>(
  reading: Reading,
  workspaceId: string,
  under: { readonly kind: string; readonly teamId: string; readonly word: string },
): ResourceRow<Fields>[] {
  return words.entries(reading, workspaceId, [under.kind, under.teamId, under.word]).flatMap(({ key }) => {
    const row = resources.get(reading, workspaceId, under.kind, String(key.at(-1)));
    return row === undefined ? [] : [row as ResourceRow<Fields>];
  });
}

/** How a team-held address begins. */
export function teamKeyOf(reading: Reading, workspaceId: string, teamId: string | null): string {
  return teamId === null ? "" : (resources.get(reading, workspaceId, "team", teamId)?.address ?? "");
}

/** Writes a resource and everything it is found by. */
export function putResource(writing: Writing, kind: Kind, row: ResourceRow, previous: ResourceRow | null): void {
  if (previous !== null) removeIndexes(writing, kind, previous);
  const { workspaceId } = row;
  resources.put(writing, workspaceId, [kind.name, row.id], row);
  resourceAddresses.put(writing, workspaceId, [kind.name, row.address], row.id);
  recordPlace(writing, row.id, { workspaceId, kind: kind.name });
  if (row.teamId !== null) held.put(writing, workspaceId, [row.teamId, kind.name, row.id], userOf(row));
  for (const word of kind.listedUnder?.(row.fields) ?? []) {
    words.put(writing, workspaceId, [kind.name, row.teamId ?? "", word, row.id], true);
  }
  for (const hash of hashesOf(kind, row)) recordHash(writing, kind.name, hash, { workspaceId, id: row.id });
  for (const target of targetsOf(writing, kind, row)) {
    referrers.put(writing, workspaceId, [target.kind, target.id, kind.name, row.id], userOf(row));
  }
}

/** Takes away a resource and everything it is found by. */
export function removeResource(writing: Writing, kind: Kind, row: ResourceRow): void {
  removeIndexes(writing, kind, row);
  resources.remove(writing, row.workspaceId, kind.name, row.id);
  forgetPlace(writing, row.id);
}

function removeIndexes(writing: Writing, kind: Kind, row: ResourceRow): void {
  const { workspaceId } = row;
  resourceAddresses.remove(writing, workspaceId, kind.name, row.address);
  if (row.teamId !== null) held.remove(writing, workspaceId, row.teamId, kind.name, row.id);
  for (const word of kind.listedUnder?.(row.fields) ?? []) {
    words.remove(writing, workspaceId, kind.name, row.teamId ?? "", word, row.id);
  }
  for (const hash of hashesOf(kind, row)) forgetHash(writing, kind.name, hash);
  for (const target of targetsOf(writing, kind, row)) {
    referrers.remove(writing, workspaceId, target.kind, target.id, kind.name, row.id);
  }
}

/** Who uses the resource: what refers to it, and for a team what it holds. At most `limit`. */
export function usersOf(reading: Reading, row: ResourceRow, limit: number): readonly User[] {
  const referring = referrers.list(reading, row.workspaceId, [row.kind, row.id], { limit });
  const holding = row.kind === "team" ? held.list(reading, row.workspaceId, [row.id], { limit }) : [];
  return [...referring, ...holding].slice(0, limit);
}

/** What the fields refer to; `id` is undefined where nothing stands at the address. */
export function resolveReferences(
  reading: Reading,
  workspaceId: string,
  references: readonly Reference[],
): readonly (Reference & { readonly id: string | undefined })[] {
  return references.map((reference) => ({
    ...reference,
    id: resourceAt(reading, workspaceId, reference.kind, reference.address)?.id,
  }));
}

function targetsOf(reading: Reading, kind: Kind, row: ResourceRow): { readonly kind: string; readonly id: string }[] {
  const teamKey = teamKeyOf(reading, row.workspaceId, row.teamId);
  return resolveReferences(reading, row.workspaceId, kind.references(row.fields, teamKey)).flatMap((target) =>
    target.id === undefined ? [] : [{ kind: target.kind, id: target.id }],
  );
}

function hashesOf(kind: Kind, row: ResourceRow): string[] {
  return kind.hidden.flatMap(({ path, keep }) => {
    const value = row.hidden[path];
    return keep === "hash" && value !== undefined ? [value] : [];
  });
}

function userOf(row: ResourceRow): User {
  return { kind: row.kind, address: row.address };
}
