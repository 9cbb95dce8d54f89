import { readJson } from "./exact-json.js";

/**
 * Untrusted text may contain half of a surrogate pair, through an escape in JSON. UTF-8 cannot represent such a half.
 * Stores and peers reject the text, or change it in different ways. These functions replace each half with one U+FFFD
 * before the text is stored or sent.
 */

/** Returns the first `max` UTF-16 code units of a text, well-formed, and without half a pair at the end. */
export function cutText(text: string, max: number): string {
  const cut = text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
  return cut.toWellFormed();
}

/** Parses JSON with untrusted texts, and with exact integers. Throws like {@link readJson}. */
export function parseWellFormed(text: string): unknown {
  const value = readJson(text);
  // Only an escape can produce half of a pair.
  return HALF_PAIR.test(text) ? toWellFormedJson(value) : value;
}

const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/**
 * Returns a JSON value in which all texts and names are well-formed. Returns the same object if nothing has to be
 * replaced.
 */
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
