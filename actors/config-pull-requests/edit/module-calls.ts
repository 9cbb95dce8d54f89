import { dirname } from "node:path";
import type { CodeBlock } from "./code-blocks.js";
import { listElements, nodesIn, type Syntax, toHolder, toInner, toText } from "./hcl-syntax.js";
import { isWithin } from "./links.js";
import { mayBe, type PathParts, toPattern } from "./path-pattern.js";
import { readPath } from "./read-paths.js";
import { isCode, isModuleFile, isValues, type Repository } from "./repository.js";

/** A call that instantiates a module: a `module` block, or its equivalent in Terragrunt or Terraform stacks. */
export interface ModuleCall {
  readonly block: CodeBlock;
  /** How many times the call instantiates the module; `many` also if the number is unknown. */
  readonly times: "none" | "one" | "many";
  /** Whether the called module may be the one in a folder. */
  calls(folder: string): boolean;
  /** Whether other files may include the call's file, as Terragrunt files do. {@link FileInclude} says which files. */
  readonly isIncluded: boolean;
}

/** An `include` block in a Terragrunt file. Each file that includes another one repeats that file's calls. */
export interface FileInclude {
  readonly block: CodeBlock;
  includes(file: string): boolean;
}

/** Blocks of Terragrunt and of Terraform stacks whose `source` calls a module. */
const CALLERS = /^(terraform|component|unit|stack)$/;

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
    const calls = (folder: string): boolean => mayCall(repository, { source, path, named, isModule }, folder);
    return [{ block, times: toTimes(repository, block), calls, isIncluded: !isModule }];
  });
}

/** Returns the includes in a Terragrunt file. */
export function includesIn(repository: Repository, { file: { path }, blocks }: CodeBlock): readonly FileInclude[] {
  if (isModuleFile(path) || !isPlan(path)) return [];
  return blocks.flatMap((block) => {
    const given = block.type === "include" ? block.attributes.get("path") : undefined;
    if (given === undefined) return [];
    const { parts } = readPath(repository.syntax, given);
    const base = parts[0] === null ? null : dirname(path);
    // `find_in_parent_folders` searches only the folders above.
    const isAbove = /^find_in_parent_folders\s*\(/.test(given);
    const mayLieAt = (file: string) => !isAbove || (dirname(file) !== dirname(path) && isWithin(path, dirname(file)));
    const pattern = toPattern(base, ["/", ...parts]);
    return [{ block, includes: (file: string) => file !== path && mayLieAt(file) && mayBe(pattern, file) }];
  });
}

/**
 * Whether an HCL file belongs to Terragrunt or Terraform stacks: not a module file, not a variable file, and not a
 * test, because a test's resources are destroyed after it.
 */
function isPlan(path: string): boolean {
  return (
    isCode(path) && !isModuleFile(path) && !isValues(path) && !/\.(tftest|tofutest|tfmock|tofumock)\.\w+$/.test(path)
  );
}

interface Source {
  /** The text of the `source` expression. */
  readonly source: string;
  /** The file that contains the call. */
  readonly path: string;
  /** The name of the repository, `owner/name`; undefined if it is unknown. */
  readonly named: string | undefined;
  readonly isModule: boolean;
}

function mayCall({ syntax, links }: Repository, of: Source, folder: string): boolean {
  const { from, parts: whole } = readPath(syntax, of.source);
  const parts = withoutQuery(whole);
  const [begin = ""] = parts;
  if (begin !== null && isRemote(begin)) return mayFetch(parts, of.named, folder);
  // An unknown beginning may be the address of this repository, as well as a path.
  if (begin === null && mayFetch(parts, of.named, folder)) return true;
  const isLocal = begin === null || from === "module" || !of.isModule || /^\.\.?(\/|$)/.test(begin);
  if (!isLocal) return false;
  const isPlaced = from === "module" || (begin !== null && !begin.startsWith("/"));
  const bases = isPlaced ? links.listNames(dirname(of.path)) : [null];
  const names = links.listNames(folder);
  return bases.some((base) => names.some((name) => mayBe(toPattern(base, relative(parts, from)), name)));
}

/** Returns the parts of a source before its query, such as `?ref=v1`. */
function withoutQuery(parts: PathParts): PathParts {
  const at = parts.findIndex((part) => part?.includes("?"));
  if (at === -1) return parts;
  const [text = ""] = parts[at]?.split("?") ?? [];
  return [...parts.slice(0, at), text];
}

/** Returns the parts of a source after its base folder. */
function relative(parts: PathParts, from: "module" | "any"): PathParts {
  return from === "module" ? parts : ["/", ...parts];
}

function isRemote(text: string): boolean {
  return /^[\w+.-]+::|:\/\/|^[\w.-]+@|^[\w-]+(\.[\w-]+)*\.[a-z]{2,}(:\d+)?\//i.test(text);
}

/**
 * Whether a remote source may be a folder of this repository, such as `git::https://host/owner/name.git//folder`. An
 * address with an unknown part may be that of this repository.
 */
function mayFetch(parts: PathParts, named: string | undefined, folder: string): boolean {
  const unknown = "\0";
  const text = parts.map((part) => part ?? unknown).join("");
  const [address = "", ...below] = text.split(/(?<!:)\/\//);
  const isNamed = named === undefined ? folder !== "." : address.toLowerCase().includes(named.toLowerCase());
  const isOfRepository = isNamed || address.includes(unknown);
  const steps = below.join("/").split(unknown);
  const inside = steps.flatMap((step, index) => (index > 0 ? [null, step] : [step]));
  return isOfRepository && mayBe(toPattern(".", ["/", ...inside]), folder);
}

function toTimes({ syntax }: Repository, { attributes, blocks }: CodeBlock): ModuleCall["times"] {
  const [count, each] = [attributes.get("count"), attributes.get("for_each")];
  const enabled = blocks.find(({ type }) => type === "lifecycle")?.attributes.get("enabled") ?? "true";
  const elements = each === undefined ? 1 : elementsIn(syntax, each);
  if (enabled === "false" || count === "0" || elements === 0) return "none";
  if (elements !== 1) return "many";
  return count === undefined || /^(1|[^?]*\?\s*[01]\s*:\s*[01])$/.test(count) ? "one" : "many";
}

/** Returns the number of elements in a literal object or set; null for any other expression. */
function elementsIn(syntax: Syntax, expression: string): number | null {
  const text = `_ = ${expression}\n`;
  const [member] = toHolder(text, syntax.parse(text)).members;
  if (member === undefined) return null;
  const inner = toInner(member.value);
  if (inner.type === "object") {
    const { members } = toHolder(text, inner);
    return members.some(({ name }) => name === null) ? null : members.length;
  }
  const given = /^toset\s*\(/.test(toText(text, inner)) ? nodesIn(inner, "function_arguments")[0] : undefined;
  const [only, other] = given?.children.filter(({ type }) => type === "expression") ?? [];
  const list = only === undefined || other !== undefined ? undefined : toInner(only);
  return list?.type === "tuple" ? listElements(list).length : null;
}
