/** Others' text in a terminal: no control, bidirectional or invisible characters, which a terminal would obey. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** The same without the line break and the tab. */
const UNSEEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Converts text to one line. */
export function toLine(text: string): string {
  return text.replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
}

/** Converts text to lines. Windows line ends become plain ones. */
export function toLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN_IN_LINES, " ");
}
