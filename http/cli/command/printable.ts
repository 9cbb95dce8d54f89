import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import { writeJson } from "../../../actors/exact-json.js";

/**
 * Control, bidirectional and invisible characters. Untrusted text is not printed with them, because a terminal may act
 * on them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** The characters of {@link UNSEEN} except the line break and the tab. */
const UNSEEN_IN_LINES = /(?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu;

/** Converts text to one line: replaces control characters, line breaks and other whitespace with single spaces. */
export function toLine(text: string): string {
  return text.replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
}

/** Replaces control characters with spaces and keeps the lines. Windows line ends become `\n`. */
export function toLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN_IN_LINES, " ");
}

/** Colours and styles of text. */
export type Colour = "red" | "green" | "yellow" | "blue" | "bold" | "dim";

/** Styles text for a terminal. */
interface Painter {
  /** Marks text with a colour or style. */
  paint(colour: Colour, text: string): string;
  /** Like {@link toLines}, and turns the marks of `paint` into the terminal's codes. */
  show(text: string): string;
}

/** Creates a painter. Its marks have a random number, so untrusted text cannot contain them. */
export function createPainter(): Painter {
  const key = String(randomInt(2 ** 47));
  const mark = (code: number) => `\u001b[${key};${code}m`;
  const marks = new RegExp(`\\p{Cc}\\[${key};(\\d+)m`, "u");
  return {
    paint: (colour, text) => {
      const [start, end] = inspect.colors[colour] ?? [0, 0];
      return `${mark(start)}${text}${mark(end)}`;
    },
    show: (text) =>
      text
        .split(marks)
        .map((part, index) => (index % 2 === 1 ? `\u001b[${part}m` : toLines(part)))
        .join(""),
  };
}

/**
 * Encodes a value as JSON. Escapes control, bidirectional and invisible characters, so that the JSON can be printed.
 */
export function toJson(value: unknown, indent = 0): string {
  return escapeUnseen(writeJson(value, indent));
}

/** Escapes control, bidirectional and invisible characters of a JSON text, except line breaks and tabs. */
export function escapeUnseen(json: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(UNSEEN_IN_LINES, (found) => found.split("").map(toEscape).join(""));
}
