import { dirname } from "node:path";
import { type CodeBlock, readCode, toWhole } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { nodesIn, type SyntaxNode, TooDeep, toHolder, toText } from "./hcl-syntax.js";
import { isFields, isJson, readJson } from "./json-code.js";
import { isWithin } from "./links.js";
import { filesNamed, mayName, pathsIn, type WrittenPath } from "./read-paths.js";
import { type CodeFile, isPlan, type Repository } from "./repository.js";
import { blanked } from "./splice.js";

/** Code that a tool generates from a text in a file. */
export interface GeneratedCode {
  /** The blocks of the code. Also has the code's attributes, if the code sets values of variables. */
  readonly whole: CodeBlock;
  readonly text: string;
  /** The syntax tree of `text`. */
  readonly root: SyntaxNode;
  /** Returns the place of an offset in `text`, as `path:line`. */
  readonly place: (offset: number) => string;
  /** The Terragrunt or Terramate file that generates the code. */
  readonly by: CodeFile;
}

/** Maximum number of files to read as generated code. Each may need a request to the code host. */
const MAX_TEXTS = 40;

/**
 * Reads the code that Terragrunt (`generate`) and Terramate (`generate_hcl`, `generate_file`) may write into modules.
 * If some code cannot be read, the result has a `module` block without a source for it: such a block may call any
 * module. Returns an empty array if no file generates code.
 */
export async function readGenerated(
  repository: Repository,
  files: readonly CodeFile[],
): Promise<readonly GeneratedCode[]> {
  const plans = files.filter(({ path }) => isPlan(path));
  if (!plans.some(({ text }) => GENERATES.test(text))) return [];
  const written = plans.flatMap((file) => codeIn(repository, file));
  const fetched: GeneratedCode[] = [];
  for (const { path, by } of textsRead(repository, plans)) {
    const text = path === null || fetched.length >= MAX_TEXTS ? null : await repository.read(path);
    fetched.push(
      path !== null && typeof text === "string"
        ? toCode(repository, { path, text: unescaped(text) }, by)
        : unknownCode({ path: path ?? by.path, text: "" }, by),
    );
  }
  return [...written, ...fetched];
}

const GENERATES = /\bgenerate(_hcl|_file)?\b/;
const CALLS = /\bmodule\s*\\*"|\btm_dynamic\b/;

