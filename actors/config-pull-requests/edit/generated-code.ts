import { dirname } from "node:path";
import { type CodeBlock, readCode, toWhole } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { nodesIn, type SyntaxNode, TooDeep, toHolder, toText } from "./hcl-syntax.js";
import { isFields, isJson, readJson } from "./json-code.js";
import { isWithin } from "./links.js";
import { mayName, pathsIn } from "./read-paths.js";
import { type CodeFile, isPlan, type Repository } from "./repository.js";
import { blanked } from "./splice.js";

/** Code that a tool generates from a text in a file. */
export interface GeneratedCode {
  /** The blocks of the code, and its attributes if it sets values of variables. */
  readonly whole: CodeBlock;
  readonly text: string;
  /** The syntax tree of `text`. */
  readonly root: SyntaxNode;
  /** Returns the place of an offset in `text`, as `path:line`. */
  readonly place: (offset: number) => string;
  /** The Terragrunt or Terramate file that generates the code. */
  readonly by: CodeFile;
}

/** Maximum number of files whose text is generated code. Each may be a request to the code host. */
const MAX_TEXTS = 40;

/**
 * Reads the code that Terragrunt (`generate`) and Terramate (`generate_hcl`, `generate_file`) may write into modules:
 * the heredocs of their files, `content` blocks, and the files that a `generate` block reads. Code that cannot be parsed
 * has a `module` block without a source. Empty if no file generates code.
 */
export async function readGenerated(
  repository: Repository,
  files: readonly CodeFile[],
): Promise<readonly GeneratedCode[]> {
  const plans = files.filter(({ path }) => isPlan(path));
  if (!plans.some(({ text }) => GENERATES.test(text))) return [];
  const written = plans.flatMap((file) => codeIn(repository, file));
  const fetched: GeneratedCode[] = [];
  for (const [path, by] of textsRead(repository, plans)) {
    const text = fetched.length < MAX_TEXTS ? await repository.read(path) : "";
    if (typeof text !== "string" || fetched.length >= MAX_TEXTS) fetched.push(unknownCode({ path, text: "" }, by));
    else fetched.push(toCode(repository, { path, text: unescaped(text) }, by));
  }
  return [...written, ...fetched];
}

const GENERATES = /\bgenerate(_hcl|_file)?\b/;
const CALLS = /\bmodule\s*\\*"|\btm_dynamic\b/;

function codeIn(repository: Repository, file: CodeFile): readonly GeneratedCode[] {
  if (isJson(file.path)) return jsonTexts(readJson(file.text)).map((text) => placed(repository, file, text));
  const root = repository.parse(file);
  if (root === null) return [unknownCode(file, file)];
  // Everything else becomes blank, so that the code keeps its offsets.
  const kept = [...nodesIn(root, "heredoc_template"), ...contentsIn(file.text, root)]
    .map((node) => bodyOf(file.text, node))
    .sort((left, right) => left.start - right.start);
  const gaps: { start: number; end: number }[] = [];
  let at = 0;
  for (const { start, end } of kept) {
    if (start < at) continue;
    gaps.push({ start: at, end: start });
    at = end;
  }
  const code = blanked(file.text, [...gaps, { start: at, end: file.text.length }]);
  const quoted = [...nodesIn(root, "template_literal"), ...nodesIn(root, "literal_value")]
    .map((node) => toText(file.text, node))
    .filter((text) => /\\n/.test(text));
  return [
    ...(code.trim() === "" ? [] : [toCode(repository, { path: file.path, text: unescaped(code) }, file)]),
    ...quoted.map((text) => placed(repository, file, text)),
  ];
}

/** Returns the `content` blocks of `generate_hcl` blocks. */
function contentsIn(text: string, root: SyntaxNode): readonly SyntaxNode[] {
  return toHolder(text, root)
    .blocks.filter(({ type }) => type === "generate_hcl")
    .flatMap(({ node }) => toHolder(text, node).blocks.filter(({ type }) => type === "content"))
    .map(({ node }) => node);
}

function bodyOf(text: string, node: SyntaxNode): { readonly start: number; readonly end: number } {
  if (node.type === "block") {
    const body = node.children.find(({ type }) => type === "body");
    return body ?? { start: node.end, end: node.end };
  }
  const start = Math.min(node.end, text.indexOf("\n", node.start) + 1);
  return {
    start,
    end: Math.max(start, text.lastIndexOf("\n", node.start + toText(text, node).trimEnd().length - 1) + 1),
  };
}

/** Undoes the escape of `${` in a template, and keeps all offsets. */
function unescaped(text: string): string {
  return text.replaceAll("$$" + "{", "$" + "{ ");
}

