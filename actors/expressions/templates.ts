/**
 * Expressions within the strings of a definition: `${{ <CEL> }}` (see "Expression syntax" in the expressions document).
 */
import { type Budget, compile, createBudget, type Names, type Outcome } from "./evaluate.js";
import type { Fault } from "./parse.js";
import { type Json, toText } from "./values.js";

/** An expression within a text; `start` is the offset of its first character in the text. */
export interface Embedded {
  readonly source: string;
  readonly start: number;
}

/** The parts of a text, in order: plain texts and expressions. */
export type Template = readonly (string | Embedded)[];

export const OPEN = "${{";
export const CLOSE = "}}";
/**
 * Matches braces, the start of a quoted text, and complete comments. Braces within quoted texts and comments do not
 * delimit the expression.
 */
const SKIPPED = /[rR]?[bB]?[rR]?("""|'''|"|')|\/\/[^\n]*|[{}]/g;

/** Whether a text contains an expression, or at least its opening `${{`. */
export function isTemplate(text: string): boolean {
  return text.includes(OPEN);
}

/**
 * Splits a text into its parts. Braces within an expression (in quoted texts or map literals) do not end the
 * expression. Returns a fault if an expression is not closed.
 */
export function readTemplate(text: string): { readonly template: Template } | { readonly fault: Fault } {
  const parts: (string | Embedded)[] = [];
  let at = 0;
  for (let open = text.indexOf(OPEN); open >= 0; open = text.indexOf(OPEN, at)) {
    const start = open + OPEN.length;
    const end = findEnd(text, start);
    if (end === null) {
      const span = { start: open, end: text.length };
      return { fault: { message: `does not parse: ${OPEN} is not closed by ${CLOSE}`, span, suggestion: null } };
    }
    if (open > at) parts.push(text.slice(at, open));
    parts.push({ source: text.slice(start, end), start });
    at = end + CLOSE.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return { template: parts };
}

/** Returns the expression of a text that contains only one expression and white space, otherwise null. */
export function onlyExpression(template: Template): Embedded | null {
  const rest = template.filter((part) => typeof part !== "string" || part.trim() !== "");
  const [only] = rest;
  return rest.length === 1 && only !== undefined && typeof only !== "string" ? only : null;
}

/** A parsed text, and its expression if the text contains nothing else. */
interface Read {
  readonly read: ReturnType<typeof readTemplate>;
  readonly only: Embedded | null;
}

/** Maximum total characters of cached templates. The oldest template is evicted first. */
const MAX_CACHED_CHARACTERS = 500_000;
const cachedTemplates = new Map<string, Read>();
let cachedCharacters = 0;

/** Like {@link readTemplate}, with a cache. */
function knownTemplate(text: string): Read {
  const known = cachedTemplates.get(text);
  if (known !== undefined) return known;
  const template = readTemplate(text);
  const read = { read: template, only: "fault" in template ? null : onlyExpression(template.template) };
  cachedTemplates.set(text, read);
  cachedCharacters += text.length;
  for (const first of cachedTemplates.keys()) {
    if (cachedCharacters <= MAX_CACHED_CHARACTERS) break;
    cachedTemplates.delete(first);
    cachedCharacters -= first.length;
  }
  return read;
}

/** Converts a value to the text to insert. `before` is the text before the value. */
export type WriteValue = (value: Json, before: string) => string;

/**
 * Evaluates a text. If the text is a single expression, the result is the value of this expression, of any type. In any
 * other text, `write` converts the value of each expression to the text to insert.
 *
 * The result is an error if an expression is not closed, if an expression has no value, or if the budget does not cover
 * all expressions.
 */
export function evaluateText(
  text: string,
  names: Names,
  allowance: Budget = createBudget(),
  write: WriteValue = toText,
): Outcome {
  if (!isTemplate(text)) return { value: text };
  const { read, only } = knownTemplate(text);
  if ("fault" in read) return { error: read.fault.message };
  if (only !== null) return compile(only.source).evaluate(names, allowance);
  let written = "";
  for (const part of read.template) {
    if (typeof part === "string") written += part;
    else {
      const outcome = compile(part.source).evaluate(names, allowance);
      if ("error" in outcome) return outcome;
      written += write(outcome.value, written);
    }
  }
  return { value: written };
}

/** Like {@link evaluateText}, for every string within JSON, at any depth. Field names are unchanged. */
export function evaluateJson(json: Json, names: Names, allowance: Budget = createBudget()): Outcome {
  if (typeof json === "string") return evaluateText(json, names, allowance);
  if (json === null || typeof json !== "object") return { value: json };
  const values: Json[] = [];
  const entries = Object.entries(json);
  for (const [, value] of entries) {
    const outcome = evaluateJson(value, names, allowance);
    if ("error" in outcome) return outcome;
    values.push(outcome.value);
  }
  if (Array.isArray(json)) return { value: values };
  return { value: Object.fromEntries(entries.map(([name], index) => [name, values[index] ?? null])) };
}

/** Returns the end offset of the expression that starts at `start`; null if the expression has no end. */
function findEnd(text: string, start: number): number | null {
  let depth = 0;
  SKIPPED.lastIndex = start;
  for (let found = SKIPPED.exec(text); found !== null; found = SKIPPED.exec(text)) {
    const [token, quotes] = found;
    if (quotes !== undefined) {
      const end = endOfQuoted(text, SKIPPED.lastIndex, quotes, /[rR]/.test(token));
      if (end === null) return null;
      SKIPPED.lastIndex = end;
    } else if (token === "{") depth += 1;
    else if (token === "}" && depth > 0) depth -= 1;
    else if (token === "}" && text[found.index + 1] === "}") return found.index;
  }
  return null;
}

function endOfQuoted(text: string, from: number, quotes: string, isRaw: boolean): number | null {
  for (let at = from; at < text.length; at++) {
    if (!isRaw && text[at] === "\\") at += 1;
    else if (text.startsWith(quotes, at)) return at + quotes.length;
  }
  return null;
}
