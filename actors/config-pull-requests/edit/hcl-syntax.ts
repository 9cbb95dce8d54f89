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

/** Says where everything of a file of HCL stands. */
export interface Syntax {
  parse(text: string): SyntaxNode;
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
        return copied(tree.rootNode);
      } finally {
        tree.delete();
      }
    },
  };
}

/** The tree is memory of the parser, which is to be given back. */
function copied(node: Node): SyntaxNode {
  const { type, startIndex: start, endIndex: end, hasError: isBroken } = node;
  return { type, start, end, isBroken, children: node.namedChildren.map(copied) };
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

/** Whether an expression is nothing but a value: no name, operation, call or template with an expression is in it. */
export function isLiteral(text: string, expression: SyntaxNode): boolean {
  const inner = innerOf(expression);
  const solid = inner.children.filter(({ type }) => type !== "comment");
  if (inner.isBroken) return false;
  switch (inner.type) {
    case "literal_value":
      return true;
    case "heredoc_template":
    case "quoted_template":
      return solid.every(({ type }) => /^(heredoc|quoted_template)_|^template_literal$/.test(type));
    case "tuple":
      return elementsOf(inner).every((each) => isLiteral(text, each));
    case "object":
      return (
        solid.every(({ type }) => /^object_/.test(type)) &&
        holderOf(text, inner).members.every(({ name, value }) => name !== null && isLiteral(text, value))
      );
    case "operation":
      return /^-\s*[0-9]/.test(textOf(text, inner)) && first(first(inner, "unary_operation"), "literal_value") !== null;
    default:
      return false;
  }
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

function first(node: SyntaxNode | null, wanted: string): SyntaxNode | null {
  return node?.children.find(({ type }) => type === wanted) ?? null;
}
