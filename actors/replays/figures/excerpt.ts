/** Cuts texts for the entries of a replay. A request for a single copy returns its texts uncut. */

/** Maximum size of a check's output in an entry, in bytes. The end of the output is kept. */
export const OUTPUT_BYTES = 1_024;
/**
 * Maximum size of a verdict's reasons in an entry (as JSON), and maximum size of all judged claims in an entry, in
 * bytes.
 */
export const REASONS_BYTES = 2_048;

/** Returns the end of a text, at most `max` bytes of UTF-8. */
export function lastBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let from = bytes.length - max;
  while (isContinuation(bytes[from])) from += 1;
  return bytes.toString("utf8", from);
}

/** Returns the beginning of a text, at most `max` bytes of UTF-8. */
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
 * Returns the first reasons whose JSON takes at most `max` bytes in total. If a part of the next reason's text also
 * fits, returns this reason too, with a shortened text.
 */
export function excerptReasons<Reason extends { readonly text: string }>(
  reasons: readonly Reason[],
  max: number,
): readonly Reason[] {
  const fitting: Reason[] = [];
  let remaining = max;
  for (const reason of reasons) {
    const size = toSize(reason);
    if (size > remaining) {
      const cut = cutTo(reason, remaining);
      return cut.text === "" ? fitting : [...fitting, cut];
    }
    fitting.push(reason);
    remaining -= size;
  }
  return fitting;
}

/**
 * Shortens a reason to `max` bytes of JSON. Each byte of text takes at least one byte of JSON, so it is enough to cut
 * the number of excess bytes from the text.
 */
function cutTo<Reason extends { readonly text: string }>(reason: Reason, max: number): Reason {
  const text = firstBytes(reason.text, max - toSize({ ...reason, text: "" }));
  const over = Math.max(0, toSize({ ...reason, text }) - max);
  return { ...reason, text: firstBytes(text, Buffer.byteLength(text) - over) };
}

function toSize(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Cuts texts to at most `max` bytes in total. Each text gets an equal share. */
export function excerptTexts(texts: readonly string[], max: number): readonly string[] {
  return texts.map((text) => firstBytes(text, Math.floor(max / texts.length)));
}
