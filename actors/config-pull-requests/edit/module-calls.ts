import { dirname, posix } from "node:path";
import type { CodeBlock } from "./code-blocks.js";
import { listBranches, listElements, type Syntax, type SyntaxNode, toHolder, toInner, toText } from "./hcl-syntax.js";
import { isWithin } from "./links.js";
import { mayBe, type PathParts, toPattern } from "./path-pattern.js";
import { readPath } from "./read-paths.js";
import { isModuleFile, isPlan, type Repository } from "./repository.js";

/** A call that instantiates a module: a `module` block, or its equivalent in Terragrunt or Terraform stacks. */
export interface ModuleCall {
  readonly block: CodeBlock;
  /**
   * How many times the call instantiates the module. `one` includes a call that may create 0 or 1 instance. `many`
   * includes a call whose number of instances is unknown.
   */
  readonly times: "none" | "one" | "many";
  /** Whether the called module may be the module in `folder`. */
  calls(folder: string): boolean;
  /** Whether other files may include the call's file, as Terragrunt files do. {@link FileInclude} says which files. */
  readonly isIncluded: boolean;
}

/**
 * An `include` block in a Terragrunt file. A file that includes another file repeats the calls of the included file.
 */
export interface FileInclude {
  readonly block: CodeBlock;
  includes(file: string): boolean;
}

/** Blocks of Terragrunt and of Terraform stacks whose `source` calls a module. `removed` destroys its instances. */
const CALLERS = /^(terraform|component|unit|stack|removed)$/;

/** Returns the module calls in a file. */
export function callsIn(repository: Repository, named: string | undefined, whole: CodeBlock): readonly ModuleCall[] {
  const { path } = whole.file;
  const isModule = isModuleFile(path);
  const callers = whole.blocks.filter(({ type }) =>
    isModule ? type === "module" : isPlan(path) && CALLERS.test(type),
  );
  return callers.flatMap((block) => {
    const source = block.attributes.get("source");
    if (source === undefined) return [];
    // Terragrunt resolves a relative source in the folder of the unit, not of a file that the unit includes.
    const isPlaced = block.type !== "terraform" || /(^|\/)terragrunt\.hcl(\.json)?$/.test(path);
    const isOf = toCalls(repository, { source, path: isPlaced ? path : null, named, isModule });
    const isPublished = block.attributes.has("version");
    const calls = (folder: string) => (isPublished && isPublishedFrom(source, named, folder)) || isOf(folder);
    return [{ block, times: toTimes(repository, block), calls, isIncluded: !isModule }];
  });
}

/**
 * Returns the module calls in code that a tool generates. It is unknown in which folders, and in how many, the tool
 * places the code. A call without a source may call any module.
 */
export function generatedCallsIn(
  repository: Repository,
  named: string | undefined,
  { blocks }: CodeBlock,
): readonly ModuleCall[] {
  return blocks.filter(isGeneratedCall).map((block) => {
    const source = block.attributes.get("source");
    const calls =
      source === undefined ? () => true : toCalls(repository, { source, path: null, named, isModule: true });
    return { block, times: "many", calls, isIncluded: false };
  });
}

function isGeneratedCall({ type, labels }: CodeBlock): boolean {
  return type === "module" || (type === "tm_dynamic" && labels[0] === "module");
}

