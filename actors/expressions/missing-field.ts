import { listOperands, type Node, type Tree } from "./parse.js";

const NOT_FOUND = "field not found: ";
const UNRESOLVED = "unresolved attribute";

/** What an expression reads: of `inputs.thread + "."`, the name `inputs`, and of it `inputs.thread`. */
export interface Selections {
  /** All names, those of elements in loops included. */
  readonly names: ReadonlySet<string>;
  /** By their last name, as written; null where that name is read in several ways. */
  readonly paths: ReadonlyMap<string, string | null>;
}

/** What an expression reads by names. */
export function readSelections(tree: Tree): Selections {
  const names = new Set<string>();
  const paths = new Map<string, string | null>();
  gather(tree.root);
  return { names, paths };

  function gather(node: Node): void {
    for (const operand of listOperands(node)) gather(operand);
    if (node.op === "id") names.add(node.args);
    const name = lastName(node, tree);
    if (name === null) return;
    const path = pathOf(node, tree);
    paths.set(name, paths.has(name) && paths.get(name) !== path ? null : path);
  }
}

/**
 * An evaluator's message that something is not there, which names it by its last name or not at all: with the whole of it,
 * where that is known. `has` says which names have a value. Any other message stays.
 */
export function namingWhatIsMissing(
  message: string,
  { names, paths }: Selections,
  has: (name: string) => boolean,
): string {
  if (message === UNRESOLVED) {
    const [missing, ...others] = [...names].filter((name) => !has(name));
    return missing === undefined || others.length > 0 ? message : `there is no ${missing} here`;
  }
  if (!message.startsWith(NOT_FOUND)) return message;
  const whole = paths.get(message.slice(NOT_FOUND.length)) ?? null;
  return whole === null ? message : NOT_FOUND + whole;
}

function lastName(node: Node, tree: Tree): string | null {
  if (node.op === ".") return tree.fieldOf(node);
  if (node.op !== "[]") return null;
  const [, index] = node.args;
  return index.op === "value" && typeof index.args === "string" ? index.args : null;
}

/** `a.b["c"]`; null for what is read of more than names, such as of a call's result. */
function pathOf(node: Node, tree: Tree): string | null {
  if (node.op === "id") return node.args;
  const name = lastName(node, tree);
  if (name === null || (node.op !== "." && node.op !== "[]")) return null;
  const holder = pathOf(node.args[0], tree);
  if (holder === null) return null;
  return node.op === "." ? `${holder}.${name}` : `${holder}[${JSON.stringify(name)}]`;
}
