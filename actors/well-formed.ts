/**
 * Text of others may hold half of a surrogate pair, by an escape in JSON: UTF-8 has no bytes for it, and stores and peers
 * refuse it or change it each in their own way. Here each half becomes one U+FFFD, before anything is stored or sent.
 */

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