/** Returns the includes in a Terragrunt file. */
export function includesIn(repository: Repository, { file: { path }, blocks }: CodeBlock): readonly FileInclude[] {
  if (isModuleFile(path) || !isPlan(path)) return [];
  return blocks.flatMap((block) => {
    if (block.type !== "include") return [];
    const given = block.attributes.get("path");
    // In JSON, the path of a labelled include is not found, so it may be any path.
    if (given === undefined) return [{ block, includes: (file: string) => file !== path }];
    const { parts } = readPath(repository.syntax, given);
    const base = parts[0] === null ? null : dirname(path);
    // `find_in_parent_folders` searches only the folders above.
    const isAbove = /^find_in_parent_folders\s*\(/.test(given);
    const mayLieAt = (file: string) => !isAbove || (dirname(file) !== dirname(path) && isWithin(path, dirname(file)));
    const pattern = toPattern(base, ["/", ...parts]);
    return [{ block, includes: (file: string) => file !== path && mayLieAt(file) && mayBe(pattern, file) }];
  });
}

interface Source {
  /** The text of the `source` expression. */
  readonly source: string;
  /** The file whose folder a relative path starts in; null if the folder is unknown. */
  readonly path: string | null;
  /** The name of the repository, `owner/name`; undefined if it is unknown. */
  readonly named: string | undefined;
  readonly isModule: boolean;
}

/** Returns a function that tells whether a source may be the module in a folder. Reads the source at the first call. */
function toCalls(repository: Repository, of: Source): ModuleCall["calls"] {
  let read: ReturnType<typeof readPath> | undefined;
  return (folder) => {
    read ??= readPath(repository.syntax, of.source);
    return mayCall(repository, { ...of, ...read, parts: withoutQuery(read.parts) }, folder);
  };
}

function mayCall(
  { links }: Repository,
  { from, parts, ...of }: Omit<Source, "source"> & ReturnType<typeof readPath>,
  folder: string,
): boolean {
  const [begin = ""] = parts;
  if (begin !== null && isRemote(begin)) return mayFetch(parts, of.named, folder);
  // If the start of the source is unknown, the source may be this repository's address instead of a path.
  if (begin === null && mayFetch(parts, of.named, folder)) return true;
  const isLocal = begin === null || from === "module" || !of.isModule || /^\.\.?(\/|$)/.test(begin);
  if (!isLocal) return false;
  const isPlaced = from === "module" || (begin !== null && !begin.startsWith("/"));
  const bases = isPlaced && of.path !== null ? links.listNames(dirname(of.path)) : [null];
  const names = links.listNames(folder);
  return bases.some((base) => names.some((name) => mayBe(toPattern(base, relative(parts, from)), name)));
}

/** Matches the address of a module in a registry: an optional host, a namespace, a name, a provider and a folder. */
export const REGISTRY = /^"(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)?([\w-]+)\/([\w-]+)\/([\w-]+)(?:\/\/([^"\\$%?]+))?"$/;

/**
 * Whether a registry address may belong to the module in a folder of the repository. For example, `acme/line/service`
 * is published from the repository `acme/terraform-service-line`, or from the folder `line` of a repository of `acme`.
 */
function isPublishedFrom(source: string, named: string | undefined, folder: string): boolean {
  const [whole, namespace, name, provider, below = "."] = REGISTRY.exec(source.toLowerCase()) ?? [];
  const [owner, repository] = named?.toLowerCase().split("/") ?? [];
  if (whole === undefined || namespace !== owner) return false;
  const isOwn = repository === `terraform-${provider}-${name}`;
  return isOwn
    ? folder === posix.normalize(below).replace(/\/$/, "")
    : below === "." && posix.basename(folder) === name;
}

/** Returns the parts of a source before its query, such as `?ref=v1`. */
function withoutQuery(parts: PathParts): PathParts {
  const at = parts.findIndex((part) => part?.includes("?"));
  if (at === -1) return parts;
  const [text = ""] = parts[at]?.split("?") ?? [];
  return [...parts.slice(0, at), text];
}

/** Returns the parts of a source with a slash before them, so that they can follow a base folder. */
function relative(parts: PathParts, from: "module" | "any"): PathParts {
  return from === "module" ? parts : ["/", ...parts];
}

function isRemote(text: string): boolean {
  return /^[\w+.-]+::|:\/\/|^[\w.-]+@|^[\w-]+(\.[\w-]+)*\.[a-z]{2,}(:\d+)?\//i.test(text);
}

/**
 * Whether a remote source, such as `git::https://host/owner/name.git//folder`, may be `folder` of this repository. An
 * address with an unknown part may be this repository's address. If the repository's name is unknown, any address may
 * be this repository's, except when `folder` is the root folder.
 */
