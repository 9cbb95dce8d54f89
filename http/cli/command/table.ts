import stringWidth from "string-width";
import { toLine } from "./printable.js";
import type { Terminal } from "./terminal.js";

/** A column of a table. A column that is neither flexible nor minor is always shown whole. */
interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null | undefined;
  /** Whether values are shortened, with an ellipsis, if the table is wider than the terminal. */
  readonly isFlexible?: boolean;
  /**
   * Whether the column is left out if the table is too wide even with short values. If a table has several minor
   * columns, the last of them is left out first.
   */
  readonly isMinor?: boolean;
}

const GAP = "  ";
/**
 * Minimum widths of a flexible column. `SHORT_WIDTH` applies while a minor column can still be left out. After that,
 * `LEAST_WIDTH` applies.
 */
const SHORT_WIDTH = 12;
const LEAST_WIDTH = 4;

/**
 * Lays out rows as lines below a line of titles. An absent or empty value becomes a dash. On a terminal, shortens
 * flexible columns and leaves out minor columns until the table fits. If the table still does not fit, each row becomes
 * lines of titles and values. If standard output is no terminal, all values are whole.
 */
export function toTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly string[] {
  const all = columns.map((column) => {
    const cells = rows.map((row) => toCell(column.of(row)));
    const title = column.title.toUpperCase();
    return { ...column, title, cells, width: Math.max(stringWidth(title), ...cells.map((cell) => stringWidth(cell))) };
  });
  const fitting = terminal.isTerminal ? fit(all, terminal.columns) : all;
  if (fitting === null) return toRecords(terminal, all);
  const layOut = (textOf: (column: LaidOut) => string) =>
    fitting
      .map((column) => pad(shorten(textOf(column), column.width), column.width))
      .join(GAP)
      .trimEnd();
  return [
    terminal.paint(
      "bold",
      layOut(({ title }) => title),
    ),
    ...rows.map((_row, index) => layOut(({ cells }) => cells[index] ?? "")),
  ];
}

/** A column with its values as text and its width in terminal cells. */
interface LaidOut {
  readonly title: string;
  readonly cells: readonly string[];
  readonly width: number;
  readonly isFlexible?: boolean;
  readonly isMinor?: boolean;
}

/** Lays out each row as lines of titles and values, with an empty line between rows. */
function toRecords(terminal: Terminal, columns: readonly LaidOut[]): readonly string[] {
  const free = terminal.columns - GAP.length - Math.max(...columns.map(({ title }) => stringWidth(title)));
  const toField = ({ title, cells, isFlexible }: LaidOut, index: number) => {
    const cell = cells[index] ?? "";
    return [title.toLowerCase(), isFlexible === true ? shorten(cell, Math.max(free, LEAST_WIDTH)) : cell] as const;
  };
  return (columns[0]?.cells ?? []).flatMap((_, index) => [
    ...(index === 0 ? [] : [""]),
    ...toFields(
      terminal,
      columns.map((column) => toField(column, index)),
    ),
  ]);
}

/** Returns the columns to show, with widths that fit into `width`; null if the columns cannot fit. */
function fit(columns: readonly LaidOut[], width: number): readonly LaidOut[] | null {
  const short = shrink(columns, width, SHORT_WIDTH);
  if (short !== null) return short;
  const dropped = columns.findLastIndex(({ isMinor }) => isMinor === true);
  return dropped === -1 ? shrink(columns, width, LEAST_WIDTH) : fit(columns.toSpliced(dropped, 1), width);
}

/** Shortens the widest flexible columns until all columns fit; null if a column would be narrower than `least`. */
function shrink(columns: readonly LaidOut[], width: number, least: number): readonly LaidOut[] | null {
  const widths = columns.map((column) => column.width);
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width;
  for (; excess > 0; excess--) {
    const flexible = widths.map((each, index) => (columns[index]?.isFlexible === true ? each : 0));
    const widest = Math.max(...flexible);
    if (widest <= least) return null;
    widths[flexible.indexOf(widest)] = widest - 1;
  }
  return columns.map((column, index) => ({ ...column, width: widths[index] ?? 0 }));
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
