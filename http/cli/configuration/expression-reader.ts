import { randomBytes } from "node:crypto";
import {
  listElements,
  type SyntaxNode,
  toHolder,
  toInner,
  toText,
} from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { type Splice, spliced } from "../../../actors/config-pull-requests/edit/splice.js";
import type { Expression, ReferencePart } from "./expression.js";
import { heredocSplices } from "./heredoc.js";
import { refuse, type SourceFile } from "./refused.js";

/** Matches the node types in a template that are literal text or delimiters. */
const TEXT = /^(quoted_template|heredoc_template|heredoc)_(start|end)$|^heredoc_(identifier|start)$|^template_literal$/;

/** The names, in messages, of the expressions that these commands do not support. */
const names: Readonly<Record<string, string>> = {
  conditional: "a condition",
  for_expr: "a for expression",
  operation: "an operation",
  splat: "a splat",
  template_directive: "a template directive",
};

const TWICE = "a name is set twice in an object";
const ADVICE = 'write a value, or refer to var, local, file("…") or a resource of the folder';

/**
 * Reads the expressions of one file. In a value, replaces each expression by a mark and keeps the literal parts, so
 * that HashiCorp's parser decodes the literals.
 */
export class ExpressionReader {
  /** The expressions so far, by their marks. */
  readonly expressions = new Map<string, Expression>();
  readonly #file: SourceFile;
  /** Distinguishes the marks from the file's text. */
  readonly #nonce = `signalbox${randomBytes(12).toString("hex")}`;
  readonly #literals: string[] = [];

  constructor(file: SourceFile) {
    this.#file = file;
  }

