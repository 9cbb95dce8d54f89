import { fileURLToPath } from "node:url";
import { Language, type Node, Parser } from "web-tree-sitter";

/** A part of a file as its grammar has it. Offsets are UTF-16 code units of the text. */
export interface SyntaxNode {
  /** The name that the grammar has for it. */
  readonly type: string;
  readonly start: number;
  /** The offset after its end. */
  readonly end: number;
  /** Whether anything of it was not understood. */
  readonly isBroken: boolean;
  /** Its parts that have names; comments are among them. */
  readonly children: readonly SyntaxNode[];
}

/** Says where everything of a file of HCL stands. Throws {@link TooDeep}. */
export interface Syntax {
  parse(text: string): SyntaxNode;
}

/** Most levels of a file's tree: some 300 lists within each other. What reads the tree calls itself for each level. */
const MAX_LEVELS = 1_000;

/** A file nests deeper than {@link MAX_LEVELS}. */
export class TooDeep extends Error {
  override readonly name = "TooDeep";
  /** Where the first part that is too deep starts. */
  readonly offset: number;

  constructor(offset: number) {
    super("it nests too deeply");
    this.offset = offset;
  }
}

/** Loads the grammar of HCL, in web assembly: some 20 ms, once. */
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
        const root = copied(tree.rootNode);
        refuseDeepBrackets(text, root);
        return root;
      } finally {
        tree.delete();
      }
    },
  };
}

/** Most brackets within each other: where they are not closed, the tree does not show how deep they are. */
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

/** The tree is memory of the parser, which has to be freed. Copies level by level: a tree may be deeper than a stack. */
function copied(root: Node): SyntaxNode {
  const whole = { node: root, copy: alone(root) };
  let level = [whole];
  for (let depth = 0; level.length > 0; depth += 1) {
    const [first] = level;
    if (depth > MAX_LEVELS && first !== undefined) throw new TooDeep(first.copy.start);
    level = level.flatMap(({ node, copy }) => {
      const below = node.namedChildren.map((child) => ({ node: child, copy: alone(child) }));
      for (const each of below) copy.children.push(each.copy);
      return below;
    });
  }
  return whole.copy;
}

function alone({ type, startIndex: start, endIndex: end, hasError: isBroken }: Node) {
  const children: SyntaxNode[] = [];
  return { type, start, end, isBroken, children };
}

/** An attribute of a block, or an element of an object. */
export interface Member {
  /** Null when its name is an expression. */
  readonly name: string | null;
  readonly nameNode: SyntaxNode;
  /** An `expression`. */
  readonly value: SyntaxNode;
  readonly node: SyntaxNode;
}

/** A block within a block or a file. */
export interface InnerBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly node: SyntaxNode;
}

/** What a block, a file or an object holds, each list in the order of the file. */
export interface Holder {
  readonly node: SyntaxNode;
  readonly members: readonly Member[];
  /** Of an object none. */
  readonly blocks: readonly InnerBlock[];
}

/** What a `config_file`, a `block` or an `object` holds. */
export function holderOf(text: string, node: SyntaxNode): Holder {
  const parts = node.type === "object" ? node.children : (first(node, "body")?.children ?? []);
  return {
    node,
    members: parts.flatMap((part) => memberOf(text, part)),
    blocks: parts.flatMap((part) => (part.type === "block" ? blockOf(text, part) : [])),
  };
}

function memberOf(text: string, node: SyntaxNode): Member[] {
  const solid = node.children.filter(({ type }) => type !== "comment");
  const [nameNode, value] = [solid[0], solid.at(-1)];
  if (nameNode === undefined || value === undefined || nameNode === value) return [];
  if (node.type === "attribute") return [{ name: textOf(text, nameNode), nameNode, value, node }];
  return node.type === "object_elem" ? [{ name: keyOf(text, nameNode), nameNode, value, node }] : [];
}

/** The name that an object's key is: a plain word, a number or plain text in quotes. */
function keyOf(text: string, key: SyntaxNode): string | null {
  const inner = innerOf(key);
  if (inner.type === "variable_expr" && key.children.length === 1) return textOf(text, inner);
  if (inner.type !== "literal_value") return null;
  const written = textOf(text, inner);
  if (!written.startsWith('"')) return written;
  return /[\\$%]/.test(written) ? null : written.slice(1, -1);
}

function blockOf(text: string, node: SyntaxNode): InnerBlock {
  const head = node.children.filter(({ type }) => type === "identifier" || type === "string_lit");
  const [type = "", ...labels] = head.map((each) => textOf(text, each).replace(/^"|"$/g, ""));
  return { type, labels, node };
}

/** The value within an `expression`, which holds nothing else but comments; of any other node itself. */
export function innerOf(node: SyntaxNode): SyntaxNode {
  if (node.type !== "expression" && node.type !== "collection_value" && node.type !== "template_expr") return node;
  const solid = node.children.filter(({ type }) => type !== "comment");
  const [only] = solid;
  // Within `(…)` is an expression; `a.b` has more than one part.
  return only === undefined || solid.length > 1 || only.type === "expression" ? node : innerOf(only);
}

/** Whether the value of a reference, `service_skill.core_greet.key`, is known. */
export type Knows = (reference: string) => boolean;

/**
 * Whether an expression is nothing but a value: it contains no operation or call, no template with an expression, and no
 * name but references whose value is known.
 */
export function isLiteral(text: string, expression: SyntaxNode, knows: Knows = () => false): boolean {
  const inner = innerOf(expression);
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
      return elementsOf(inner).every((each) => isLiteral(text, each, knows));
    case "object":
      return (
        solid.every(({ type }) => /^object_/.test(type)) &&
        holderOf(text, inner).members.every(({ name, value }) => name !== null && isLiteral(text, value, knows))
      );
    case "operation":
      return /^-\s*[0-9]/.test(textOf(text, inner)) && first(first(inner, "unary_operation"), "literal_value") !== null;
    default:
      return knows(textOf(text, inner).trim());
  }
}

/** Whether a part of a template is a known reference and nothing else: `${service_integration.core_gh.key}`. */
function isKnownInterpolation(text: string, part: SyntaxNode, knows: Knows): boolean {
  if (part.type !== "template_interpolation") return false;
  const reference = /^\$\{\s*([\w.-]+)\s*\}$/.exec(textOf(text, part))?.[1];
  return reference !== undefined && knows(reference);
}

/** The expressions of a tuple. */
export function elementsOf(tuple: SyntaxNode): readonly SyntaxNode[] {
  return tuple.children.filter(({ type }) => type === "expression");
}

/** All comments within a node, in order. */
export function commentsIn(node: SyntaxNode): readonly SyntaxNode[] {
  return node.type === "comment" ? [node] : node.children.flatMap(commentsIn);
}

export function textOf(text: string, { start, end }: Pick<SyntaxNode, "start" | "end">): string {
  return text.slice(start, end);
}

/** All nodes of one type within a node, outermost first. */
export function nodesIn(node: SyntaxNode, type: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const open = [node];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (each.type === type) found.push(each);
    for (const child of [...each.children].reverse()) open.push(child);
  }
  return found;
}

function first(node: SyntaxNode | null, wanted: string): SyntaxNode | null {
  return node?.children.find(({ type }) => type === wanted) ?? null;
}
