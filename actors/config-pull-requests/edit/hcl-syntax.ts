import { fileURLToPath } from "node:url";
import { Language, Parser, type Tree } from "web-tree-sitter";

/** A node of a file's syntax tree. Offsets are in UTF-16 code units. */
export interface SyntaxNode {
  /** The grammar's name for the node, such as `block`. */
  readonly type: string;
  readonly start: number;
  /** Exclusive end offset. */
  readonly end: number;
  /** Whether the node contains a syntax error. */
  readonly isBroken: boolean;
  /** The named child nodes, including comments. */
  readonly children: readonly SyntaxNode[];
}

/** Parses HCL into a syntax tree with positions. Throws {@link TooDeep} if the text nests too deeply. */
export interface Syntax {
  parse(text: string): SyntaxNode;
}

/** Maximum depth of a syntax tree; about 300 nested lists. Functions that walk the tree recurse once per level. */
const MAX_LEVELS = 1_000;

/** The file nests deeper than {@link MAX_LEVELS} or {@link MAX_BRACKETS}. */
export class TooDeep extends Error {
  override readonly name = "TooDeep";
  /** Offset of the first node or bracket that is too deep. */
  readonly offset: number;

  constructor(offset: number) {
    super("it nests too deeply");
    this.offset = offset;
  }
}

/** Loads the HCL grammar, a WebAssembly module. Call it once; it takes about 20 ms. */
export async function loadSyntax(): Promise<Syntax> {
  await Parser.init();
  const grammar = import.meta.resolve("@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm");
  const parser = new Parser();
  parser.setLanguage(await Language.load(fileURLToPath(grammar)));
  return {
    parse(text) {
      const tree = parser.parse(text);
      if (tree === null) throw new Error("the parser has no language");
      try {
        const root = copied(tree);
        refuseDeepBrackets(text, root);
        return root;
      } finally {
        tree.delete();
      }
    },
  };
}

/** Returns a syntax that parses each text only once. */
export function remembering(syntax: Syntax): Syntax {
  const roots = new Map<string, SyntaxNode>();
  return {
    parse(text) {
      const root = roots.get(text) ?? syntax.parse(text);
      roots.set(text, root);
      return root;
    },
  };
}

/**
 * Maximum number of nested brackets. Needed because the tree does not show the nesting of brackets that are not closed.
 */
const MAX_BRACKETS = 300;

function refuseDeepBrackets(text: string, root: SyntaxNode): void {
  const texts = [...nodesIn(root, "template_literal"), ...nodesIn(root, "comment")].sort(
    (left, right) => left.start - right.start,
  );
  let [depth, at] = [0, 0];
  for (const { start, end } of [...texts, { start: text.length, end: text.length }]) {
    for (; at < start; at += 1) {
      const sign = text.charAt(at);
      if (sign === "{" || sign === "[" || sign === "(") depth += 1;
      else if (sign === "}" || sign === "]" || sign === ")") depth = Math.max(0, depth - 1);
      if (depth > MAX_BRACKETS) throw new TooDeep(at);
    }
    at = Math.max(at, end);
  }
}

interface Copy {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  isBroken: boolean;
  readonly children: Copy[];
}

/**
 * Copies the tree, because the parser's own tree must be freed. Visits each node once with a cursor, because the
 * parser's nodes and child lists are slow to create. Recursion on a deep tree could overflow the stack.
 */
function copied(tree: Tree): SyntaxNode {
  const { hasError } = tree.rootNode;
  const cursor = tree.walk();
  const open: Copy[] = [];
  const whole: Copy = { type: "", start: 0, end: 0, isBroken: false, children: [] };
  try {
    for (;;) {
      // Tokens without a name are not copied, but a missing token marks its parent as broken.
      const isBroken = hasError && (cursor.nodeIsMissing || cursor.nodeType === "ERROR");
      const parent = open.at(-1);
      if (cursor.nodeIsNamed || parent === undefined) {
        const { nodeType: type, startIndex: start, endIndex: end } = cursor;
        if (open.length > MAX_LEVELS) throw new TooDeep(start);
        const copy: Copy = { type, start, end, isBroken, children: [] };
        (parent ?? whole).children.push(copy);
        open.push(copy);
        if (cursor.gotoFirstChild()) continue;
        close(open);
      } else if (isBroken) parent.isBroken = true;
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return whole.children[0] ?? whole;
        close(open);
      }
    }
  } finally {
    cursor.delete();
  }
}

/** Ends the innermost open node. If this node is broken, marks its parent as broken. */
function close(open: Copy[]): void {
  const ended = open.pop();
  const parent = open.at(-1);
  if (ended?.isBroken === true && parent !== undefined) parent.isBroken = true;
}

/** An attribute of a block, or an element of an object. */
export interface Member {
  /** Null if the name is an expression. */
  readonly name: string | null;
  readonly nameNode: SyntaxNode;
  /** A node of type `expression`. */
  readonly value: SyntaxNode;
  readonly node: SyntaxNode;
}

/** A block inside a block or a file. */
export interface InnerBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly node: SyntaxNode;
}

/** The content of a block, a file or an object. Both lists are in file order. */
export interface Holder {
  readonly node: SyntaxNode;
  readonly members: readonly Member[];
  /** Empty for an object. */
  readonly blocks: readonly InnerBlock[];
}