  /** The path of {@link literalBlock} among the parser's values. */
  get literalPath(): readonly string[] {
    return ["literals", this.#nonce];
  }

  /**
   * Returns a block with the literals that are parts of expressions. HashiCorp's parser parses this block together with
   * the file.
   */
  literalBlock(): string {
    const lines = this.#literals.map((text, index) => `  ${this.#nonce}l${index} = ${text}\n`);
    return `literals "${this.#nonce}" {\n${lines.join("")}}\n`;
  }

  /** Returns the splices that replace the expressions in a value. */
  splices(value: SyntaxNode): readonly Splice[] {
    const inner = toInner(value);
    switch (inner.type) {
      case "literal_value":
        return this.#isLongNumber(inner) ? [this.#quoted(inner, this.#number(inner))] : [];
      case "quoted_template":
        return inner.children.flatMap((part) => this.#templatePart(part));
      case "heredoc_template": {
        const parts = inner.children.flatMap((part) => this.#templatePart(part));
        return heredocSplices(this.#text(inner), inner.start, parts);
      }
      case "tuple":
        return listElements(inner).flatMap((each) => this.splices(each));
      case "object":
        return this.#objectSplices(inner);
      default:
        if (this.#isNegative(inner) && !this.#isLongNumber(inner)) return [];
        return [this.#quoted(value, this.#read(value))];
    }
  }

  #templatePart(part: SyntaxNode): readonly Splice[] {
    if (TEXT.test(part.type) || part.type === "comment") return [];
    if (part.type !== "template_interpolation") return this.#refuse(part);
    const [expression, ...others] = part.children.filter(
      ({ type }) => !/^template_interpolation_|^comment$/.test(type),
    );
    if (expression?.type === "strip_marker" || others.length > 0) {
      return this.#refuse(part, "the strip marker ~ is not understood: write the text without it");
    }
    if (expression === undefined) return this.#refuse(part, "an empty interpolation is not understood");
    return [{ start: part.start, end: part.end, text: this.#mark(this.#read(expression)) }];
  }

  #objectSplices(object: SyntaxNode): readonly Splice[] {
    const seen = new Set<string>();
    return toHolder(this.#file.text, object).members.flatMap(({ name, nameNode, value }) => {
      const key = toInner(nameNode);
      if (name !== null && seen.has(name)) return this.#refuse(nameNode, `${name} is set twice`, TWICE);
      if (name !== null) seen.add(name);
      const isText = key.type === "literal_value" || key.type === "quoted_template";
      if (name === null && !isText) return this.#refuse(nameNode, "a name in an object must be a word or a string");
      return [...(name === null ? this.splices(nameNode) : []), ...this.splices(value)];
    });
  }

  #read(node: SyntaxNode): Expression {
    const inner = toInner(node);
    const place = { file: this.#file, node: inner };
    const solid = inner.children.filter(({ type }) => type !== "comment");
    const [first, ...rest] = solid;
    switch (inner.type) {
      case "literal_value":
      case "quoted_template":
      case "heredoc_template":
      case "tuple":
      case "object":
        return this.#literal(inner);
      case "function_call":
        return this.#call(inner);
      case "variable_expr":
        return this.#refuse(inner, `${this.#text(inner)} is not understood: ${ADVICE}`);
      case "expression":
        if (first?.type === "expression" && rest.length === 0) return this.#read(first);
        if (first?.type !== "variable_expr") return this.#refuse(inner);
        return { kind: "reference", place, parts: [this.#text(first), ...rest.map((part) => this.#part(part))] };
      case "operation":
        return this.#isNegative(inner) ? this.#number(inner) : this.#refuse(inner);
      default:
        return this.#refuse(inner);
    }
  }

  #part(part: SyntaxNode): ReferencePart {
    const [inner] = part.children.filter(({ type }) => type !== "comment");
    if (part.type === "get_attr" && inner !== undefined) return this.#text(inner);
    const [index] = inner?.children.filter(({ type }) => type !== "comment") ?? [];
    if (part.type === "index" && inner?.type === "new_index" && index !== undefined) return this.#read(index);
    return this.#refuse(part);
  }

  #call(call: SyntaxNode): Expression {
    const [name, given] = call.children.filter(({ type }) => type !== "comment");
    const called = name === undefined ? "" : this.#text(name);
    if (called !== "file" && called !== "chomp") {
      const advice = `the function ${called} is not understood: write the value, or read it with file("…")`;
      return this.#refuse(call, advice);
    }
    const [first, ...others] = given === undefined ? [] : listElements(given);
    if (first === undefined || others.length > 0) {
      return this.#refuse(call, `${called} takes one ${called === "file" ? "path" : "text"}`);
    }
    const place = { file: this.#file, node: call };
    return called === "file"
      ? { kind: "file", place, path: this.#read(first) }
      : { kind: "chomp", place, text: this.#read(first) };
  }

  #literal(node: SyntaxNode): Expression {
    // Reserve the index first, because the splices may add other literals.
    const index = this.#literals.push("") - 1;
    const splices = this.splices(node).map(({ start, end, text }) => ({
      start: start - node.start,
      end: end - node.start,
      text,
    }));
    this.#literals[index] = spliced(this.#text(node), splices);
    return { kind: "literal", place: { file: this.#file, node }, name: `${this.#nonce}l${index}` };
  }

  #number(node: SyntaxNode): Expression {
    const text = this.#text(node).replaceAll(/\s/g, "");
    const value = Number(text);
    const isExact = Number.isSafeInteger(value) || !/^-?\d+$/.test(text);
    return { kind: "value", place: { file: this.#file, node }, value: isExact ? value : BigInt(text) };
  }

  /** Whether the node is an integer of at least 16 digits, which HashiCorp's parser may round. */
  #isLongNumber(node: SyntaxNode): boolean {
    return /^-?\s*\d{16,}$/.test(this.#text(node));
  }

  #isNegative(node: SyntaxNode): boolean {
    return node.type === "operation" && /^-\s*[0-9][0-9.eE+-]*$/.test(this.#text(node));
  }

  #quoted({ start, end }: SyntaxNode, expression: Expression): Splice {
    // If the expression ends with a newline, as after a heredoc, keep that newline.
    return {
      start,
      end,
      text: `"${this.#mark(expression)}"${/\n$/.exec(this.#file.text.slice(start, end))?.[0] ?? ""}`,
    };
  }

  #mark(expression: Expression): string {
    const mark = `${this.#nonce}x${this.expressions.size}x`;
    this.expressions.set(mark, expression);
    return mark;
  }

  #text(node: SyntaxNode): string {
    return toText(this.#file.text, node);
  }

  #refuse(
    node: SyntaxNode,
    message = `${names[node.type] ?? "this expression"} is not understood: ${ADVICE}`,
    unquoted?: string,
  ): never {
    return refuse({ file: this.#file, node }, message, unquoted);
  }
}
