import { createHash } from "node:crypto";
import { refuse, resolveReferences, type Source, toPlace } from "./edit-source.js";
import { nodesIn, type SyntaxNode, TooDeep, toHolder, toText } from "./hcl-syntax.js";
import type { JsonObject, ParsedValues } from "./hcl-values.js";
import type { ModuleScope } from "./module-scope.js";
import type { Parsers } from "./parsers.js";
import { type Splice, spliced } from "./splice.js";

/**
 * Parses an HCL file. Refuses with `not-hcl` if the file is not HCL. Refuses with `not-proven`, and names the line, if
 * the file nests too deeply.
 */
export async function readSource(
  parsers: Parsers,
  { path, text }: { readonly path: string; readonly text: string },
  { known, isRoot }: Pick<ModuleScope, "known" | "isRoot">,
): Promise<Source> {
  parsers.onFile?.(path);
  const root = parseSyntax(parsers, { path, text });
  const parsed = await parseShortened(parsers, { path, text, root });
  if ("fault" in parsed && /call stack/.test(parsed.fault)) refuseDeep({ path, text }, brokenAt(root));
  if ("fault" in parsed) refuse("not-hcl", `${path} is no HCL: ${toMessage(parsed.fault, path)}`);
  const textOf = (expression: string) => knownText(expression, known);
  const values: JsonObject = Object.fromEntries(
    Object.entries(parsed.values).map(([name, value]) => [name, resolveReferences(value, textOf)]),
  );
  return { path, text, root, values, knows: (expression) => textOf(expression) !== null, isRoot };
}

/**
 * Returns the text of a reference, such as `service_skill.core_greet.key` or `service_skill.core_greet["key"]`, or of a
 * plain string, also in parentheses. Null if the text is unknown.
 */
function knownText(expression: string, known: ModuleScope["known"]): string | null {
  let plain = expression.trim();
  while (plain.startsWith("(") && plain.endsWith(")")) plain = plain.slice(1, -1).trim();
  const literal = /^"([^"\\$%]*)"$/.exec(plain)?.[1];
  return literal ?? known(plain.replace(/\s*\.\s*/g, ".").replace(/\s*\[\s*"([\w-]+)"\s*\]$/, ".$1"));
}

interface File {
  readonly path: string;
  readonly text: string;
  readonly root: SyntaxNode;
}

function parseSyntax({ syntax }: Parsers, file: { readonly path: string; readonly text: string }): SyntaxNode {
  try {
    return syntax.parse(file.text);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return refuseDeep(file, error.offset);
  }
}

function refuseDeep(file: { readonly path: string; readonly text: string }, start: number): never {
  refuse("not-proven", `At ${toPlace(file, { start })}, the source nests too deeply to be read.`);
}

/** Returns the offset of the first syntax error in a file. */
function brokenAt(root: SyntaxNode): number {
  return (nodesIn(root, "ERROR")[0] ?? root).start;
}

/**
 * Parses the values of a file. First shortens the file, because HashiCorp's parser takes time proportional to the
 * square of a heredoc's lines:
 *
 * - Long heredocs and other long expressions are replaced by their digests, because an edit only compares their
 *   values. Heredocs and expressions in `service_line` resources stay, because the edit needs their values.
 * - After a heredoc without an end, the text is cut at the heredoc's first line. The parser reports the same error as
 *   for the whole text.
 *
 * If a digest is missing from the result, the whole file is parsed.
 */
async function parseShortened({ parseValues }: Parsers, file: File): Promise<ParsedValues> {
  const endless = endlessHeredoc(file);
  const short = shorten(file, endless);
  const parsed = await parseValues(file.path, short.text);
  if ("fault" in parsed && endless === null) return { fault: withOwnLines(parsed.fault, short) };
  if ("fault" in parsed && endless !== null && parsed.fault.includes(NO_END)) {
    return { fault: `${toPlace(file, { start: endless - 1 })}: the heredoc that begins here has no end` };
  }
  const output = "values" in parsed && endless === null ? JSON.stringify(parsed.values) : null;
  return output !== null && short.digests.every((digest) => output.includes(digest))
    ? parsed
    : parseValues(file.path, file.text);
}

/** The message of HashiCorp's parser for a heredoc without an end. */
const NO_END = "Unterminated template string";

/** Returns the end offset of the first line of a heredoc without an end; null if there is none. */
function endlessHeredoc({ text, root }: File): number | null {
  const begins = (root.isBroken ? nodesIn(root, "heredoc_start") : []).flatMap(({ start }) => {
    const [line, word] = /^<<-?(\S+)\r?\n/.exec(text.slice(start, start + MAX_WORD)) ?? [];
    return line === undefined || word === undefined ? [] : [{ word, end: start + line.length }];
  });
  if (begins.length === 0) return null;
  const words = new Map(begins.map(({ word }) => [word, -1]));
  let at = 0;
  for (const line of text.split("\n")) {
    const word = line.length < MAX_WORD ? line.trim() : "";
    if (words.has(word)) words.set(word, at);
    at += line.length + 1;
  }
  return begins.find(({ word, end }) => (words.get(word) ?? -1) < end)?.end ?? null;
}

