import { basename, dirname, posix } from "node:path";
import { nodesIn, type Syntax, type SyntaxNode, toHolder, toInner, toText } from "./hcl-syntax.js";
import { isWithin, type Links } from "./links.js";
import {
  globbed,
  isExpression,
  listParts,
  MODULE,
  type NamedValue,
  type Names,
  noNames,
  type Part,
  PROGRAM,
  toCall,
  WRITTEN,
} from "./path-parts.js";
import {
  hasKnownEnd,
  listFolders,
  mayBe,
  mayEndWith,
  onlyPath,
  type PathParts,
  type PathPattern,
  toPattern,
} from "./path-pattern.js";
import { attributePaths, type BlockUse, hasUrls, listWords, toUse } from "./read-attributes.js";
import type { TreeEntry } from "./station-edit.js";

/** A path in an expression, as far as it is known. */
export interface WrittenPath {
  /** Where the path starts: `module` is the folder of the file, `any` an unknown folder. */
  readonly from: "module" | "any";
  readonly parts: PathParts;
  /**
   * - `read`: the path is an argument of a function or attribute that reads files.
   * - `path`: the text starts with `path.module` or a similar folder, so it is a path, whatever its purpose.
   * - `text`: a text that may be a path.
   */
  readonly use: "read" | "path" | "text";
  readonly node: SyntaxNode;
  /** The function that reads the path; absent for an attribute and a text. */
  readonly by?: string;
}

/** Functions that read files, including provider functions: `file`, `templatefile`, `provider::local::readfile`. */
const READS = /file|read/i;
/** Functions that build paths from their arguments. */
const MAKES = /^(join|format|abspath|pathexpand)$/;

/** The block that contains a part of a file, and the names that the part can use. */
interface Context {
  /** Undefined outside of blocks. */
  readonly use: BlockUse | undefined;
  readonly names: Names;
  /** Whether the part is in a provider or in a connection to a machine. */
  readonly isProvider?: boolean;
  /** Whether an attribute named `path` contains the path of a URL or a name with slashes. */
  readonly isUrl?: boolean;
  /** Whether the part is in an attribute of a provider that holds or names credentials. */
  readonly isCredential?: boolean;
  /** Whether commands in the part run on another machine. Files of the repository do not exist there. */
  readonly isRemote?: boolean;
  /** Whether the part is a name, a description or tags. Such texts name no file to read. */
  readonly isName?: boolean;
  /** Whether other code may use the part as a command, such as the value of a local. */
  readonly isValue?: boolean;
}

/** Attributes of providers that hold or name credentials. */
const CREDENTIALS = /credential|token|secret|password|key|cert|kubeconfig|config_path/;

/** Resources whose commands run on other machines: instances and containers. */
const REMOTE = /^(aws|google|azurerm|kubernetes|nomad|oci|alicloud|digitalocean|hcloud)_/;
/** Attributes of resources and providers that are names, descriptions or tags. */
const NAME = /^(name|name_prefix|display_name|description|comment|title|tags|labels|annotations)$/;

/** Blocks and attributes outside of resources whose values other code may use as commands. */
const VALUES = /^(locals|inputs|default)$/;

function isUnknown({ parts }: WrittenPath): boolean {
  return parts.every((part) => part === null);
}

/** Returns all paths that a part of a file may name. */
export function pathsIn(text: string, node: SyntaxNode, names: Names = noNames): readonly WrittenPath[] {
  const found: WrittenPath[] = [];
  collect(text, node, { use: undefined, names }, found);
  return found;
}

function collect(text: string, node: SyntaxNode, context: Context, found: WrittenPath[]): void {
  const inner = toInner(node);
  const below = contextIn(text, inner, context);
  const { names } = below;
  const read = findReading(text, inner, names);
  if (read !== null && !(context.isCredential === true && isUnknown(read.path))) found.push(read.path);
  if (below.isName !== true) {
    for (const each of readByAttribute(text, inner, below))
      if (!(below.isCredential === true && isUnknown(each))) found.push(each);
    for (const each of writtenOut(text, inner, below)) found.push(each);
  }
  for (const each of commandArguments(text, inner, names)) found.push(each);
  // A literal argument of a reading function is already listed as `read`; do not list it again as `text`.
  const isLiteral = (each: SyntaxNode) =>
    read?.given.includes(each) === true && /^(quoted_template|literal_value)$/.test(toInner(each).type);
  for (const child of inner.children) {
    const own = child.type === "function_arguments" ? child.children : [child];
    for (const each of own) {
      if (!isLiteral(each)) collect(text, each, below, found);
      else {
        const parts: WrittenPath[] = [];
        for (const part of toInner(each).children) collect(text, part, below, parts);
        for (const part of parts) if (part.use === "read") found.push(part);
      }
    }
  }
}