/** Returns the content of a `config_file`, a `block` or an `object` node. */
export function toHolder(text: string, node: SyntaxNode): Holder {
  const parts = node.type === "object" ? node.children : (first(node, "body")?.children ?? []);
  return {
    node,
    members: parts.flatMap((part) => toMember(text, part)),
    blocks: parts.flatMap((part) => (part.type === "block" ? readBlock(text, part) : [])),
  };
}

function toMember(text: string, node: SyntaxNode): Member[] {
  const solid = node.children.filter(({ type }) => type !== "comment");
  const [nameNode, value] = [solid[0], solid.at(-1)];
  if (nameNode === undefined || value === undefined || nameNode === value) return [];
  if (node.type === "attribute") return [{ name: toText(text, nameNode), nameNode, value, node }];
  return node.type === "object_elem" ? [{ name: findKey(text, nameNode), nameNode, value, node }] : [];
}

/**
 * Returns the name of an object key: an identifier, a literal, or a quoted string without `\`, `$` and `%`. Null for
 * any other key.
 */
function findKey(text: string, key: SyntaxNode): string | null {
  const inner = toInner(key);
  if (inner.type === "variable_expr" && key.children.length === 1) return toText(text, inner);
  if (inner.type !== "literal_value") return null;
  const written = toText(text, inner);
  if (!written.startsWith('"')) return written;
  return /[\\$%]/.test(written) ? null : written.slice(1, -1);
}

function readBlock(text: string, node: SyntaxNode): InnerBlock {
  const head = node.children.filter(({ type }) => type === "identifier" || type === "string_lit");
  const [type = "", ...labels] = head.map((each) => toText(text, each).replace(/^"|"$/g, ""));
  return { type, labels, node };
}

/**
 * Unwraps an `expression`, `collection_value` or `template_expr` node to its only child, ignoring comments, and unwraps
 * that child in the same way. Returns the node unchanged if it has several children or a nested expression. Returns a
 * node of any other type unchanged.
 */
export function toInner(node: SyntaxNode): SyntaxNode {
  if (node.type !== "expression" && node.type !== "collection_value" && node.type !== "template_expr") return node;
  const solid = node.children.filter(({ type }) => type !== "comment");
  const [only] = solid;
  // `(…)` contains another expression, and `a.b` has several parts. Keep both wrapped.
  return only === undefined || solid.length > 1 || only.type === "expression" ? node : toInner(only);
}

/** Whether the value of a reference such as `service_skill.core_greet.key` is known. */
export type Knows = (reference: string) => boolean;

/**
 * Whether an expression is a plain value, without operations (except a minus sign before a number), function calls or
 * unknown template expressions. References are allowed only if their value is known.
 */
export function isLiteral(text: string, expression: SyntaxNode, knows: Knows = () => false): boolean {
  const inner = toInner(expression);
  const solid = inner.children.filter(({ type }) => type !== "comment");
  if (inner.isBroken) return false;
  switch (inner.type) {
    case "literal_value":
      return true;
    case "heredoc_template":
    case "quoted_template":
      return solid.every(
        (part) =>
          /^(heredoc|quoted_template)_|^template_literal$/.test(part.type) || isKnownInterpolation(text, part, knows),
      );
    case "tuple":
      return listElements(inner).every((each) => isLiteral(text, each, knows));
    case "object":
      return (
        solid.every(({ type }) => /^object_/.test(type)) &&
        toHolder(text, inner).members.every(({ name, value }) => name !== null && isLiteral(text, value, knows))
      );
    case "operation":
      return /^-\s*[0-9]/.test(toText(text, inner)) && first(first(inner, "unary_operation"), "literal_value") !== null;
    default:
      return knows(toText(text, inner).trim());
  }
}

/** Whether a part of a template is exactly one known reference, such as `${service_integration.core_gh.key}`. */
function isKnownInterpolation(text: string, part: SyntaxNode, knows: Knows): boolean {
  if (part.type !== "template_interpolation") return false;
  const reference = /^\$\{([^{}]*)\}$/.exec(toText(text, part))?.[1];
  return reference !== undefined && knows(reference);
}

/** Returns the expressions directly in a node, such as the elements of a tuple. */
export function listElements(tuple: SyntaxNode): readonly SyntaxNode[] {
  return tuple.children.filter(({ type }) => type === "expression");
}

/**
 * Returns the values between which a conditional chooses. The grammar reads `a ? x : b ? y : z` as `(a ? x : b) ? y :
 * z`. Therefore, if the condition is itself a conditional without parentheses, its branches are also returned.
 */
export function listBranches(conditional: SyntaxNode): readonly SyntaxNode[] {
  const [condition, ...branches] = listElements(conditional);
  const inner = condition === undefined ? condition : toInner(condition);
  return inner?.type === "conditional" ? [...listBranches(inner).slice(0, -1), ...branches] : branches;
}

/** Returns all comments within a node, in file order. */
export function commentsIn(node: SyntaxNode): readonly SyntaxNode[] {
  return node.type === "comment" ? [node] : node.children.flatMap(commentsIn);
}

export function toText(text: string, { start, end }: Pick<SyntaxNode, "start" | "end">): string {
  return text.slice(start, end);
}

/** Returns all nodes of one type within a node, itself included, in file order. A node comes before the nodes in it. */
export function nodesIn(node: SyntaxNode, type: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const open = [node];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (each.type === type) found.push(each);
    for (let index = each.children.length - 1; index >= 0; index -= 1) open.push(each.children[index] ?? each);
  }
  return found;
}

function first(node: SyntaxNode | null, wanted: string): SyntaxNode | null {
  return node?.children.find(({ type }) => type === wanted) ?? null;
}
