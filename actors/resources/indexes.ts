import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { FieldError } from "../refusal.js";
import { forgetHash, recordHash } from "./hash-index.js";
import type { AddressReference, Kind, Reference, WordReference } from "./kind.js";
import { forgetPlace, recordPlace } from "./place.js";
import { type ResourceRow, resourceAddresses, resourceById, resources } from "./resource-rows.js";

/** What names another resource. */
export interface User {
  readonly kind: string;
  readonly address: string;
}

/** `[target kind, target id, source kind, source id]` -> who refers to it. */
const referrers = table<User>("reference");
/** `[team, kind, id]` -> what a team holds. */
const held = table<User>("held");

/** `[kind, team, word, id]` -> true */
const words = table<true>("resource-word");
/** `[target kind, team, word, source kind, source id]` -> who names the word. */
const wordReferrers = table<User>("word-reference");

/** Tables that work reads at every step and configuration alone writes. */
export const configurationTables: readonly string[] = [resources.name, words.name];

/** Which resources of a team are looked for by a word. */
export interface UnderWord {
  readonly kind: string;
  readonly teamId: string;
  readonly word: string;
}

/** Places of an index read at once. */
const PAGE = 64;

/**
 * The resources of a team that their kind lists under a word, by id, those after `after`. Each is read when it is come
 * to: one may be large, and whoever goes through them may end at any.
 */
export function* resourcesUnder<Fields>(
  reading: Reading,
  workspaceId: string,
  { kind, teamId, word }: UnderWord,
  after: string | null,
): Generator<ResourceRow<Fields>> {
  const under = [kind, teamId, word];
  for (let last = after; ; ) {
    const page = last === null ? { limit: PAGE } : { limit: PAGE, after: [...under, last] };
    const entries = words.entries(reading, workspaceId, under, page);
    for (const { key } of entries) {
      last = String(key.at(-1));
      const row = resourceById<Fields>(reading, workspaceId, kind, last);
      if (row !== undefined) yield row;
    }
    if (entries.length < PAGE) return;
  }
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
  for (const word of wordsOf(kind, row.fields)) {
    words.put(writing, workspaceId, [kind.name, row.teamId ?? "", word, row.id], true);
  }
  for (const hash of hashesOf(kind, row)) recordHash(writing, kind.name, hash, { workspaceId, id: row.id });
  const { addresses, words: named } = referencesOf(writing, kind, row);
  for (const target of targetsOf(writing, workspaceId, addresses)) {
    referrers.put(writing, workspaceId, [target.kind, target.id, kind.name, row.id], userOf(row));
  }
  for (const { kind: target, word } of named) {
    wordReferrers.put(writing, workspaceId, [target, row.teamId ?? "", word, kind.name, row.id], userOf(row));
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
  for (const word of wordsOf(kind, row.fields)) {
    words.remove(writing, workspaceId, kind.name, row.teamId ?? "", word, row.id);
  }
  for (const hash of hashesOf(kind, row)) forgetHash(writing, kind.name, hash);
  const { addresses, words: named } = referencesOf(writing, kind, row);
  for (const target of targetsOf(writing, workspaceId, addresses)) {
    referrers.remove(writing, workspaceId, target.kind, target.id, kind.name, row.id);
  }
  for (const { kind: target, word } of named) {
    wordReferrers.remove(writing, workspaceId, target, row.teamId ?? "", word, kind.name, row.id);
  }
}

/** Who uses the resource: what refers to it, and for a team what it holds. At most `limit`. */
export function usersOf(reading: Reading, row: ResourceRow, limit: number): readonly User[] {
  const referring = referrers.list(reading, row.workspaceId, [row.kind, row.id], { limit });
  const holding = row.kind === "team" ? held.list(reading, row.workspaceId, [row.id], { limit }) : [];
  return [...referring, ...holding].slice(0, limit);
}

/** A word that a resource alone is listed under, with those of the team that name it. */
export interface WordInUse {
  readonly word: string;
  readonly users: readonly User[];
}

/**
 * The first word that others of the team name and nothing would be listed under any more if `row` had the fields
 * `next` (null: if it were gone); null when there is none. At most `limit` users.
 */
export function lostWord(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
  { next, limit }: { readonly next: ResourceRow["fields"] | null; readonly limit: number },
): WordInUse | null {
  const kept = new Set(next === null ? [] : wordsOf(kind, next));
  for (const word of wordsOf(kind, row.fields)) {
    if (kept.has(word)) continue;
    const under = [kind.name, row.teamId ?? "", word];
    const users = wordReferrers.list(reading, row.workspaceId, under, { limit });
    if (users.length > 0 && words.list(reading, row.workspaceId, under, { limit: 2 }).length < 2)
      return { word, users };
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
    return words.list(reading, workspaceId, under, { limit: 1 }).length === 0;
  });
}

/** What is said of a reference that names nothing that is there. */
export function missingReference(reference: Reference): FieldError {
  const { path, kind } = reference;
  return { path, message: "word" in reference ? reference.missing : `there is no ${kind} ${reference.address}` };
}

function referencesOf(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
): { readonly addresses: readonly AddressReference[]; readonly words: readonly WordReference[] } {
  const all = kind.references(row.fields, teamKeyOf(reading, row.workspaceId, row.teamId));
  return {
    addresses: all.flatMap((reference) => ("word" in reference ? [] : [reference])),
    words: all.flatMap((reference) => ("word" in reference ? [reference] : [])),
  };
}

function targetsOf(
  reading: Reading,
  workspaceId: string,
  references: readonly AddressReference[],
): { readonly kind: string; readonly id: string }[] {
  return references.flatMap(({ kind, address }) => {
    const id = resourceAddresses.get(reading, workspaceId, kind, address);
    return id === undefined ? [] : [{ kind, id }];
  });
}

function wordsOf(kind: Kind, fields: ResourceRow["fields"]): readonly string[] {
  return kind.listedUnder?.words(fields) ?? [];
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
