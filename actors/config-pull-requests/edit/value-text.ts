import { type HclValue, type ObjectValue, quoted } from "../../export/hcl.js";
import type { Json } from "./hcl-values.js";

/** The layout for a value at its position in a file. */
export interface Layout {
  /** The indentation of the line on which the value starts. */
  readonly indent: string;
  readonly newline: string;
  /** Whether objects and lists are written on one line. */
  readonly isOneLine: boolean;
  /** Whether the `=` signs in an object's lines are aligned. */
  readonly isAligned: boolean;
}

/** Writes a value as an HCL literal. Numbers are exact. Throws for an expression. */
export function writeLiteral(value: HclValue, layout: Layout): string {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return writeNumber(value);
  if (typeof value === "string") return quoteText(value);
  if (isList(value)) return writeList(value, layout);
  if (isObject(value)) return writeObject(value, layout);
  throw new Error("an expression is no literal");
}

export function isList(value: HclValue): value is readonly HclValue[] {
  return Array.isArray(value);
}

export function isObject(value: HclValue): value is ObjectValue {
  return typeof value === "object" && value !== null && !isList(value) && "entries" in value;
}

/** Converts a value to JSON. Throws for an expression. */
export function toJson(value: HclValue): Json {
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map(toJson);
  if (isObject(value)) return Object.fromEntries(value.entries.map(([name, each]) => [name, toJson(each)]));
  throw new Error("an expression is no value");
}

/** Writes a value for a person to set by hand. A string is written as plain text. */
export function writeWanted(value: HclValue): string {
  return typeof value === "string" ? value : writeOnOneLine(value);
}

/** Writes a value as HCL on a single line. */
export function writeOnOneLine(value: HclValue): string {
  return writeLiteral(value, { indent: "", newline: "\n", isOneLine: true, isAligned: false });
}

/**
 * Writes a text in quotes. HashiCorp's parser reads `$$${` as `$${`, but other parsers read it as a template.
 * Therefore, a `$` or `%` before an escaped `${` or `%{` is written as a Unicode escape, which all parsers read alike.
 */
export function quoteText(text: string): string {
  return quoted(text)
    .replace(/\$(?=\$\$\{)/g, "\\u0024")
    .replace(/%(?=%%\{)/g, "\\u0025");
}

/** Writes a number without an exponent, because the grammar allows an exponent only after a fraction. */
function writeNumber(value: number): string {
  const written = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(written);
  if (parts === null) return written;
  const [, sign = "", whole = "", fraction = "", exponent = ""] = parts;
  const digits = whole + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0")}`;
}

function writeObject({ entries }: ObjectValue, layout: Layout): string {
  if (entries.length === 0) return "{}";
  if (layout.isOneLine) {
    return `{ ${entries.map(([name, value]) => `${writeName(name)} = ${writeLiteral(value, layout)}`).join(", ")} }`;
  }
  const { newline, isAligned } = layout;
  const indent = `${layout.indent}  `;
  const lines = entries.map(([name, value]) => [writeName(name), writeLiteral(value, { ...layout, indent })] as const);
  const width = isAligned ? Math.max(...lines.filter(([, each]) => isLine(each)).map(([name]) => name.length), 0) : 0;
  const written = lines.map(([name, each]) => `${indent}${isLine(each) ? name.padEnd(width) : name} = ${each}`);
  return `{${newline}${written.join(newline)}${newline}${layout.indent}}`;
}

function writeList(values: readonly HclValue[], layout: Layout): string {
  const isOneLine = layout.isOneLine || values.every((each) => typeof each !== "object");
  if (isOneLine) return `[${values.map((each) => writeLiteral(each, layout)).join(", ")}]`;
  const indent = `${layout.indent}  `;
  const lines = values.map((each) => `${indent}${writeLiteral(each, { ...layout, indent })},${layout.newline}`);
  return `[${layout.newline}${lines.join("")}${layout.indent}]`;
}

/** Writes a member name. Attribute names are identifiers; keys of maps can be any text and are quoted if necessary. */
export function writeName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? name : quoteText(name);
}

function isLine(text: string): boolean {
  return !text.includes("\n");
}
