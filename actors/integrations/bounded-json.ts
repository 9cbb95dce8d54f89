/** What is read of JSON that comes from outside: each value is dear, and a text of megabytes may have millions of them. */

/** Values that may still be read of one body or answer; reading them takes some tenths of a second. */
export interface JsonRoom {
  values: number;
}

export const createJsonRoom = (): JsonRoom => ({ values: 200_000 });

/**
 * The value of a JSON text, which takes of the room what it has; undefined for what is no JSON, has more values than there
 * is room for, or more than `maxDepth` lists and maps within each other.
 */
export function parseBounded(text: string, room: JsonRoom, maxDepth: number): unknown {
  const values = countValues(text, { most: room.values, maxDepth });
  if (values === null) return undefined;
  room.values -= values;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COMMA] = ['"', "\\", ","].map((one) => one.charCodeAt(0));
const [LIST, MAP, LIST_END, MAP_END] = ["[", "{", "]", "}"].map((one) => one.charCodeAt(0));

/** The values of a JSON text, about; null for more than `most`, or deeper ones. Linear, and quick for any text. */
function countValues(
  text: string,
  { most, maxDepth }: { readonly most: number; readonly maxDepth: number },
): number | null {
  let [values, depth, isText] = [1, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === LIST_END || code === MAP_END) depth -= 1;
    else if (code === COMMA || code === LIST || code === MAP) {
      values += 1;
      if (code !== COMMA) depth += 1;
      if (values > most || depth > maxDepth) return null;
    }
  }
  return values;
}
