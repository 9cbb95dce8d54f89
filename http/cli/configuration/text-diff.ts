import { structuredPatch } from "diff";
import type { Terminal } from "../command/terminal.js";

/** Maximum number of lines to show of one difference. */
const MAX_LINES = 40;
/** Maximum length of a shown line, in characters. */
const MAX_WIDTH = 200;
/** Maximum number of removed and added lines to compute. The computing time grows with the square of this number. */
const MAX_EDITS = 1_000;

const colours = { "+": "green", "-": "red", "@": "dim", "\\": "dim" } as const;

/**
 * Lays out the difference of two texts as lines of a unified diff, without file names and bounded in length. Returns
 * null if neither text has a line break.
 */
export function diffLines(terminal: Pick<Terminal, "paint">, old: string, now: string): readonly string[] | null {
  if (!old.includes("\n") && !now.includes("\n")) return null;
  // If neither text ends with a newline, add one to both: the diff shows a missing final newline only if it changes.
  const end = old.endsWith("\n") || now.endsWith("\n") ? "" : "\n";
  const [before, after] = [old, now].map((text) => `${text.normalize("NFC")}${end}`);
  const patch = structuredPatch("", "", before ?? "", after ?? "", "", "", { context: 3, maxEditLength: MAX_EDITS });
  if (patch === undefined) return [`(${countLines(old)} lines → ${countLines(now)} lines; too different to show)`];
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  const more = lines.length - MAX_LINES;
  return [
    ...lines.slice(0, MAX_LINES).map((line) => painted(terminal, cut(line))),
    ...(more > 0 ? [`… ${more} more lines (--json has both texts)`] : []),
  ];
}

function painted(terminal: Pick<Terminal, "paint">, line: string): string {
  const sign = line[0] ?? "";
  return sign === "+" || sign === "-" || sign === "@" || sign === "\\" ? terminal.paint(colours[sign], line) : line;
}

/** Shortens a line, and writes a carriage return as `\r`, because a terminal would not show it. */
function cut(line: string): string {
  const shown = line.replaceAll("\r", "\\r");
  return shown.length > MAX_WIDTH ? `${shown.slice(0, MAX_WIDTH)}…` : shown;
}

function countLines(text: string): number {
  return text.split("\n").length;
}
