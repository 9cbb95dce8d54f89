import type { Terminal } from "../command/terminal.js";
import { toAmount } from "./figures.js";
import { costRange, type FrontierPoint, listPlaced } from "./frontier.js";

/** The rows go from 100 % to 0 %, the columns from the lowest to the highest cost. */
const ROWS = 11;
const COLUMNS = 57;
/** Characters to the left of the plot. */
const LABELS = 7;
const LABEL_ROWS = 5;

/**
 * Draws score over cost with characters. If several points are in the same cell, draws the first point; the frontier's
 * points come first.
 */
export function drawFrontier(
  { paint, isTerminal, columns }: Terminal,
  all: readonly FrontierPoint[],
  currency: string,
): readonly string[] {
  const points = listPlaced(all);
  if (points.length === 0) return [];
  const { from, to } = costRange(points);
  const width = isTerminal ? Math.min(COLUMNS, Math.max(columns - LABELS, LABELS)) : COLUMNS;
  const cells = new Map<string, FrontierPoint>();
  for (const point of points) {
    const column = Math.round(((point.cost - from) / (to - from)) * (width - 1));
    const key = `${Math.round((1 - point.score) * (ROWS - 1))}/${column}`;
    if (!cells.has(key)) cells.set(key, point);
  }
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const percent = row % LABEL_ROWS === 0 ? `${100 - (100 / (ROWS - 1)) * row} %` : "";
    const drawn = Array.from({ length: width }, (_, column) => {
      const point = cells.get(`${row}/${column}`);
      if (point === undefined) return " ";
      return point.onFrontier ? paint("green", point.mark) : paint("dim", point.mark);
    });
    return `${percent.padStart(5)} ${percent === "" ? "│" : "┤"}${drawn.join("").trimEnd()}`;
  });
  const [low, high] = [toAmount(from), `${toAmount(to)} ${currency} per run`];
  const scale = `${low}${" ".repeat(Math.max(1, width - low.length - high.length))}${high}`;
  return ["success on searched tasks", ...rows, `      └${"─".repeat(width)}`, `       ${scale}`];
}