/** Reads code that is written as a string. All of its blocks have the string's place. */
function placed(repository: Repository, file: CodeFile, text: string): GeneratedCode {
  const plain = text.replaceAll("\\n", "\n").replaceAll('\\"', '"').replace(/^"|"$/g, "");
  const code = toCode(repository, { path: file.path, text: unescaped(plain) }, file);
  const start = Math.max(0, file.text.indexOf(isJson(file.path) ? JSON.stringify(text) : text));
  const blocks = code.whole.blocks.map((block) => ({ ...block, file, start, nodes: new Map() }));
  return { ...code, whole: { ...code.whole, file, start, blocks }, place: () => toPlace(file, { start }) };
}

function toCode({ syntax }: Repository, file: CodeFile, by: CodeFile): GeneratedCode {
  try {
    const root = syntax.parse(file.text);
    const whole = toWhole(file, root);
    const missed = root.isBroken ? file.text.search(CALLS) : -1;
    const blocks =
      missed < 0 ? whole.blocks : [...whole.blocks, { ...unknownCode(file, by).whole, ...call, start: missed }];
    const place = (start: number) => toPlace(file, { start });
    return { whole: { ...whole, blocks }, text: file.text, root, place, by };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return unknownCode(file, by);
  }
}

const call = { type: "module" };
const none = { labels: [], start: 0, attributes: new Map(), nodes: new Map(), blocks: [] };

/** Returns code that may call any module. */
function unknownCode(file: CodeFile, by: CodeFile): GeneratedCode {
  const root = { type: "config_file", start: 0, end: 0, isBroken: true, children: [] };
  const whole = { ...none, type: "", file, blocks: [{ ...none, ...call, file }] };
  return { whole, text: "", root, place: () => `${file.path}:1`, by };
}

/** Returns the files that the `generate` blocks read, each with the file of the block. */
function textsRead(repository: Repository, plans: readonly CodeFile[]): ReadonlyMap<string, CodeFile> {
  const { entries, links } = repository;
  const paths = entries.filter(({ kind, path }) => kind === "file" && !isPlan(path)).map(({ path }) => path);
  const found = new Map<string, CodeFile>();
  for (const file of plans.filter(({ text }) => GENERATES.test(text))) {
    const root = repository.parse(file);
    const { blocks = [], members = [] } = root === null ? {} : toHolder(file.text, root);
    const generating = [
      ...blocks.filter(({ type }) => GENERATES.test(type)),
      ...members.filter(({ name }) => GENERATES.test(name ?? "")),
    ];
    const reads = generating.flatMap(({ node }) => pathsIn(file.text, node)).filter(({ use }) => use === "read");
    for (const read of reads.slice(0, MAX_TEXTS)) {
      for (const path of paths)
        if (mayName(read, file.path, { target: path, module: ".", links })) found.set(path, file);
    }
  }
  return found;
}

function jsonTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return value.includes("\n") ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(jsonTexts);
  return isFields(value) ? Object.values(value).flatMap(jsonTexts) : [];
}

/**
 * Returns the place of generated code that may change what the modules in some folders mean; null if there is none.
 * Code with lines or teams counts wherever it is generated. Other code counts if it may be written into one of the
 * folders, because its file is in or above the folder or belongs to the module's Terragrunt unit, and if it declares
 * variables, sets values or may be an override file.
 */
export function changerIn(
  repository: Repository,
  generated: readonly GeneratedCode[],
  { folders, units }: { readonly folders: readonly string[]; readonly units: readonly string[] },
): string | null {
  for (const { whole, text, place, by } of generated) {
    const line = text.search(/\bservice_(line|team)\b/);
    if (line >= 0) return place(line);
    if (!units.includes(by.path) && !folders.some((folder) => isWithin(folder, dirname(by.path)))) continue;
    if (whole.attributes.size > 0) return place(Math.max(0, text.search(/\S/)));
    const changing = mayOverride(repository, by) ? /^(?!(provider|terraform)$)/ : /^(variable|tm_dynamic)$/;
    const block = whole.blocks.find(({ type }) => changing.test(type));
    if (block !== undefined) return toPlace(block.file, block);
  }
  return null;
}

/** Whether a file names an override file, or generates a file whose name is unknown. */
function mayOverride(repository: Repository, file: CodeFile): boolean {
  const paths = readCode(repository, file).blocks.flatMap(({ type, attributes }) =>
    type === "generate" ? [attributes.get("path") ?? ""] : [],
  );
  return /override\.(tf|tofu)/.test(file.text) || paths.some((path) => !/^"[^"$%\\]*"$/.test(path));
}
