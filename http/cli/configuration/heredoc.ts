import type { Splice } from "../../../actors/config-pull-requests/edit/splice.js";

/**
 * Returns the splices that turn a heredoc into a quoted string, because HashiCorp's parser needs quadratic time for the
 * lines of a heredoc. `start` is the heredoc's offset. `parts` are the splices that replace its expressions.
 */
export function heredocSplices(text: string, start: number, parts: readonly Splice[]): readonly Splice[] {
  const head = text.slice(0, text.indexOf("\n") + 1);
  const lines = text.slice(head.length, Math.max(head.length, text.trimEnd().lastIndexOf("\n") + 1));
  if (head === "") return parts;
  const indent = head.startsWith("<<-") ? commonIndent(masked(lines, start + head.length, parts)) : 0;
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

/** Matches leading white space, as Go's `unicode.IsSpace` defines it. */
const SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*/;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Returns the indentation that all lines of a `<<-` heredoc share, in characters. Blank lines do not count. In `lines`,
 * each expression is replaced by a mark.
 *
 * Source: hashicorp/hcl, `hclsyntax/parser_template.go`, `flushHeredocTemplateParts`.
 */
function commonIndent(lines: string): number {
  let least = Number.POSITIVE_INFINITY;
  const all = lines.split("\n");
  for (const [index, line] of all.entries()) {
    const spaces = SPACE.exec(line)?.[0].length ?? 0;
    const isEnd = index === all.length - 1;
    if (spaces === line.length && (!isEnd || line === "")) continue;
    least = Math.min(least, spaces);
  }
  return Number.isFinite(least) ? least : 0;
}

/** Replaces each expression by a character that is not white space. */
function masked(text: string, start: number, parts: readonly Splice[]): string {
  let at = 0;
  const pieces: string[] = [];
  for (const part of parts) {
    pieces.push(text.slice(at, part.start - start), "x");
    at = part.end - start;
  }
  return [...pieces, text.slice(at)].join("");
}

/**
 * Removes the indentation of each line that is not blank. The first line stays unchanged unless the text begins at the
 * start of a line (`atLine`).
 */
function undented(text: string, indent: number, atLine: boolean): string {
  if (indent === 0) return text;
  const lines = text.split("\n");
  const isBlank = (line: string, index: number) =>
    index < lines.length - 1 && (SPACE.exec(line)?.[0].length ?? 0) === line.length;
  return lines
    .map((line, index) => ((index > 0 || atLine) && !isBlank(line, index) ? withoutIndent(line, indent) : line))
    .join("\n");
}

function withoutIndent(line: string, indent: number): string {
  // HCL counts the indentation in graphemes. So if a combining mark follows the last space, remove the mark too.
  if (!/^[\p{M}\u200c\u200d]/u.test(line.slice(indent))) return line.slice(indent);
  let end = 0;
  let count = 0;
  for (const { segment } of graphemes.segment(line)) {
    if (count === indent) break;
    count += 1;
    end += segment.length;
  }
  return line.slice(end);
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\" };

function quoted(text: string): string {
  return text.replace(/["\\\r\n]/g, (sign) => ESCAPES[sign] ?? sign);
}
