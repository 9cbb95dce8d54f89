import { readJson } from "./exact-json.js";

/**
 * Text of others may hold half of a surrogate pair, by an escape in JSON: UTF-8 has no bytes for it, and stores and peers
 * refuse it or change it each in their own way. Here each half becomes one U+FFFD, before anything is stored or sent.
 */

/** The first `most` UTF-16 code units of a text, without half a character at their end, and well-formed. */
export function cutText(text: string, most: number): string {
  const cut = text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");
  return cut.toWellFormed();
}

/** Parses JSON whose texts come from others, with exact whole numbers; throws as {@link readJson} does. */
export function parseWellFormed(text: string): unknown {
  const value = readJson(text);
  // Only an escape makes half of a pair.
  return HALF_PAIR.test(text) ? toWellFormedJson(value) : value;
}

const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/** A JSON value whose texts and names are well-formed; the value itself where they are already. */
export function toWellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(toWellFormedJson);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const members = Object.entries(value);
  const formed = members.map(([name, member]) => [name.toWellFormed(), toWellFormedJson(member)] as const);
  const isSame = formed.every(([name, member], index) => name === members[index]?.[0] && member === members[index][1]);
  return isSame ? value : Object.fromEntries(formed);
}
