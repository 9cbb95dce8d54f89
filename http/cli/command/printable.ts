/**
 * Control, bidirectional and invisible characters. They are removed from untrusted text, because a terminal may act on
 * them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** The same characters without the line break and the tab. */
const UNSEEN_IN_LINES = /(?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu;

/** A style of a terminal's `paint`: bold, dim or one of four colours, or its end. */
const STYLE = /(\p{Cc}\[(?:1|2|22|3[1-4]|39)m)/u;
const ESCAPE = "\u001b";

/** Converts text to one line: replaces control characters, line breaks and other whitespace with single spaces. */
export function toLine(text: string): string {
  return text.replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
}

/** Replaces control characters with spaces and keeps the lines. Windows line ends become `\n`. */
export function toLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN_IN_LINES, " ");
}

/** Like {@link toLines}, but keeps the styles that a terminal's `paint` writes. */
export function toStyledLines(text: string): string {
  const parts = text.split(STYLE);
  const isStyle = (part: string, index: number) => index % 2 === 1 && part.startsWith(ESCAPE);
  return parts.map((part, index) => (isStyle(part, index) ? part : toLines(part))).join("");
}

/** Encodes a value as JSON. Control, bidirectional and invisible characters are escaped, so it can be printed. */
export function toJson(value: unknown, indent = 0): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(UNSEEN_IN_LINES, (found) =>
    found.split("").map(toEscape).join(""),
  );
}
