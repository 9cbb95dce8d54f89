import type { Terminal } from "../command/terminal.js";
import type { Interval } from "./figures.js";

export interface Axis {
  /** The ends of the axis, as shares: 1 means 100 %. */
  readonly from: number;
  readonly to: number;
  /** The number of cells, which must be odd, so that there is a middle cell. */
  readonly width: number;
}

/** Draws an interval and the value `at` in it on an axis: `├───●─────┤`. */
export function drawInterval({ from, to, width }: Axis, at: number, { low, high }: Interval): string {
  const cell = (value: number) =>
    Math.round(((Math.min(Math.max(value, from), to) - from) / (to - from)) * (width - 1));
  const [left, middle, right] = [cell(low), cell(at), cell(high)];
  const zero = from < 0 ? cell(0) : -1;
  return Array.from({ length: width }, (_, place) => {
    if (place === middle) return "●";
    if (place === left) return "├";
    if (place === right) return "┤";
    if (place > left && place < right) return "─";
    return place === zero ? "│" : "·";
  }).join("");
}

/** Draws the scale above intervals: the ends and the middle of the axis, in percent or percentage points. */
export function drawScale({ from, to, width }: Axis): string {
  const [left, middle, right] = [from, (from + to) / 2, to].map((value) => String(100 * value));
  const half = (width - 1) / 2;
  const start = `${left}`.padEnd(half - Math.floor(String(middle).length / 2));
  return `${start}${middle}`.padEnd(width - String(right).length) + right;
}

/** The result of a copy; null if it has none yet. */
export type Result = "succeeded" | "failed" | "unscored" | null;

const marks = { succeeded: "✓", failed: "✗", unscored: "?" } as const;
const colours = { "✓": "green", "✗": "red", "?": "yellow" } as const;

/** Draws copies as one character each. */
export function drawStrip(results: readonly Result[]): string {
  return results.map((result) => (result === null ? "·" : marks[result])).join("");
}

/** Explains the characters of {@link drawStrip}. */
export const STRIP_LEGEND = "✓ succeeded  ✗ failed  ? not scored  · no result yet";

/** Colours the strips at the beginning of a line. */
export function paintStrips({ paint }: Terminal, line: string): string {
  return line.replace(/^[✓✗?· ]+/u, (strips) =>
    strips.replace(/✓+|✗+|\?+/gu, (run) => paint(colours[run.charAt(0) as keyof typeof colours], run)),
  );
}
