import { type Holder, holderOf, textOf } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";

/** A configuration block, from HCL or from Terraform's JSON syntax. */
export interface CodeBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly file: CodeFile;
  /** Offset of the block in its file; in JSON, the offset of the first text that equals its name. */
  readonly start: number;
  /** Attributes by name. Each value is the text of an expression. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly blocks: readonly CodeBlock[];
}

/** Reads a file's content as one unnamed block. In a variable file, its attributes are the values of variables. */
export function readCode(repository: Repository, file: CodeFile): CodeBlock {
  const root = repository.parse(file);
  const whole = { type: "", labels: [], file, start: 0 };
  if (root !== null) return { ...whole, ...contentOf(file, holderOf(file.text, root)) };
  const json = file.path.endsWith(".json") ? readJson(file.text) : null;
  return { ...whole, ...(json === null ? nothing : jsonContent(file, json)) };
}

const nothing = { attributes: new Map<string, string>(), blocks: [] };

function contentOf(file: CodeFile, { members, blocks }: Holder): Pick<CodeBlock, "attributes" | "blocks"> {
  const named = members.flatMap(({ name, value }) =>
    name === null ? [] : [[name, textOf(file.text, value).trim()] as const],
  );
  return {
    attributes: new Map(named),
    blocks: blocks.map(({ type, labels, node }) => ({
      type,
      labels,
      file,
      start: node.start,
      ...contentOf(file, holderOf(file.text, node)),
    })),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Number of labels that each block type has in JSON, where labels are nested object keys. Other types have none. */
const labelled: ReadonlyMap<string, number> = new Map([
  ...(["resource", "data"] as const).map((type) => [type, 2] as const),
  ...(["module", "variable", "output", "provider", "component", "backend"] as const).map((type) => [type, 1] as const),
]);

function jsonContent(file: CodeFile, fields: Fields): Pick<CodeBlock, "attributes" | "blocks"> {
  const attributes = new Map<string, string>();
  const blocks: CodeBlock[] = [];
  for (const [name, value] of Object.entries(fields)) {
    attributes.set(name, toExpression(value));
    blocks.push(...jsonBlocks(file, value, { type: name, labels: [], left: labelled.get(name) ?? 0 }));
  }
  return { attributes, blocks };
}

function jsonBlocks(
  file: CodeFile,
  value: unknown,
  { type, labels, left }: { readonly type: string; readonly labels: readonly string[]; readonly left: number },
): readonly CodeBlock[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => jsonBlocks(file, each, { type, labels, left }));
  if (!isFields(value)) return [];
  if (left > 0) {
    return Object.entries(value).flatMap(([label, below]) =>
      jsonBlocks(file, below, { type, labels: [...labels, label], left: left - 1 }),
    );
  }
  const start = Math.max(0, file.text.indexOf(JSON.stringify(labels.at(-1) ?? type)));
  return [{ type, labels, file, start, ...jsonContent(file, value) }];
}

/**
 * Converts a JSON value to an HCL expression. A string is a template; a string that is only `${…}` is the expression in
 * it.
 */
function toExpression(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const alone = /^\$\{([^{}]*)\}$/.exec(value)?.[1];
  return alone?.trim() ?? (/[$%]\{/.test(value) ? `"${value}"` : JSON.stringify(value));
}

function readJson(text: string): Fields | null {
  try {
    const json: unknown = JSON.parse(text);
    return isFields(json) ? json : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
