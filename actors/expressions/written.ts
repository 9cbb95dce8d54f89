import { z } from "zod";

/** Longest expression, in characters (expressions, Limits). */
const MAX_EXPRESSION = 2_000;
/** Longest text that holds expressions, in characters. */
const MAX_TEXT = 20_000;

const OPENING = "${{";

/** A part of a text: an expression without its `${{ }}`, or what stands between expressions. */
export interface Piece {
  readonly kind: "text" | "expression";
  readonly text: string;
}

/** The pieces of a text in order; null when an expression in it is not closed. */
export function piecesOf(text: string): readonly Piece[] | null {
  const pieces: Piece[] = [];
  let from = 0;
  for (;;) {
    const opening = text.indexOf(OPENING, from);
    const before = text.slice(from, opening === -1 ? undefined : opening);
    if (before !== "") pieces.push({ kind: "text", text: before });
    if (opening === -1) return pieces;
    const closing = closingOf(text, opening + OPENING.length);
    if (closing === null) return null;
    pieces.push({ kind: "expression", text: text.slice(opening + OPENING.length, closing).trim() });
    from = closing + 2;
  }
}

/** Whether any text within a JSON value holds an expression. */
export function holdsExpression(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(OPENING);
}

/** A field that holds one expression and nothing else. */
export const expression = z
  .string()
  .max(MAX_EXPRESSION + 100, `must be an expression of at most ${MAX_EXPRESSION} characters`)
  .superRefine((text, context) => {
    const pieces = piecesOf(text.trim());
    const isOne = pieces?.length === 1 && pieces[0]?.kind === "expression";
    const message = isOne ? faultIn(pieces) : `must be an expression written as ${OPENING} ... }}`;
    if (message !== null) context.addIssue({ code: "custom", message });
  });

/** A field that holds text, with any number of expressions in it. */
export const template = z
  .string()
  .max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`)
  .superRefine((text, context) => {
    const message = templateFault(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  });

/** Any JSON, whose texts may hold expressions. */
export const jsonTemplate = z.json().superRefine((value, context) => {
  for (const [path, text] of textsIn(value)) {
    const message = templateFault(text);
    if (message !== null) context.addIssue({ code: "custom", message, path: [...path] });
  }
});

function templateFault(text: string): string | null {
  const pieces = piecesOf(text);
  return pieces === null ? `holds an expression that is not closed: write it as ${OPENING} ... }}` : faultIn(pieces);
}

/** What is wrong with expressions whatever they mean. */
function faultIn(pieces: readonly Piece[]): string | null {
  for (const { kind, text } of pieces) {
    if (kind === "text") continue;
    if (text === "") return "holds an empty expression";
    if (text.length > MAX_EXPRESSION) return `must be an expression of at most ${MAX_EXPRESSION} characters`;
    if (/\bsecret\s*[.[]/.test(text)) return "no expression may read a secret";
  }
  return null;
}

/** Where the expression that begins at `from` ends: at the `}}` outside its texts, comments and braces; or null. */
function closingOf(text: string, from: number): number | null {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"' || character === "'") {
      const end = endOfText(text, at);
      if (end === null) return null;
      at = end;
    } else if (character === "/" && text[at + 1] === "/") {
      const newline = text.indexOf("\n", at);
      if (newline === -1) return null;
      at = newline;
    } else if (character === "{") depth += 1;
    else if (character === "}") {
      if (depth === 0) return text[at + 1] === "}" ? at : null;
      depth -= 1;
    }
  }
  return null;
}

/** The place of the last quote of the text literal that begins at `at`; null when it has no end. */
function endOfText(text: string, at: number): number | null {
  const quote = text.charAt(at);
  const fence = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
  const isRaw =
    /(^|[^\w])b?r$/i.test(text.slice(Math.max(0, at - 3), at)) ||
    /(^|[^\w])rb$/i.test(text.slice(Math.max(0, at - 3), at));
  for (let place = at + fence.length; place < text.length; place++) {
    if (text[place] === "\\" && !isRaw) place += 1;
    else if (text.startsWith(fence, place)) return place + fence.length - 1;
    else if (text[place] === "\n" && fence.length === 1) return null;
  }
  return null;
}

function* textsIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<[readonly (string | number)[], string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* textsIn(member, [...path, name]);
  }
}
