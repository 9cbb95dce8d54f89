import type { HclValue } from "../../export/hcl.js";
import { isLiteral, type Knows, type SyntaxNode, toText } from "./hcl-syntax.js";
import type { Json, JsonObject } from "./hcl-values.js";
import type { EditRefusal } from "./station-edit.js";
import { writeWanted } from "./value-text.js";

/** An HCL file, as read by the syntax parser (`root`) and by HashiCorp's parser (`values`). */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly root: SyntaxNode;
  /** The values in the file. A reference with a known value is replaced by that value. */
  readonly values: JsonObject;
  readonly knows: Knows;
  /**
   * Whether the file is certainly in a root module. Terraform runs a root module in the module's own folder, so
   * relative paths start in this folder.
   */
  readonly isRoot: boolean;
}

/** Whether an expression in a source consists only of known values. */
export function isKnown({ text, knows }: Pick<Source, "text" | "knows">, expression: SyntaxNode): boolean {
  return isLiteral(text, expression, knows);
}

/** Thrown to end an edit with a refusal. */
export class EditRefused extends Error {
  readonly refusal: EditRefusal;

  constructor(refusal: EditRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** The optional fields of a refusal, beside its code and message. */
type About = Partial<Pick<EditRefusal, "attribute" | "expression" | "wanted">>;

export function refuse(code: EditRefusal["code"], message: string, about: About = {}): never {
  throw new EditRefused({ code, message, attribute: null, expression: null, wanted: null, ...about });
}

/**
 * Refuses a value that an expression computes. `wanted` is the value for the user to set; undefined if there is no
 * single value to set.
 */
export function refuseComputed(
  source: Source,
  { attribute, node, wanted }: { attribute: string; node: SyntaxNode; wanted?: HclValue },
): never {
  const at = toPlace(source, node);
  const expression = toText(source.text, node);
  const message = `At ${at}, an expression computes ${attribute}. Set the value by hand.`;
  refuse("computed", message, { attribute, expression, wanted: wanted === undefined ? null : writeWanted(wanted) });
}

/** Formats a position as `path:line`, for example `lines/main.tf:12`. */
export function toPlace({ path, text }: Pick<Source, "path" | "text">, { start }: Pick<SyntaxNode, "start">): string {
  return `${path}:${text.slice(0, start).split("\n").length}`;
}

/** A path into a JSON value: member names and element indexes. */
export type JsonPath = readonly (string | number)[];

export function valueAt(values: Json, path: JsonPath): Json | undefined {
  let value: Json | undefined = values;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = isList(value) ? value[Number(step)] : value[step];
  }
  return value;
}

function isList(value: JsonObject | readonly Json[]): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the text of a string literal; null if the expression is not a known value or not a string. */
export function literalText(source: Source, node: SyntaxNode, path: JsonPath): string | null {
  const value = valueAt(source.values, path);
  return isKnown(source, node) && typeof value === "string" ? unescaped(value) : null;
}

/**
 * Replaces each known reference in a file's values with the text that `known` returns. `known` returns null for an
 * unknown reference.
 */
export function resolveReferences(value: Json, known: (reference: string) => string | null): Json {
  if (typeof value === "string") {
    return value.replace(/(?<!\$)\$\{([^{}]*)\}/g, (written, reference: string) => known(reference) ?? written);
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolveReferences(each, known));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolveReferences(each, known)]));
}

/** Undoes the parser's escaping of `${` and `%{` and returns the value that the file means. */
export function plainValue(value: Json): Json {
  if (typeof value === "string") return unescaped(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(plainValue);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [unescaped(name), plainValue(each)]));
}

function unescaped(text: string): string {
  return text.replace(/([$%])\1\{/g, "$1{");
}
