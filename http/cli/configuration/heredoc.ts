import type { Splice } from "../../../actors/config-pull-requests/edit/splice.js";

/**
 * Returns the splices that rewrite a heredoc as a quoted text, because HashiCorp's parser takes quadratic time in the
 * lines of a heredoc. `start` is the offset of the heredoc, and `parts` replace its expressions. An indented heredoc
 * (`<<-`) stays a heredoc if its indentation is not plain.
 */
export function heredocSplices(text: string, start: number, parts: readonly Splice[]): readonly Splice[] {
  const head = text.slice(0, text.indexOf("\n") + 1);
  const lines = text.slice(head.length, Math.max(head.length, text.trimEnd().lastIndexOf("\n") + 1));
  const indent = head.startsWith("<<-") ? plainIndent(text, lines, start, parts) : 0;
  if (head === "" || indent === null) return parts;
  const from = start + head.length;
  const to = from + lines.length;
  const result: Splice[] = [{ start, end: from, text: '"' }];
  let at = from;
  for (const part of [...parts, { start: to, end: to, text: "" }]) {
    const before = text.slice(at - start, part.start - start);
    const atLine = at === from || text[at - start - 1] === "\n";
    result.push({ start: at, end: part.start, text: quoted(undented(before, indent, atLine)) });
    if (part.start < to) result.push(part);
    at = part.end;
  }
  return [...result, { start: to, end: start + text.length, text: text.endsWith("\n") ? '"\n' : '"' }];
}

/**
 * Returns the smallest indentation of the lines. Null if it is not plain (a line has only spaces, other whitespace in
 * its indentation or a carriage return), if an expression spans several lines, or if there is no text.
 */
function plainIndent(text: string, lines: string, start: number, parts: readonly Splice[]): number | null {
  if (parts.some((part) => text.slice(part.start - start, part.end - start).includes("\n"))) return null;
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines.split("\n")) {
    if (line === "") continue;
    const spaces = /^ */.exec(line)?.[0].length ?? 0;
    if (spaces === line.length || /^\s/.test(line.slice(spaces)) || line.includes("\r")) return null;
    least = Math.min(least, spaces);
  }
  return Number.isFinite(least) ? least : null;
}

function undented(text: string, indent: number, atLine: boolean): string {
  if (indent === 0) return text;
  const lines = text.split("\n");
  return lines.map((line, index) => (index > 0 || atLine ? line.slice(indent) : line)).join("\n");
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\" };

function quoted(text: string): string {
  return text.replace(/["\\\r\n]/g, (sign) => ESCAPES[sign] ?? sign);
}
