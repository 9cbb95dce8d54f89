import type { SyntaxNode } from "./hcl-syntax.js";
import { lineStart as beginOfLine } from "./splice.js";

/** A part of a file: where it starts, and where it ends. */
type Part = Pick<SyntaxNode, "start" | "end">;

/** A file with the resource that is edited and the station in it. */
export interface Formatted {
  readonly text: string;
  readonly resource: Part;
  readonly station: Part;
}

/**
 * The text of an edited file, formatted where it was before: the whole resource, else its station alone. Where neither was,
 * nothing is moved. `terraform fmt` formats with the same code. Only blanks within lines differ from the edited text.
 */
export async function formatEdit(before: Formatted, after: Formatted): Promise<string> {
  const old = await formatted(before);
  if (old === null) return after.text;
  const part = [before.resource, before.station].findIndex((each) =>
    linesOf(before, each).every(({ line, index }) => line === old[index]),
  );
  const kept = [after.resource, after.station][part];
  const now = kept === undefined ? null : await formatted(after);
  if (kept === undefined || now === null) return after.text;
  const lines = linesOf(after, kept);
  const start = lineStart(after.text, kept.start);
  const put = lines.map(({ index }) => now[index] ?? "").join("\n");
  return `${after.text.slice(0, start)}${put}${after.text.slice(start + lines.map(({ line }) => line).join("\n").length)}`;
}

/** A text of HCL, formatted as HashiCorp's tools do. */
export async function formatText(text: string): Promise<string> {
  // It is loaded with its first use: it is compiled from Go, and sets globals.
  const { format } = await import("@cdktn/hcl-tools");
  return format(text);
}

/** The lines of a resource as they are formatted; null when that is not known. */
async function formatted(file: Formatted): Promise<readonly string[] | null> {
  const lines = linesOf(file, file.resource).map(({ line }) => line);
  const now = (await formatText(`${lines.join("\n")}\n`).catch(() => "")).split("\n").slice(0, -1);
  return now.length === lines.length ? now : null;
}

/** Where a line begins, behind a byte order mark. */
function lineStart(text: string, offset: number): number {
  const start = beginOfLine(text, offset);
  return start === 0 && text.startsWith("\ufeff") ? 1 : start;
}

/** The lines of a part, each with its place among those of the resource. */
function linesOf({ text, resource }: Formatted, { start, end }: Part) {
  const first = text.slice(lineStart(text, resource.start), start).split("\n").length - 1;
  const lineEnd = text.indexOf("\n", end);
  const lines = text.slice(lineStart(text, start), lineEnd < 0 ? text.length : lineEnd).split("\n");
  return lines.map((line, index) => ({ line, index: first + index }));
}
