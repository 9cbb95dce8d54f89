/** The size of JSON text, known without parsing it. */
export interface JsonOutline {
  /** The depth of nested brackets, ignoring strings. */
  readonly depth: number;
  /** The number of members of its objects, repeated ones included. */
  readonly members: number;
  /** The number of values, including lists and objects. */
  readonly values: number;
}

/** Works on any text, in time proportional to its length. */
export function outlineOf(text: string): JsonOutline {
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

/** The number of members of a parsed value's objects: fewer than in its text if a name was repeated. */
export function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Object.values(value);
  const below = own.reduce<number>((sum, inner) => sum + membersIn(inner), 0);
  return Array.isArray(value) ? below : own.length + below;
}

/** The first name that an object of well-formed JSON text has twice, or null. */
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

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 34) index += text.charCodeAt(index) === 92 ? 2 : 1;
  return index;
}
