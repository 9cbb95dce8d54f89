import type { SyntaxNode } from "./hcl-syntax.js";
import { lineStart as beginOfLine } from "./splice.js";

/** The start and end offsets of a part of a file. */
type Part = Pick<SyntaxNode, "start" | "end">;

/** A file, with the positions of the edited resource and of the station in it. */
export interface Formatted {
  readonly text: string;
  readonly resource: Part;
  readonly station: Part;
}

/**
 * Formats the edited text as HashiCorp's tools do. If the whole resource was formatted before the edit, formats the
 * resource. Otherwise, if the station was formatted, formats only the station. If neither was, returns the edited text
 * unchanged. Only whitespace within lines changes.
 */
export async function formatEdit(before: Formatted, after: Formatted): Promise<string> {
  const old = await formatted(before);
  if (old === null) return after.text;
  const part = [before.resource, before.station].findIndex((each) =>
    listLines(before, each).every(({ line, index }) => line === old[index]),
  );
  const location = [after.resource, after.station][part];
  const now = location === undefined ? null : await formatted(after);
  if (location === undefined || now === null) return after.text;
  const lines = listLines(after, location);
  const start = lineStart(after.text, location.start);
  const put = lines.map(({ index }) => now[index] ?? "").join("\n");
  return `${after.text.slice(0, start)}${put}${after.text.slice(start + lines.map(({ line }) => line).join("\n").length)}`;
}

/** Formats HCL text as HashiCorp's tools do. */
export async function formatText(text: string): Promise<string> {
  // Load the module on first use: it is compiled from Go and sets globals.
  const { format } = await import("@cdktn/hcl-tools");
  return format(text);
}

/** Formats the resource and returns its lines; null if the formatter fails or changes the number of lines. */
async function formatted(file: Formatted): Promise<readonly string[] | null> {
  const lines = listLines(file, file.resource).map(({ line }) => line);
  const now = (await formatText(`${lines.join("\n")}\n`).catch(() => "")).split("\n").slice(0, -1);
  return now.length === lines.length ? now : null;
}

/** Returns the offset at which the line of `offset` starts, after any byte order mark. */
function lineStart(text: string, offset: number): number {
  const start = beginOfLine(text, offset);
  return start === 0 && text.startsWith("\ufeff") ? 1 : start;
}

/** Returns the lines of a part, each with its index among the resource's lines. */
function listLines({ text, resource }: Formatted, { start, end }: Part) {
  const first = text.slice(lineStart(text, resource.start), start).split("\n").length - 1;
  const lineEnd = text.indexOf("\n", end);
  const lines = text.slice(lineStart(text, start), lineEnd < 0 ? text.length : lineEnd).split("\n");
  return lines.map((line, index) => ({ line, index: first + index }));
}
