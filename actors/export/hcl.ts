/**
 * Writes the native syntax of HCL in the canonical form of hclwrite, so that a formatter changes nothing. Each level is
 * indented by two spaces. The `=` of consecutive lines are aligned, except in a line that opens a bracket. Source: the
 * specification of the HCL native syntax (hashicorp/hcl, `hclsyntax/spec.md` and `hclwrite/format.go`).
 */

/** An expression, written without quotes: `service_team.core.id`. */
export interface Expression {
  readonly expression: string;
}

/**
 * Ordered pairs of name and value: the attributes of a block, or the members of an object. Names are quoted only if
 * necessary.
 */
export type Entries = readonly (readonly [name: string, value: HclValue])[];

export interface ObjectValue {
  readonly entries: Entries;
}

export type HclValue = null | boolean | number | bigint | string | Expression | ObjectValue | readonly HclValue[];

/** A block: `resource "service_team" "core" { … }`. */
export interface Block {
  readonly type: string;
  readonly labels: readonly string[];
  readonly attributes: Entries;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Identifiers with a special meaning in an HCL expression. */
const KEYWORDS = new Set(["true", "false", "null", "for", "if", "in", "each", "self"]);
/**
 * Characters to escape: quotes, backslashes, control characters, byte order marks, line separators, and the start of a
 * template (`${`, `%{`).
 */
const ESCAPED = /["\\\p{Cc}\ufeff\u2028\u2029]|[$%](?=\{)/gu;
const NAMED: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
  $: "$$",
  "%": "%%",
};

/** Writes blocks with an empty line between them and a newline at the end; "" for none. */
export function writeBlocks(blocks: readonly Block[]): string {
  return blocks.map(writeBlock).join("\n");
}

function writeBlock({ type, labels, attributes }: Block): string {
  const head = [type, ...labels.map((label) => quoted(label))].join(" ");
  return `${head} {\n${writeEntries(attributes, "  ", (name) => name)}}\n`;
}

/** Writes text as a quoted HCL string. Escapes special characters, including those that start a template. */
export function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Escapes text for use within quotes. */
export function escaped(text: string): string {
  return text.replace(ESCAPED, (found) => NAMED[found] ?? unicodeEscape(found));
}

function unicodeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

interface Line {
  readonly name: string;
  readonly value: string;
}

function writeEntries(entries: Entries, indent: string, toName: (name: string) => string): string {
  const lines = entries.map(([name, value]) => ({ name: toName(name), value: writeValue(value, indent) }));
  return chains(lines)
    .map((chain) => {
      const width = Math.max(...chain.map(({ name }) => name.length));
      return chain.map(({ name, value }) => `${indent}${name.padEnd(width)} = ${value}\n`).join("");
    })
    .join("");
}

/** Groups lines whose `=` are aligned. A line with a multi-line value is its own group. */
function chains(lines: readonly Line[]): Line[][] {
  const found: Line[][] = [];
  let open: Line[] | null = null;
  for (const line of lines) {
    if (line.value.includes("\n")) {
      found.push([line]);
      open = null;
    } else if (open === null) {
      open = [line];
      found.push(open);
    } else open.push(line);
  }
  return found;
}

function writeValue(value: HclValue, indent: string): string {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "bigint")
    return String(value);
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return writeList(value, indent);
  if ("expression" in value) return value.expression;
  if (value.entries.length === 0) return "{}";
  return `{\n${writeEntries(value.entries, `${indent}  `, objectName)}${indent}}`;
}

function writeList(values: readonly HclValue[], indent: string): string {
  const written = values.map((value) => writeValue(value, `${indent}  `));
  if (!written.some((value) => value.includes("\n"))) return `[${written.join(", ")}]`;
  return `[\n${written.map((value) => `${indent}  ${value},\n`).join("")}${indent}]`;
}

/** Writes a name, quoted if necessary. The result is ASCII, so that its width equals its length. */
function objectName(name: string): string {
  if (IDENTIFIER.test(name) && !KEYWORDS.has(name)) return name;
  return quoted(name).replace(/[^\x20-\x7e]/gu, unicodeEscape);
}

function isList(value: HclValue): value is readonly HclValue[] {
  return Array.isArray(value);
}
