import { listOperands, type Node, type Tree } from "./parse.js";

const NOT_FOUND = "field not found: ";
const UNRESOLVED = "unresolved attribute";

/**
 * The names and paths that an expression reads. For `inputs.thread + "."`: the name `inputs`, and the path
 * `inputs.thread`.
 */
export interface Selections {
  /** All names, including loop variables. */
  readonly names: ReadonlySet<string>;
  /**
   * The complete path by its last name, as written. The path is null if the expression uses the name in several paths,
   * or if the path contains anything but names.
   */
  readonly paths: ReadonlyMap<string, string | null>;
}

/** Collects the names and paths that an expression reads. */
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
    const path = findPath(node, tree);
    paths.set(name, paths.has(name) && paths.get(name) !== path ? null : path);
  }
}

/**
 * Completes an evaluator's message about a missing value. Such a message contains only the last name of the value's
 * path, or no name. The result contains the complete path, if the function can find it. `has` tests whether a name has
 * a value. Returns any other message unchanged.
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
  if (node.op === ".") return tree.toField(node);
  if (node.op !== "[]") return null;
  const [, index] = node.args;
  return index.op === "value" && typeof index.args === "string" ? index.args : null;
}

/**
 * Returns the path of a node, such as `a.b["c"]`. Returns null if the path contains anything but names, for example a
 * call.
 */
function findPath(node: Node, tree: Tree): string | null {
  if (node.op === "id") return node.args;
  const name = lastName(node, tree);
  if (name === null || (node.op !== "." && node.op !== "[]")) return null;
  const holder = findPath(node.args[0], tree);
  if (holder === null) return null;
  return node.op === "." ? `${holder}.${name}` : `${holder}[${JSON.stringify(name)}]`;
}
