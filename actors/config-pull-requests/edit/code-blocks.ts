import { type Holder, type SyntaxNode, toHolder, toText } from "./hcl-syntax.js";
import { type Fields, isFields, isJson, LABELS, readJson, toExpression } from "./json-code.js";
import type { CodeFile, Repository } from "./repository.js";

/** A configuration block, from HCL or from Terraform's JSON syntax. */
export interface CodeBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly file: CodeFile;
  /**
   * Offset of the block in its file. In JSON, this is the offset of the first string that equals the block's last
   * label, or the block's type if the block has no labels. 0 if there is no such string.
   */
  readonly start: number;
  /**
   * Attributes by name. Each value is the text of an expression. In JSON, every member is an attribute, even if the
   * member is a block.
   */
  readonly attributes: ReadonlyMap<string, string>;
  /**
   * The attributes' expressions as nodes of the file's syntax tree. Empty if the block does not come from such a tree,
   * as in JSON.
   */
  readonly nodes: ReadonlyMap<string, SyntaxNode>;
  readonly blocks: readonly CodeBlock[];
}

/**
 * Reads a file's content as one unnamed block. For a variable file, the block's attributes are the values of variables.
 * The block is empty if the file cannot be parsed.
 */
export function readCode(repository: Repository, file: CodeFile): CodeBlock {
  const root = repository.parse(file);
  if (root !== null) return toWhole(file, root);
  const whole = { type: "", labels: [], file, start: 0 };
  const json = isJson(file.path) ? readJson(file.text) : null;
  return { ...whole, ...(json === null ? nothing : jsonContent(file, json)) };
}

/** Reads a syntax tree as one unnamed block of a file. */
export function toWhole(file: CodeFile, root: SyntaxNode): CodeBlock {
  return { type: "", labels: [], file, start: 0, ...toContent(file, toHolder(file.text, root)) };
}

type Content = Pick<CodeBlock, "attributes" | "nodes" | "blocks">;

const nothing: Content = { attributes: new Map(), nodes: new Map(), blocks: [] };

function toContent(file: CodeFile, { members, blocks }: Holder): Content {
  const named = members.flatMap(({ name, value }) => (name === null ? [] : [[name, value] as const]));
  return {
    attributes: new Map(named.map(([name, value]) => [name, toText(file.text, value).trim()])),
    nodes: new Map(named),
    blocks: blocks.map(({ type, labels, node }) => ({
      type,
      labels,
      file,
      start: node.start,
      ...toContent(file, toHolder(file.text, node)),
    })),
  };
}

function jsonContent(file: CodeFile, fields: Fields): Content {
  const attributes = new Map<string, string>();
  const blocks: CodeBlock[] = [];
  for (const [name, value] of Object.entries(fields)) {
    attributes.set(name, toExpression(value));
    blocks.push(...jsonBlocks(file, value, { type: name, labels: [], left: LABELS.get(name) ?? 0 }));
  }
  return { attributes, nodes: nothing.nodes, blocks };
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
