/**
 * Control, bidirectional and invisible characters. They are removed from untrusted text, because a terminal may act on
 * them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** The same characters without the line break and the tab. */
const UNSEEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Converts text to one line: replaces control characters, line breaks and other whitespace with single spaces. */
export function toLine(text: string): string {
  return text.replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
}

/** Replaces control characters with spaces and keeps the lines. Windows line ends become `\n`. */
export function toLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN_IN_LINES, " ");
}