/** Returns the context within a node. */
function contextIn(text: string, node: SyntaxNode, context: Context): Context {
  if (/^for_(object|tuple)_expr$/.test(node.type)) return { ...context, names: withLoop(text, node, context.names) };
  if (!/^(block|attribute|object_elem)$/.test(node.type)) return context;
  const [name = "", label = ""] = node.children.slice(0, 2).map((each) => toText(text, each).replace(/"/g, "").trim());
  const { use, isProvider = false } = context;
  const isValue = context.isValue === true || ((use ?? null) === null && VALUES.test(name));
  if (node.type !== "block" && name !== "provisioner")
    return {
      ...context,
      isValue,
      // `path` is also the type of a block with URLs, so do not test the name of an attribute `path`.
      isUrl: context.isUrl === true || (name !== "path" && hasUrls(name, "")),
      isCredential: context.isCredential === true || (isProvider && CREDENTIALS.test(name)),
      isName: context.isName === true || (use === "reads" && node.type === "attribute" && NAME.test(name)),
    };
  const isOfProvider = isProvider || (use === undefined ? name === "provider" : name === "connection");
  const isUrl = context.isUrl === true || hasUrls(name, label);
  // Nested blocks, also `dynamic` blocks, can use the `each` of this block.
  const names = use === undefined ? withEach(text, node, context.names) : context.names;
  const isOutside = use === undefined ? name === "resource" && REMOTE.test(label) : context.isRemote === true;
  const isRemote = name === "provisioner" ? label === "remote-exec" : isOutside;
  return { ...context, use: toUse(name, label, use), names, isProvider: isOfProvider, isUrl, isValue, isRemote };
}

/** Adds `each` of a block whose `for_each` lists files with `fileset`. */
function withEach(text: string, block: SyntaxNode, names: Names): Names {
  const files = filesIn(text, toHolder(text, block).members.find(({ name }) => name === "for_each")?.value, names);
  return files === null ? names : (name) => (/^each\.(key|value)$/.test(name) ? files : names(name));
}

/**
 * Returns the names inside a `for` expression. In a loop over `fileset`, the loop's variables are paths that `fileset`
 * lists. In any other loop, they are unknown.
 */
function withLoop(text: string, loop: SyntaxNode, names: Names): Names {
  const intro = loop.children.find(({ type }) => type === "for_intro");
  const variables = (intro?.children ?? [])
    .filter(({ type }) => type === "identifier")
    .map((each) => toText(text, each));
  const files = filesIn(text, intro?.children.find(isExpression), names);
  return (name) => (variables.includes(name) ? files : names(name));
}

/** Returns the value of an element of `fileset(folder, pattern)`; null for any other expression. */
function filesIn(text: string, expression: SyntaxNode | undefined, names: Names): NamedValue | null {
  const inner = expression === undefined ? expression : toInner(expression);
  if (inner?.type !== "function_call") return null;
  const { name, given } = toCall(text, inner);
  const [first, second] = given;
  if (name === "toset") return filesIn(text, first, names);
  return name === "fileset" && second !== undefined ? { text, node: second, names, isPattern: true } : null;
}

/** Returns the path that a function call reads, and the arguments that give it; null if the function reads no file. */
function findReading(text: string, node: SyntaxNode, names: Names) {
  if (node.type !== "function_call") return null;
  const { name, given } = toCall(text, node);
  const [first] = given;
  if (first === undefined || !READS.test(name)) return null;
  // `fileset` takes a folder and a pattern in it. For other functions, only the first argument is a path.
  const paths = name === "fileset" ? given : [first];
  const parts = paths.flatMap((each, index) => [...(index > 0 ? ["/"] : []), ...listParts(text, each, names)]);
  if (parts.length === 1 && parts[0] === WRITTEN) return null;
  const path = toPath(name === "fileset" ? parts.flatMap(globbed) : parts, node, "read");
  return { path: { ...path, by: name }, given: paths };
}

function readByAttribute(
  text: string,
  node: SyntaxNode,
  { use = null, names, isUrl = false, isRemote = false }: Context,
): readonly WrittenPath[] {
  const [nameNode, value] = [node.children[0], node.children.at(-1)];
  if (!/^(attribute|object_elem)$/.test(node.type) || nameNode === undefined || value === undefined) return [];
  if (nameNode === value) return [];
  const name = toText(text, nameNode).replace(/"/g, "");
  return attributePaths({ text, name, value }, { use, names, isUrl, isRemote }).map((parts) =>
    toPath(parts, value, "read"),
  );
}

function writtenOut(
  text: string,
  node: SyntaxNode,
  { use = null, names, isValue = false }: Context,
): readonly WrittenPath[] {
  const isMade = node.type === "function_call" && MAKES.test(toCall(text, node).name);
  if (!isMade && !/^(quoted_template|heredoc_template|string_lit|literal_value)$/.test(node.type)) return [];
  const parts = listParts(text, node, names);
  if ((use === null && !isValue) || node.type === "string_lit")
    return node.type === "heredoc_template" ? [] : [toPath(parts, node, "text")];
  // A text with several words may be a command, whatever its attribute.
  const words = listWords(parts).filter((word) => word.some((part) => String(part).includes("/")));
  return [parts, ...words].map((each): WrittenPath => {
    const path = toPath(each, node, "text");
    // In any attribute of a resource, a text that starts with `./` or `../` is the path of a local file or folder.
    return use === "reads" && /^\.\.?\//.test(path.parts[0] ?? "") ? { ...path, use: "path" } : path;
  });
}

/** Returns the words of the command that `run_cmd` of Terragrunt runs. Words without a known part are left out. */
function commandArguments(text: string, node: SyntaxNode, names: Names): readonly WrittenPath[] {
  if (node.type !== "function_call") return [];
  const { name, given } = toCall(text, node);
  if (name !== "run_cmd") return [];
  const words = given.flatMap((each) => listWords(listParts(text, each, names)));
  return words.filter((word) => word.some((part) => part !== null)).map((word) => toPath(word, node, "read"));
}

/** Parses an expression and returns the path that it gives. */
export function readPath(syntax: Syntax, expression: string): Pick<WrittenPath, "from" | "parts"> {
  const text = `_ = ${expression}\n`;
  const value = nodesIn(syntax.parse(text), "expression")[0];
  return value === undefined ? { from: "any", parts: [null] } : toPath(listParts(text, value), value, "text");
}

function toPath(parts: readonly Part[], node: SyntaxNode, use: "read" | "text"): WrittenPath {
  const [begin] = parts;
  const isPlaced = begin === MODULE || begin === PROGRAM;
  const known = (begin === MODULE ? parts.slice(1) : parts).map((part) => (typeof part === "string" ? part : null));
  const from = begin === MODULE ? "module" : "any";
  return { from, parts: known, node, use: use === "text" && isPlaced ? "path" : use };
}

/** A file that may be read elsewhere, and the folder of the file's module. */
export interface ReadTarget {
  readonly target: string;
  readonly module: string;
  readonly links: Links;
}

/** Whether a path in the file at `file` may be the target or a folder that contains it, also through symlinks. */
export function mayName(written: WrittenPath, file: string, of: ReadTarget): boolean {
  const { target, links } = of;
  const isAbsolute = written.use === "read" && written.from === "any" && /^[/~]/.test(written.parts[0] ?? "");
  const bases = written.from === "module" ? links.listNames(dirname(file)) : [null];
  return bases.some((base) => {
    const pattern = toPattern(base, written.parts);
    const path = onlyPath(pattern);
    const followed = path === null ? null : links.follow(path);
    // The target of a symlink on the way was not read, so the path may lead anywhere.
    if (followed === undefined) return true;
    const fits = (name: string): boolean => mayBe(pattern, name) || (isAbsolute && mayEndWith(pattern, name));
    const isNamed = (name: string): boolean => (path === null ? links.listNames(name).some(fits) : followed === name);
    if (isNamed(target)) return written.use === "read" || isPath(written, pattern, { file, target });
    return (
      (written.use !== "text" || path === null || path !== base) && foldersNamed(written, pattern, of).some(isNamed)
    );
  });
}

/**
 * Whether a text that no function reads is a path. A text that starts at `path.module` or a similar folder and adds a
 * name is a path. For any other text, the last part must be known. A single text without a slash is a path only if it
 * is the target's path from the file's folder or from the root.
 */
function isPath(
  { parts, use }: WrittenPath,
  pattern: PathPattern,
  { file, target }: { readonly file: string; readonly target: string },
): boolean {
  if (use === "path" && parts.some((part) => /[^/.]/.test(part ?? ""))) return true;
  if (!hasKnownEnd(pattern)) return false;
  if (use === "path" || parts.length > 1) return true;
  const text = parts[0] ?? "";
  return text.includes("/") || posix.join(dirname(file), text) === target || text === target;
}

/**
 * Returns the folders of the target that a path may name. Code that gets a folder's path may read every file in the
 * folder.
 */
function foldersNamed({ parts, use }: WrittenPath, pattern: PathPattern, of: ReadTarget): readonly string[] {
  const isRoot = pattern.steps.length === 0 && use !== "text";
  if (!isRoot && !hasKnownEnd(pattern)) return [];
  const folders = [...listFolders(of.target), "."];
  if (use !== "text") return folders;
  // A text with a slash may also be the source of a module call, unless it names a folder below the module's own
  // folder.
  const isWhole = parts.length === 1 && parts[0]?.includes("/") === true;
  return isWhole ? folders.filter((folder) => folder !== of.module && isWithin(folder, of.module)) : [];
}

/** Returns the files that a path in the file at `file` may name. */
export function filesNamed(
  written: WrittenPath,
  file: string,
  { entries, links }: { readonly entries: readonly TreeEntry[]; readonly links: Links },
): readonly string[] {
  // If the path ends with a known file name, only files with this name can match, unless the repository has symlinks.
  const name = /[^/]+$/.exec(written.parts.at(-1) ?? "")?.[0];
  const ending = name === undefined || entries.some(({ kind }) => kind === "symlink") ? "" : name;
  return entries.flatMap(({ kind, path }) =>
    kind === "file" && path.endsWith(ending) && mayName(written, file, { target: path, module: ".", links })
      ? [path]
      : [],
  );
}

/** Whether a text contains the name of the file or of its folder. */
export function hasNameOf(text: string, target: string): boolean {
  return [basename(target), basename(dirname(target))].some((each) => text.includes(each));
}
