import { type ASTNode, Environment, ParseError } from "cel-js";
import { type Respelled, respell } from "./spelling.js";

/** A part of an expression, as offsets from the start of the expression in UTF-16 code units. `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A fault of an expression: its message, its place, and a suggestion. */
export interface Fault {
  readonly message: string;
  readonly span: Span | null;
  readonly suggestion: string | null;
}

export type Node = ASTNode;

/** A parsed expression. */
export interface Tree {
  readonly root: Node;
  toSpan(node: Node): Span;
  /** The name of a field as written in the source. */
  toField(node: Extract<Node, { op: "." }>): string;
}

/** Maximum length of an expression, in characters (see "What the service does" in the expressions document). */
export const MAX_EXPRESSION_LENGTH = 2_000;
/** Maximum nesting of brackets. */
const MAX_BRACKETS = 100;
/** Maximum depth of the tree. A chain of operators also adds depth. The stack would allow far more. */
const MAX_DEPTH = 400;

const parser = new Environment({
  limits: {
    maxDepth: MAX_BRACKETS,
    maxAstNodes: 2_000,
    maxListElements: 1_000,
    maxMapEntries: 500,
    maxCallArguments: 8,
  },
});

/**
 * Parses an expression. Never throws; a syntax error is a fault with its place. Rejects `secret.` and `secret[`
 * anywhere in the expression, even within texts and longer names.
 */
export function parseExpression(source: string): { readonly tree: Tree } | { readonly fault: Fault } {
  if (source.length > MAX_EXPRESSION_LENGTH) {
    return faultAt(`is longer than ${MAX_EXPRESSION_LENGTH} characters`, {
      start: MAX_EXPRESSION_LENGTH,
      end: source.length,
    });
  }
  const secret = /secret\s*[.[]/.exec(source);
  if (secret !== null) {
    const span = { start: secret.index, end: secret.index + secret[0].length };
    return faultAt("no expression may read a secret", span);
  }
  if (source.trim() === "") return faultAt("is empty", { start: 0, end: source.length });
  const respelled = respell(source);
  try {
    const root = parser.parse(respelled.text).ast;
    const tree: Tree = {
      root,
      toSpan: ({ start, end }) => ({ start: respelled.sourceOffset(start), end: respelled.sourceOffset(end) }),
      toField: (node) => respelled.toField(node.args[1]),
    };
    const deep = findDeeperNode(root, MAX_DEPTH);
    return deep === null ? { tree } : faultAt(`nests more than ${MAX_DEPTH} levels`, tree.toSpan(deep));
  } catch (error) {
    if (error instanceof ParseError) return { fault: toFault(error, source, respelled) };
    throw error;
  }
}

/** Lists the operands of a node, in source order. */
export function listOperands(node: Node): readonly Node[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "list":
      return node.args;
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

/**
 * Finds the first node `depth` levels below the root; null if the tree is not that deep. A chain of operators is as
 * deep as it is long, even without brackets.
 */
function findDeeperNode(root: Node, depth: number): Node | null {
  let level: readonly Node[] = [root];
  for (let at = 0; at < depth && level.length > 0; at++) level = level.flatMap(listOperands);
  return level[0] ?? null;
}

/**
 * Converts a parser error to a fault. The column in the message counts from the first character of the expression that
 * is not blank.
 */
function toFault({ range, summary, code }: ParseError, source: string, { text, sourceOffset }: Respelled): Fault {
  const start = Math.min(range?.start ?? text.length, text.length);
  const end = Math.min(Math.max(range?.end ?? start, start), text.length);
  const span = { start: sourceOffset(start), end: sourceOffset(end) };
  const why = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
  if (code === "limit_exceeded") return { message: `is too large: ${why}`, span, suggestion: null };
  const blanks = source.length - source.trimStart().length;
  const hint = why === "unexpected character: =" ? " (equal is ==)" : "";
  return { message: `does not parse: ${why} at column ${span.start - blanks + 1}${hint}`, span, suggestion: null };
}

function faultAt(message: string, span: Span): { readonly fault: Fault } {
  return { fault: { message, span, suggestion: null } };
}