function mayFetch(parts: PathParts, named: string | undefined, folder: string): boolean {
  const unknown = "\0";
  const text = parts.map((part) => part ?? unknown).join("");
  const [address = "", ...below] = text.split(/(?<!:)\/\//);
  const isNamed = named === undefined ? folder !== "." : isOf(address, named);
  const isOfRepository = isNamed || address.includes(unknown);
  const steps = below.join("/").split(unknown);
  const inside = steps.flatMap((step, index) => (index > 0 ? [null, step] : [step]));
  const pattern = toPattern(".", ["/", ...inside]);
  // An archive has the repository's folders in a top folder of any name.
  const isArchive = /\/(archive|tarball|zipball)\/|\.(zip|tgz|tar(\.\w+)?)$/.test(address);
  const inArchive = { ...pattern, steps: pattern.steps.slice(1) };
  return isOfRepository && (mayBe(pattern, folder) || (isArchive && mayBe(inArchive, folder)));
}

/** Whether an address contains a repository's whole `owner/name`, also as the name of an archive. */
function isOf(address: string, named: string): boolean {
  const [text, name] = [address.toLowerCase(), named.toLowerCase()];
  return text.split(name).some((before, index, pieces) => {
    const after = pieces[index + 1];
    const isBegin = before === "" ? index === 0 : /[/:]$/.test(before);
    return after !== undefined && isBegin && /^(\.(git|zip|tgz|tar(\.\w+)?))?([/?#]|$)/.test(after);
  });
}

/** Returns how many instances a block creates. */
export function toTimes({ syntax }: Repository, { type, attributes, blocks }: CodeBlock): ModuleCall["times"] {
  if (type === "removed") return "none";
  const [count, each] = [attributes.get("count"), attributes.get("for_each")];
  const enabled = blocks.find(({ type }) => type === "lifecycle")?.attributes.get("enabled") ?? "true";
  const counts = count === undefined ? [1] : listCounts(syntax, count);
  const elements = each === undefined ? [1] : listCounts(syntax, each);
  if (/^[\s(]*"?false"?[\s)]*$/.test(enabled) || isOnly(counts, 0) || isOnly(elements, 0)) return "none";
  return [counts, elements].every((some) => some?.every((number) => number <= 1)) ? "one" : "many";
}

function isOnly(counts: readonly number[] | null, wanted: number): boolean {
  return counts?.every((each) => each === wanted) === true;
}

/** Returns the numbers of instances that a `count` or `for_each` may give; null if these numbers are unknown. */
function listCounts(syntax: Syntax, expression: string): readonly number[] | null {
  const text = `_ = ${expression}\n`;
  const root = syntax.parse(text);
  const [member] = toHolder(text, root).members;
  return member === undefined || root.isBroken ? null : countsIn(text, member.value);
}

/**
 * Returns the possible instance counts of an expression; null if they are unknown. Supports numbers, literal objects,
 * `toset` of a literal list, `tomap` of a literal object, and conditionals. A conditional whose condition is not
 * `true` or `false` gives the counts of both branches.
 */
function countsIn(text: string, node: SyntaxNode): readonly number[] | null {
  const inner = toInner(node);
  const written = toText(text, inner);
  const [only, ...more] = inner.children.filter(({ type }) => type === "expression");
  if (/^"?\d+"?$/.test(written)) return [Number(written.replaceAll('"', ""))];
  const isInParentheses =
    inner.type === "expression" && inner.children.every(({ type }) => /^(expression|comment)$/.test(type));
  if (isInParentheses && only !== undefined && more.length === 0) return countsIn(text, only);
  if (inner.type === "conditional" && only !== undefined) {
    const condition = toText(text, only).trim();
    const branches =
      condition === "true" ? more.slice(0, 1) : condition === "false" ? more.slice(1) : listBranches(inner);
    const counts = branches.map((each) => countsIn(text, each));
    return counts.some((each) => each === null) ? null : counts.flatMap((each) => each ?? []);
  }
  if (inner.type === "object") {
    const { members } = toHolder(text, inner);
    return members.some(({ name }) => name === null) ? null : [members.length];
  }
  const form = /^(toset|tomap)\s*\(/.exec(written)?.[1];
  const given = form === undefined ? undefined : inner.children.find(({ type }) => type === "function_arguments");
  const [argument, other] = given?.children.filter(({ type }) => type === "expression") ?? [];
  if (argument === undefined || other !== undefined) return null;
  const value = toInner(argument);
  if (form === "tomap") return value.type === "object" ? countsIn(text, value) : null;
  return value.type === "tuple" && !/\.\.\.\s*\)$/.test(written) ? [listElements(value).length] : null;
}
