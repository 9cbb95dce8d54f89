import { compile, createBudget, type Names } from "../expressions/evaluate.js";
import { listOperands, type Node, parseExpression } from "../expressions/parse.js";
import { onlyExpression, readTemplate } from "../expressions/templates.js";

/**
 * What a signature covers, as pieces of bytes. The body's own bytes stand where an expression adds `raw` to other text:
 * a body of megabytes is neither decoded nor copied for it, and costs the expression nothing.
 */
export function toSignedContent(
  signed: string | null,
  body: Uint8Array,
  names: () => Names,
): readonly Uint8Array[] | null {
  if (signed === null) return [body];
  const pieces: Uint8Array[] = [];
  const budget = createBudget();
  for (const part of piecesOf(signed) ?? []) {
    if (part === BODY) {
      pieces.push(body);
      continue;
    }
    const outcome = compile(part).evaluate(names(), budget);
    if ("error" in outcome || typeof outcome.value !== "string") return null;
    pieces.push(Buffer.from(outcome.value));
  }
  return pieces.length === 0 ? null : pieces;
}

const BODY = Symbol("raw");
type Piece = string | typeof BODY;

/** Fields that were read; the oldest is evicted first. */
const MAX_CACHED = 200;
const cachedPieces = new Map<string, readonly Piece[] | null>();

/** The operands of the sum that an expression is, where one of them is `raw`; else the whole expression. Cached. */
function piecesOf(field: string): readonly Piece[] | null {
  const known = cachedPieces.get(field);
  if (known !== undefined) return known;
  const pieces = readPieces(field);
  cachedPieces.set(field, pieces);
  if (cachedPieces.size > MAX_CACHED) cachedPieces.delete(cachedPieces.keys().next().value ?? "");
  return pieces;
}

function readPieces(field: string): readonly Piece[] | null {
  const read = readTemplate(field);
  const source = "fault" in read ? null : (onlyExpression(read.template)?.source ?? null);
  if (source === null) return null;
  const parsed = parseExpression(source);
  if ("fault" in parsed) return null;
  const { root, spanOf } = parsed.tree;
  const pieces = operandsOfSum(root).map((node): Piece => {
    const { start, end } = spanOf(node);
    return isRaw(node) ? BODY : source.slice(start, end);
  });
  return pieces.includes(BODY) ? pieces : [source];
}

/** In order; sums are nested to the left, as deep as an expression may be. */
function operandsOfSum(node: Node): readonly Node[] {
  return node.op === "+" ? listOperands(node).flatMap(operandsOfSum) : [node];
}

function isRaw(node: Node): boolean {
  return node.op === "id" && node.args === "raw";
}
