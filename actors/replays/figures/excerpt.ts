/** Texts cut for entries of a replay; whole they are read one copy at a time. */

/** Bytes of a check's output in an entry: its end. */
export const OUTPUT_BYTES = 1_024;
/** Bytes of a verdict's reasons in an entry as JSON, and of the claims that it was judged by. */
export const REASONS_BYTES = 2_048;

/** The end of a text, in at most `max` bytes of UTF-8. */
export function lastBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let from = bytes.length - max;
  while (isContinuation(bytes[from])) from += 1;
  return bytes.toString("utf8", from);
}

/** The beginning of a text, in at most `max` bytes of UTF-8. */
export function firstBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let to = Math.max(0, max);
  while (to > 0 && isContinuation(bytes[to])) to -= 1;
  return bytes.toString("utf8", 0, to);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/**
 * The first reasons that have at most `max` bytes together as JSON. The text of the last one is cut where that makes room
 * for a part of it.
 */
export function excerptReasons<Reason extends { readonly text: string }>(
  reasons: readonly Reason[],
  max: number,
): readonly Reason[] {
  const kept: Reason[] = [];
  let room = max;
  for (const reason of reasons) {
    const size = sizeOf(reason);
    if (size > room) {
      const cut = cutTo(reason, room);
      return cut.text === "" ? kept : [...kept, cut];
    }
    kept.push(reason);
    room -= size;
  }
  return kept;
}

/** Each byte of its text takes at least one in JSON, so that to cut as many as are too much is enough. */
function cutTo<Reason extends { readonly text: string }>(reason: Reason, max: number): Reason {
  const text = firstBytes(reason.text, max - sizeOf({ ...reason, text: "" }));
  const over = Math.max(0, sizeOf({ ...reason, text }) - max);
  return { ...reason, text: firstBytes(text, Buffer.byteLength(text) - over) };
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Texts that have at most about `max` bytes together: each has an equal part. */
export function excerptTexts(texts: readonly string[], max: number): readonly string[] {
  return texts.map((text) => firstBytes(text, Math.floor(max / texts.length)));
}