export function codeIn(repository: Repository, file: CodeFile): readonly GeneratedCode[] {
  if (isJson(file.path))
    return jsonTexts(readJson(file.text)).map((text) =>
      placed(repository, file, { text, start: Math.max(0, file.text.indexOf(JSON.stringify(text))) }),
    );
  const root = repository.parse(file);
  if (root === null) return [unknownCode(file, file)];
  // Replace everything else with spaces, so that the code keeps its offsets.
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
    .map(({ start, end }) => ({ start, text: file.text.slice(start, end) }))
    .filter(({ text }) => /\\[n"]|^"?\s*[\w-]+\s*=\s/.test(text));
  return [
    ...(code.trim() === "" ? [] : [toCode(repository, { path: file.path, text: unescaped(code) }, file)]),
    ...quoted.map((each) => placed(repository, file, each)),
    ...encodedIn(file, root),
  ];
}

/**
 * Returns the calls of encoding functions, such as `jsonencode`, in generating blocks. Each call counts as generated
 * code. A call that contains the word `module` counts as code that may call any module.
 */
function encodedIn(file: CodeFile, root: SyntaxNode): readonly GeneratedCode[] {
  const generating = toHolder(file.text, root).blocks.filter(({ type }) => GENERATES.test(type));
  return generating.flatMap(({ node: block }) =>
    nodesIn(block, "function_call")
      .filter((node) => /^\w*encode\s*\(/.test(toText(file.text, node)))
      .map(({ start, end }) => {
        const text = file.text.slice(start, end);
        const code = unknownCode({ path: file.path, text: "" }, file);
        const blocks = /\bmodule\b/.test(text) ? code.whole.blocks.map((each) => ({ ...each, file, start })) : [];
        // The code that a block writes to a Terraform file may set attributes.
        const attributes = new Map(/\.tf/.test(toText(file.text, block)) ? [["", text]] : []);
        return { ...code, text, whole: { ...code.whole, blocks, attributes }, place: () => toPlace(file, { start }) };
      }),
  );
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
export function unescaped(text: string): string {
  return text.replaceAll("$$" + "{", "$" + "{ ");
}

/** Reads code that is written as a string. Every position in the code is reported as the string's position. */
function placed(
  repository: Repository,
  file: CodeFile,
  { text, start }: { readonly text: string; readonly start: number },
): GeneratedCode {
  const plain = text.replaceAll("\\n", "\n").replaceAll('\\"', '"').replace(/^"|"$/g, "");
  const code = toCode(repository, { path: file.path, text: unescaped(plain) }, file);
  const blocks = code.whole.blocks.map((block) => ({ ...block, file, start, nodes: new Map() }));
  return { ...code, whole: { ...code.whole, file, start, blocks }, place: () => toPlace(file, { start }) };
}

/** Reads a text as code. `by` is the file that generates the code. */
export function toCode({ syntax }: Repository, file: CodeFile, by: CodeFile): GeneratedCode {
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

/**
 * The path of a file whose text is generated code (null if the path is unknown), and the file that generates the code.
 */
interface TextRead {
  readonly path: string | null;
  readonly by: CodeFile;
}

/**
 * Returns the files that generating blocks may read. One entry has a null path if a file's name is unknown or there are
 * too many files.
 */
function textsRead(repository: Repository, plans: readonly CodeFile[]): readonly TextRead[] {
  const found = new Map<string, TextRead>();
  for (const by of plans.filter(({ text }) => GENERATES.test(text))) {
    const reads = readsIn(repository, by).map((read) => ({ read, file: by, isWhole: true }));
    for (const each of [...reads, ...referenceReads(repository, by, plans)]) {
      if (each === null || found.size > MAX_TEXTS) {
        found.set("", { path: null, by });
        continue;
      }
      const { read, file, isWhole } = each;
      const isNamed = /[^/]$/.test(read.parts.at(-1) ?? "");
      if (!isNamed && isWhole) found.set("", { path: null, by });
      else if (isNamed)
        for (const path of filesNamed(read, file.path, repository)) if (!isPlan(path)) found.set(path, { path, by });
    }
  }
  return [...found.values()];
}

/** A file that a local or global reads. `isWhole`: the generated code is only the value, without a text around it. */
interface ReferenceRead {
  readonly read: WrittenPath;
  readonly file: CodeFile;
  readonly isWhole: boolean;
}

/** Maximum number of locals and globals to follow from one file. */
const MAX_REFERENCES = 200;

/**
 * Returns the files that the locals and globals in generated contents read, also through other locals and through
 * `read_terragrunt_config`. A null entry means content that is only a reference to an unknown local or global.
 */
function referenceReads(
  repository: Repository,
  by: CodeFile,
  plans: readonly CodeFile[],
): readonly (ReferenceRead | null)[] {
  const found: (ReferenceRead | null)[] = [];
  const open = contentValues(repository, by).map((node) => ({ file: by, node, isOpen: true }));
  const known = new Set<SyntaxNode>();
  for (const { file, node, isOpen } of open) {
    if (known.has(node)) continue;
    known.add(node);
    if (known.size > MAX_REFERENCES) return [...found, null];
    const text = toText(file.text, node).trim();
    const isWhole = isOpen && REFERENCE.test(text);
    const names = [...text.matchAll(NAMES)];
    for (const [whole, kind = "", name = ""] of names) {
      const isOwn = kind === "local" && !/^local\.[\w-]+\.locals\./.test(whole);
      const values = (isOwn ? [file] : plans).flatMap((plan) =>
        valuesNamed(repository, plan, /[\w-]+$/.exec(whole)?.[0] ?? name).map((value) => ({ file: plan, node: value })),
      );
      if (isWhole && values.length === 0) found.push(null);
      for (const value of values) {
        open.push({ ...value, isOpen: isWhole });
        for (const read of pathsIn(value.file.text, value.node).filter(({ use }) => use === "read"))
          found.push({ read, file: value.file, isWhole });
      }
    }
  }
  return found;
}

/** Matches a value that is only a reference to a local, a global, or a part of a local or global. */
const REFERENCE = /^(local|global|include)\.[\w.[\]"'-]+$/;
/** Matches a local or a global: `local.x`, `global.x`, `local.config.locals.x`, `include.root.locals.x`. */
const NAMES = /\b(local|global|include)\.([\w-]+)(?:\.locals\.[\w-]+)?/g;

/** Returns the values of all locals and globals in a file that have the name `name`. */
function valuesNamed(repository: Repository, file: CodeFile, name: string): readonly SyntaxNode[] {
  const root = repository.parse(file);
  const blocks = root === null ? [] : toHolder(file.text, root).blocks;
  return blocks
    .filter(({ type }) => /^(locals|globals)$/.test(type))
    .flatMap(({ node }) => toHolder(file.text, node).members)
    .flatMap(({ name: each, value }) => (each === name ? [value] : []));
}

/** Returns the expressions that give generated code. */
function contentValues(repository: Repository, file: CodeFile): readonly SyntaxNode[] {
  const root = repository.parse(file);
  const { blocks = [], members = [] } = root === null ? {} : toHolder(file.text, root);
  return [
    ...blocks
      .filter(({ type }) => GENERATES.test(type))
      .flatMap(({ node }) => toHolder(file.text, node).members)
      .flatMap(({ name, value }) => (/^contents?$/.test(name ?? "") ? [value] : [])),
    ...members.flatMap(({ name, value }) => (GENERATES.test(name ?? "") ? [value] : [])),
  ];
}

/** Returns the place of a hook that may copy a file into another module; null if there is none. */
export function copierOf(repository: Repository, files: readonly CodeFile[], target: string): string | null {
  const of = { target, module: dirname(target), links: repository.links };
  for (const file of files.filter(({ path, text }) => isPlan(path) && /\bexecute\b/.test(text))) {
    const root = repository.parse(file);
    const values =
      root === null ? [] : nodesIn(root, "attribute").filter((node) => EXECUTES.test(toText(file.text, node)));
    for (const node of values) {
      const copies = COPIES.test(toText(file.text, node));
      const isCopied = ({ parts, use }: WrittenPath): boolean => {
        const end = parts.at(-1) ?? "";
        return use === "read" && (copies ? /\w/.test(end) : /\.(tf|tofu)$/.test(end));
      };
      if (pathsIn(file.text, node).some((path) => isCopied(path) && mayName(path, file.path, of)))
        return toPlace(file, node);
    }
  }
  return null;
}

const EXECUTES = /^\s*execute\b/;
const COPIES = /\b(cp|mv|ln|rsync|install|tar)\b/;

function readsIn(repository: Repository, file: CodeFile): readonly WrittenPath[] {
  const root = repository.parse(file);
  const { blocks = [], members = [] } = root === null ? {} : toHolder(file.text, root);
  const generating = [
    ...blocks.filter(({ type }) => GENERATES.test(type)),
    ...members.filter(({ name }) => GENERATES.test(name ?? "")),
  ];
  return generating.flatMap(({ node }) => pathsIn(file.text, node)).filter(({ use }) => use === "read");
}

/**
 * Returns the texts in a JSON file that may be code: texts with several lines, and all texts in a `generate` member.
 */
function jsonTexts(value: unknown, isGenerated = false): readonly string[] {
  if (typeof value === "string") return isGenerated || value.includes("\n") ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each: unknown) => jsonTexts(each, isGenerated));
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => jsonTexts(each, isGenerated || GENERATES.test(name)));
}

/** The modules that generated code may change. */
interface ChangedModule {
  /** The folders of the modules. */
  readonly folders: readonly string[];
  /** The paths of the files of the Terragrunt units that run the modules. */
  readonly units: readonly string[];
  /** All configuration files of the repository. */
  readonly files: readonly CodeBlock[];
}

/**
 * Returns the place of generated code that may change the modules in some folders; null if there is none. Code that
 * contains `service_line` or `service_team` counts wherever it is generated. Other code counts if it may be written
 * into one of the folders, and may declare variables, set values or override blocks.
 */
export function changerIn(
  repository: Repository,
  generated: readonly GeneratedCode[],
  { folders, units, files }: ChangedModule,
): string | null {
  const isNear = (path: string) => folders.some((folder) => isWithin(folder, dirname(path)));
  // Terramate imports files from any folder.
  const isAnywhere = files.some(({ file: { path }, blocks }) => {
    return isPlan(path) && isNear(path) && blocks.some(({ type }) => type === "import");
  });
  for (const { whole, text, place, by } of generated) {
    const line = text.search(/\bservice_(line|team)\b/);
    if (line >= 0) return place(line);
    if (!isAnywhere && !units.includes(by.path) && !isNear(by.path)) continue;
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
