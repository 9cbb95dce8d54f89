import stringWidth from "string-width";
import { toLine } from "./printable.js";
import type { Terminal } from "./terminal.js";

/** A column of a table. */
interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null | undefined;
  /**
   * Whether this column is shortened if the table is wider than the terminal. If no column is flexible, the last one is
   * shortened.
   */
  readonly isFlexible?: boolean;
}

const GAP = "  ";
const LEAST_WIDTH = 10;

/**
 * Lays out rows as lines, below a line of titles. An absent or empty value becomes a dash. Values are made printable.
 */
export function toTable<Row>(
  { columns: width, isTerminal, paint }: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly string[] {
  const cells = rows.map((row) => columns.map(({ of }) => toCell(of(row))));
  const titles = columns.map(({ title }) => title.toUpperCase());
  const widths = titles.map((title, index) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index] ?? ""))),
  );
  const given = columns.findIndex(({ isFlexible }) => isFlexible === true);
  const flexible = given === -1 ? columns.length - 1 : given;
  // Only for a terminal: programs that read the table get whole values.
  if (isTerminal) {
    const total = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));
    widths[flexible] = Math.max(LEAST_WIDTH, (widths[flexible] ?? 0) - Math.max(0, total - width));
  }
  const layOut = (row: readonly string[]) =>
    row
      .map((text, index) => pad(shorten(text, widths[index] ?? 0), widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  return [paint("bold", layOut(titles)), ...cells.map(layOut)];
}

/** Lays out names and values as lines. */
export function toFields(terminal: Terminal, fields: readonly (readonly [string, string | number | null])[]): string[] {
  const width = Math.max(...fields.map(([name]) => stringWidth(name)));
  return fields.map(([name, value]) => `${terminal.paint("dim", pad(name, width))}  ${toCell(value)}`);
}

function toCell(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === "" ? "-" : toLine(String(value));
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

/** Shortens text to a width in terminal cells. */
function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let short = "";
  for (const character of text) {
    if (stringWidth(short + character) > width - 1) break;
    short += character;
  }
  return `${short}…`;
}
