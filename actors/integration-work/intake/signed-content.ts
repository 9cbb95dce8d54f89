import { compile, createBudget, type Names } from "../../expressions/evaluate.js";
import { listOperands, type Node, parseExpression } from "../../expressions/parse.js";
import { onlyExpression, readTemplate } from "../../expressions/templates.js";

/**
 * Returns the signed content as pieces of bytes. If `signed` is null, the content is the body. Returns null if the
 * expression fails or its value is not text.
 *
 * If the expression adds `raw` to other text, the body's own bytes are one of the pieces. So a large body is neither
 * decoded nor copied, and does not count towards the expression's cost.
 */
export function toSignedContent(
  signed: string | null,
  body: Uint8Array,
  names: () => Names,
): readonly Uint8Array[] | null {
  if (signed === null) return [body];
  const pieces: Uint8Array[] = [];
  const budget = createBudget();
  for (const part of listPieces(signed) ?? []) {
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

/** Maximum number of cached fields; the oldest is evicted first. */
const MAX_CACHED = 200;
const cachedPieces = new Map<string, readonly Piece[] | null>();

/**
 * Returns the pieces of a field's expression. If the expression is a sum with `raw` as an operand, its operands are the
 * pieces. Otherwise the whole expression is the only piece. Returns null if the field is not a single valid expression.
 * Results are cached.
 */
function listPieces(field: string): readonly Piece[] | null {
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
  const { root, toSpan } = parsed.tree;
  const pieces = operandsOfSum(root).map((node): Piece => {
    const { start, end } = toSpan(node);
    return isRaw(node) ? BODY : source.slice(start, end);
  });
  return pieces.includes(BODY) ? pieces : [source];
}

/**
 * Returns the operands of a sum in order. Any other node is its own operand. The maximum depth of an expression limits
 * the recursion.
 */
function operandsOfSum(node: Node): readonly Node[] {
  return node.op === "+" ? listOperands(node).flatMap(operandsOfSum) : [node];
}

function isRaw(node: Node): boolean {
  return node.op === "id" && node.args === "raw";
}
