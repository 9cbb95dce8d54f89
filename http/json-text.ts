/** What JSON text shows before, or beside, what parsing makes of it. */
export interface JsonOutline {
  /** How deep brackets nest, those in strings left out. */
  readonly depth: number;
  /** How many members its objects are written with, repeated ones included. */
  readonly members: number;
  /** How many values it holds, lists and objects among them. */
  readonly values: number;
}

/** Takes time in proportion to the text, whatever it is. */
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

/** How many members the objects of a parsed value have: fewer than they were written with where one was written twice. */
export function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Object.values(value);
  const below = own.reduce<number>((sum, inner) => sum + membersIn(inner), 0);
  return Array.isArray(value) ? below : own.length + below;
}

/** The name of the first member that an object of some well-formed JSON text is written with twice, or null. */
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

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 34) index += text.charCodeAt(index) === 92 ? 2 : 1;
  return index;
}