/** Maximum length of a line that can start or end a heredoc, in characters. */
const MAX_WORD = 1_000;

/**
 * Maximum length of an expression outside `service_line` resources, in characters. A longer expression is replaced by
 * its digest.
 */
const MAX_EXPRESSION = 10_000;

/**
 * Maximum number of lines of a heredoc outside `service_line` resources. A longer heredoc is replaced by its digest.
 */
const MAX_HEREDOC_LINES = 500;

interface Shortened {
  readonly text: string;
  readonly digests: readonly string[];
  /**
   * Each removal of lines. `lines` is the number of removed lines. `line` is the number of the first line after the
   * removal, in the shortened text.
   */
  readonly cuts: readonly { readonly line: number; readonly lines: number }[];
}

function shorten({ text, root }: File, end: number | null): Shortened {
  const lines = toHolder(text, root).blocks.filter(({ labels }) => labels[0] === "service_line");
  const isCut = (node: SyntaxNode): boolean =>
    (end === null || node.end <= end) &&
    !lines.some(({ node: line }) => node.start >= line.start && node.end <= line.end);
  const long = end === null && !root.isBroken ? longExpressions(text, root).filter(isCut) : [];
  const bodies = nodesIn(root, "heredoc_template")
    .filter((node) => isCut(node) && !long.some(({ start, end: last }) => node.start >= start && node.end <= last))
    .flatMap((node) => findBody(text, node) ?? []);
  const splices = [
    ...long.map(({ start, end: last }) => toCut(text, { start, end: last }, (digest) => `"${digest}"`)),
    ...bodies.map((body) => toCut(text, body, (digest) => `${digest}\n`)),
  ].sort((left, right) => left.start - right.start);
  const cuts: { line: number; lines: number }[] = [];
  let [at, line] = [0, 1];
  for (const { start, end: last, text: now } of splices) {
    line += countLines(text.slice(at, start)) + countLines(now);
    cuts.push({ line, lines: countLines(text.slice(start, last)) - countLines(now) });
    at = last;
  }
  const shortened = end === null ? splices : [...splices, { start: end, end: text.length, text: "" }];
  return { text: spliced(text, shortened), digests: splices.map(({ digest }) => digest), cuts };
}

function toCut(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  write: (digest: string) => string,
): Splice & { readonly digest: string } {
  const digest = createHash("sha256").update(text.slice(start, end)).digest("hex");
  return { start, end, text: write(digest), digest };
}

/**
 * Returns the attribute values longer than {@link MAX_EXPRESSION} in blocks at any depth, except values that end with a
 * heredoc.
 */
function longExpressions(text: string, node: SyntaxNode): readonly SyntaxNode[] {
  return toHolder(text, node).blocks.flatMap(({ node: block }) => {
    const long = toHolder(text, block).members.filter(({ value }) => value.end - value.start > MAX_EXPRESSION);
    // An expression that ends with a heredoc includes the newline after it.
    const whole = long.map(({ value }) => value).filter(({ end }) => text[end - 1] !== "\n");
    return [...whole, ...longExpressions(text, block)];
  });
}

/** Returns the offsets of a heredoc's body if it has many lines and no templates; otherwise null. */
function findBody(text: string, node: SyntaxNode): { readonly start: number; readonly end: number } | null {
  const written = toText(text, node);
  const [, word = ""] = /^<<-?([^\s]+)\r?\n/.exec(written) ?? [];
  const [start, end] = [text.indexOf("\n", node.start) + 1, text.lastIndexOf("\n", node.end - 1) + 1];
  if (word === "" || start >= end || text.slice(end, node.end).trim() !== word) return null;
  const body = text.slice(start, end);
  const isPlain = !/[$%]\{/.test(body) && !body.split("\n").some((line) => line.trimStart().startsWith(word));
  return isPlain && countLines(body) > MAX_HEREDOC_LINES ? { start, end } : null;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

/** In an error message about the shortened text, replaces the line numbers with the line numbers of the file. */
function withOwnLines(fault: string, { cuts }: Shortened): string {
  return fault.replace(/:(\d+),/g, (_, written: string) => {
    const line = Number(written);
    const before = cuts.filter((cut) => cut.line <= line).reduce((sum, { lines }) => sum + lines, 0);
    return `:${line + before},`;
  });
}

/** Returns the parser's message without its prefix, for example `lines/main.tf:1,3-4: Unclosed block; …`. */
function toMessage(fault: string, path: string): string {
  const output = /^parse config: \[(.*)\]$/s.exec(fault)?.[1] ?? fault;
  return output.includes(`${path}:`) ? output : `${path}:1: ${output}`;
}
