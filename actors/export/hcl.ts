/**
 * HCL native syntax, written so that formatting it again changes nothing (hclwrite's canonical form): two spaces a
 * level, and the `=` of lines that follow each other aligned, a line that opens a bracket apart.
 * Source: the HCL native syntax specification, hashicorp/hcl, `hclsyntax/spec.md` and `hclwrite/format.go`.
 */

/** An expression that is written as it stands: `service_team.core.id`. */
export interface Expression {
  readonly expression: string;
}

/** Named values in order: attributes of a block, or an object. Names are written as they are when they may be. */
export type Entries = readonly (readonly [name: string, value: HclValue])[];

export interface ObjectValue {
  readonly entries: Entries;
}

export type HclValue = null | boolean | number | string | Expression | ObjectValue | readonly HclValue[];

/** A block: `resource "service_team" "core" { … }`. */
export interface Block {
  readonly type: string;
  readonly labels: readonly string[];
  readonly attributes: Entries;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Names that mean something else where an expression may stand. */
const KEYWORDS = new Set(["true", "false", "null", "for", "if", "in", "each", "self"]);
/** What text may hold as it is: no control character, none that ends or starts something in a quoted template. */
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

/** Blocks with an empty line between them, a newline at the end; "" for none. */
export function writeBlocks(blocks: readonly Block[]): string {
  return blocks.map(writeBlock).join("\n");
}

function writeBlock({ type, labels, attributes }: Block): string {
  const head = [type, ...labels.map((label) => quoted(label))].join(" ");
  return `${head} {\n${writeEntries(attributes, "  ", (name) => name)}}\n`;
}

/** Text in quotes; what HCL would read as a template is escaped. */
export function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Text as it stands within quotes. */
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

function writeEntries(entries: Entries, indent: string, nameOf: (name: string) => string): string {
  const lines = entries.map(([name, value]) => ({ name: nameOf(name), value: writeValue(value, indent) }));
  return chains(lines)
    .map((chain) => {
      const width = Math.max(...chain.map(({ name }) => name.length));
      return chain.map(({ name, value }) => `${indent}${name.padEnd(width)} = ${value}\n`).join("");
    })
    .join("");
}

/** Lines whose `=` stand below each other; one with a value of several lines is alone. */
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
  if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
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

/** Quoted where it is no plain name; in ASCII alone, so that its width is its length. */
function objectName(name: string): string {
  if (IDENTIFIER.test(name) && !KEYWORDS.has(name)) return name;
  return quoted(name).replace(/[^\x20-\x7e]/gu, unicodeEscape);
}

function isList(value: HclValue): value is readonly HclValue[] {
  return Array.isArray(value);
}
