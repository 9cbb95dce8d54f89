import { countValues, readJson } from "../exact-json.js";

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
    return readJson(text);
  } catch {
    return undefined;
  }
}
