import type { HclValue } from "../../export/hcl.js";
import { isLiteral, type Knows, type SyntaxNode, textOf } from "./hcl-syntax.js";
import type { Json, JsonObject } from "./hcl-values.js";
import type { EditRefusal } from "./station-edit.js";
import { writeWanted } from "./value-text.js";

/** A file of HCL, as both parsers read it. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly root: SyntaxNode;
  /** What the file says; references whose values are known are replaced by these. */
  readonly values: JsonObject;
  readonly knows: Knows;
}

/** Whether an expression of a source is nothing but a value that is known. */
export function isKnown({ text, knows }: Pick<Source, "text" | "knows">, expression: SyntaxNode): boolean {
  return isLiteral(text, expression, knows);
}

/** Ends an edit with a refusal. */
export class EditRefused extends Error {
  readonly refusal: EditRefusal;

  constructor(refusal: EditRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** What a refusal is about, beside its code and message. */
type About = Partial<Pick<EditRefusal, "attribute" | "expression" | "wanted">>;

export function refuse(code: EditRefusal["code"], message: string, about: About = {}): never {
  throw new EditRefused({ code, message, attribute: null, expression: null, wanted: null, ...about });
}

/** Refuses what an expression computes; `wanted` is the value to set, undefined for what is not to be changed. */
export function refuseComputed(
  source: Source,
  { attribute, node, wanted }: { attribute: string; node: SyntaxNode; wanted?: HclValue },
): never {
  const at = placeOf(source, node);
  const expression = textOf(source.text, node);
  const message = `At ${at}, an expression computes ${attribute}. Set the value by hand.`;
  refuse("computed", message, { attribute, expression, wanted: wanted === undefined ? null : writeWanted(wanted) });
}

/** `lines/main.tf:12` */
export function placeOf({ path, text }: Pick<Source, "path" | "text">, { start }: Pick<SyntaxNode, "start">): string {
  return `${path}:${text.slice(0, start).split("\n").length}`;
}

/** Steps into JSON: names of members, places of elements. */
export type JsonPath = readonly (string | number)[];

export function valueAt(values: Json, path: JsonPath): Json | undefined {
  let value: Json | undefined = values;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.entries(value).find(([name]) => name === String(step))?.[1];
  }
  return value;
}

/** The text of a literal; null when it is none, or no text. */
export function literalText(source: Source, node: SyntaxNode, path: JsonPath): string | null {
  const value = valueAt(source.values, path);
  return isKnown(source, node) && typeof value === "string" ? unescaped(value) : null;
}

/** The values of a file with known references replaced by their texts; `known` gives null for one that is not. */
export function resolveReferences(value: Json, known: (reference: string) => string | null): Json {
  if (typeof value === "string") {
    return value.replace(/(?<!\$)\$\{\s*([\w.-]+)\s*\}/g, (written, reference: string) => known(reference) ?? written);
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolveReferences(each, known));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolveReferences(each, known)]));
}

/** A value as it is meant, of what the parser gives, which escapes what would be a template. */
export function plainValue(value: Json): Json {
  if (typeof value === "string") return unescaped(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(plainValue);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [unescaped(name), plainValue(each)]));
}

function unescaped(text: string): string {
  return text.replace(/([$%])\1\{/g, "$1{");
}
