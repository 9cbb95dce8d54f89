import type { CodeBlock } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { type SyntaxNode, toText } from "./hcl-syntax.js";
import type { ModuleLevel } from "./module-levels.js";

/** A team, by id or by key, depending on what the source gives. */
export type TeamNamed = { readonly id: string } | { readonly key: string };

/**
 * One possible value of an expression, with the place where the value is written. The value is a text, a team
 * (identified by id or key, as in the source), or unknown. `input`: an unknown value that is given outside of the
 * repository, to a variable of a root module.
 */
export type ModuleValue = Written &
  ({ readonly text: string } | { readonly team: TeamNamed } | { readonly unknown: "expression" | "input" });

interface Written {
  /** Whether an unknown index or a function selects or builds the value. */
  readonly isIndirect?: true;
  /** Returns the place as `path:line`; null if the value is in the evaluated expression itself. */
  readonly place: () => string | null;
}

/** A step into a value: a member name, an element index, or `*` for each element. */
export type Step = string | number;

/** An expression, with the names that it can use. */
export interface Expression extends Names {
  /** The text that contains `node`. */
  readonly text: string;
  readonly node: SyntaxNode;
  /** The file or block that contains the expression; null for the evaluated expression itself. */
  readonly block: CodeBlock | null;
}

export interface Names {
  readonly level: ModuleLevel;
  readonly each: Each | null;
}

/** The `each` object of a block with `for_each`. A null key means any key. */
interface Each {
  readonly key: string | null;
  readonly values: Expression;
}

/** Functions that change a text. */
export const textChanges: ReadonlyMap<string, (text: string) => string> = new Map([
  ["trimspace", (text: string) => text.trim()],
  ["chomp", (text: string) => text.replace(/[\r\n]+$/, "")],
  ["lower", (text: string) => text.toLowerCase()],
  ["upper", (text: string) => text.toUpperCase()],
]);

/** Whether a node is a complete expression, such as an argument of a function. */
export function isExpression({ type }: SyntaxNode): boolean {
  return type === "expression";
}

/**
 * Returns the place of an expression in its file. If the expression was parsed by itself, returns the place of its
 * block.
 */
export function placeIn({ block, text, node }: Pick<Expression, "block"> & Partial<Expression>): () => string | null {
  if (block === null) return () => null;
  const { file } = block;
  return () => toPlace(file, text === file.text && node !== undefined ? node : block);
}

/** Marks values as selected or built by an unknown index or a function. */
export function indirect(values: readonly ModuleValue[]): readonly ModuleValue[] {
  return values.map((value) => ({ ...value, isIndirect: true }));
}

/** Returns an unknown value at the place of an expression, or of a node in it. */
export function unknownAt(at: Pick<Expression, "block"> & Partial<Expression>, node = at.node) {
  return { unknown: "expression" as const, place: placeIn({ ...at, ...(node !== undefined && { node }) }) };
}

/**
 * Returns the text of a string literal as the only value. Returns no value for `null` and an empty string. For any
 * other expression, returns an unknown value.
 */
export function literalValues(written: string, at: Expression): readonly ModuleValue[] {
  if (written === "null" || written === '""') return [];
  const plain = /^"((?:[^"\\$%]|[$%](?!\{))*)"$/.exec(written)?.[1];
  return plain === undefined ? [unknownAt(at)] : textValues(plain, at);
}

/**
 * Returns a text as the only value, or no value if the text is empty. For a text with escapes, returns an unknown
 * value.
 */
export function textValues(text: string, at: Expression): readonly ModuleValue[] {
  if (text === "") return [];
  return [text.includes("\\") ? unknownAt(at) : { text, place: placeIn(at) }];
}

/**
 * Parses the steps after a value: `.name`, `["name"]`, `[0]`, `.0`, `[*].name`. Null if an expression computes a step.
 */
export function listSteps(text: string, node: SyntaxNode): readonly Step[] | null {
  const written = toText(text, node).replace(/\s+/g, "");
  const parts = [...written.matchAll(/\.([A-Za-z_][\w-]*)|\["([^"\\$%]*)"\]|\[(\d+)\]|\.(\d+)|\[(\*)\]|\.(\*)/g)];
  if (parts.map(([whole]) => whole).join("") !== written) return null;
  return parts.flatMap(([, name, key, place, dotted, ...any]) => {
    const number = place ?? dotted;
    return number === undefined ? (name ?? key ?? any[0] ?? any[1] ?? []) : Number(number);
  });
}
