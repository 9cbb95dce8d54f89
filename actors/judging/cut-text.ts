/**
 * Shortens a text to at most `max` characters. A longer text keeps its start and end, with a note of its full length
 * between them. If `max` leaves no space for the note, only the start remains.
 */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const note = `\n[${text.length} characters, the middle is left out]\n`;
  const available = Math.max(0, max - note.length);
  const begin = cutEnd(text, Math.ceil(available / 2));
  return available === 0 ? cutEnd(text, max) : `${begin}${note}${cutBegin(text, Math.floor(available / 2))}`;
}

/** Returns at most the first `max` characters of a text. Never splits a surrogate pair. */
export function cutEnd(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, Math.max(0, max));
  return isHigh(cut.charCodeAt(cut.length - 1)) ? cut.slice(0, -1) : cut;
}

/** Returns at most the last `max` characters of a text. Never splits a surrogate pair. */
export function cutBegin(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = max <= 0 ? "" : text.slice(-max);
  return isLow(cut.charCodeAt(0)) ? cut.slice(1) : cut;
}

/** Formats a count with its noun: `1 hunk`, `2 hunks`. */
export function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Whether a UTF-16 code unit is the first of a surrogate pair. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
