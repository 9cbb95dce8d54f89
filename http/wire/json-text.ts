/** Size figures of a JSON text, computed without parsing it. */
export interface JsonOutline {
  /** The depth of nested brackets, ignoring strings. */
  readonly depth: number;
  /** The number of object members, including repeated names. */
  readonly members: number;
  /** The number of values, including lists and objects. */
  readonly values: number;
}

/** Computes the outline of any text, also invalid JSON, in linear time. */
export function toOutline(text: string): JsonOutline {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let values = 1;
  let justOpened = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 32 || code === 10 || code === 13 || code === 9) continue;
    const isEmpty = justOpened && (code === 125 || code === 93);
    if (justOpened && !isEmpty) values++;
    justOpened = code === 123 || code === 91;
    if (justOpened) deepest = Math.max(deepest, ++depth);
    else if (code === 34) index = endOfString(text, index);
    else if (code === 58) members++;
    else if (code === 44) values++;
    else if (code === 125 || code === 93) depth--;
  }
  return { depth: deepest, members, values };
}

/** Counts the object members of a parsed value. The count is lower than in the text if a name was repeated. */
export function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Object.values(value);
  const below = own.reduce<number>((sum, inner) => sum + membersIn(inner), 0);
  return Array.isArray(value) ? below : own.length + below;
}

/** Returns the first member name that an object repeats, or null. The text must be well-formed JSON. */
export function repeatedMember(text: string): string | null {
  const open: Set<string>[] = [];
  let string = "";
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 34) {
      const end = endOfString(text, index);
      string = text.slice(index, end + 1);
      index = end;
    } else if (code === 123) open.push(new Set());
    else if (code === 125) open.pop();
    else if (code === 58) {
      const name = String(JSON.parse(string));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return null;
}

/** Returns the index of the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 34) index += text.charCodeAt(index) === 92 ? 2 : 1;
  return index;
}
