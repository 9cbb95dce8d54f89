import { dirname } from "node:path";
import type { CodeBlock } from "./code-blocks.js";
import { elementsOf, holderOf, innerOf, nodesIn, type Syntax, textOf } from "./hcl-syntax.js";
import { isWithin } from "./links.js";
import { mayBe, type PathParts, toPattern } from "./path-pattern.js";
import { pathOf } from "./read-paths.js";
import { isModuleFile, type Repository } from "./repository.js";

/** What makes the resources of a module: a `module` block, or what other programs have in its place. */
export interface ModuleCall {
  readonly block: CodeBlock;
  /** How often: `many` is also any number that is not known. */
  readonly times: "none" | "one" | "many";
  /** Whether a folder may be that of the module that is called. */
  calls(folder: string): boolean;
  /** Whether the file of the call may be used by others, as Terragrunt's files are: `includes` tells by which. */
  readonly isIncluded: boolean;
}

/** A file of Terragrunt that others include: what it calls is called once for each of them. */
export interface FileInclude {
  readonly block: CodeBlock;
  includes(file: string): boolean;
}

/** Blocks of Terragrunt and of Terraform's stacks that call a module in a `source`. */
const CALLERS = /^(terraform|component|unit|stack)$/;

/** The calls of modules that a file makes. */
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
    return [{ block, times: timesOf(repository, block), calls, isIncluded: !isModule }];
  });
}

/** The files that a file of Terragrunt includes. */
export function includesIn(repository: Repository, { file: { path }, blocks }: CodeBlock): readonly FileInclude[] {
  if (isModuleFile(path) || !isPlan(path)) return [];
  return blocks.flatMap((block) => {
    const given = block.type === "include" ? block.attributes.get("path") : undefined;
    if (given === undefined) return [];
    const { parts } = pathOf(repository.syntax, given);
    const base = parts[0] === null ? null : dirname(path);
    // Terragrunt looks for these in the folders above.
    const isAbove = /^find_in_parent_folders\s*\(/.test(given);
    const mayLieAt = (file: string) => !isAbove || (dirname(file) !== dirname(path) && isWithin(path, dirname(file)));
    const pattern = toPattern(base, ["/", ...parts]);
    return [{ block, includes: (file: string) => file !== path && mayLieAt(file) && mayBe(pattern, file) }];
  });
}

/** Whether a file of HCL is neither a module's, nor variables' values, nor a test, whose resources are gone after it. */
function isPlan(path: string): boolean {
  return /\.hcl(\.json)?$/.test(path) && !/\.(tftest|tofutest|tfmock)\.hcl(\.json)?$/.test(path);
}

interface Source {
  /** The text of the expression. */
  readonly source: string;
  /** The file that it stands in. */
  readonly path: string;
  /** The repository's name, `owner/name`. */
  readonly named: string | undefined;
  readonly isModule: boolean;
}

function mayCall({ syntax, links }: Repository, of: Source, folder: string): boolean {
  const { from, parts } = pathOf(syntax, of.source);
  const [begin = ""] = parts;
  if (begin !== null && isRemote(begin)) return mayFetch(parts, of.named, folder);
  const isLocal = begin === null || from === "module" || !of.isModule || /^\.\.?(\/|$)/.test(begin);
  if (!isLocal) return false;
  const isPlaced = from === "module" || (begin !== null && !begin.startsWith("/"));
  const bases = isPlaced ? links.namesOf(dirname(of.path)) : [null];
  const names = links.namesOf(folder);
  return bases.some((base) => names.some((name) => mayBe(toPattern(base, relative(parts, from)), name)));
}

/** What follows the folder that a source is relative to. */
function relative(parts: PathParts, from: "module" | "any"): PathParts {
  return from === "module" ? parts : ["/", ...parts];
}

function isRemote(text: string): boolean {
  return /^[\w+.-]+::|:\/\/|^[\w.-]+@|^[\w-]+(\.[\w-]+)*\.[a-z]{2,}(:\d+)?\//i.test(text);
}

/** Whether a source that is fetched is a folder of this repository: `git::https://host/owner/name.git//folder?ref=v1`. */
function mayFetch(parts: PathParts, named: string | undefined, folder: string): boolean {
  const unknown = "\0";
  const [text = ""] = parts
    .map((part) => part ?? unknown)
    .join("")
    .split("?");
  const [address = "", ...below] = text.split(/(?<!:)\/\//);
  const isOfRepository = named === undefined ? folder !== "." : address.toLowerCase().includes(named.toLowerCase());
  const steps = below.join("/").split(unknown);
  const inside = steps.flatMap((step, index) => (index > 0 ? [null, step] : [step]));
  return isOfRepository && mayBe(toPattern(".", ["/", ...inside]), folder);
}

function timesOf({ syntax }: Repository, { attributes, blocks }: CodeBlock): ModuleCall["times"] {
  const [count, each] = [attributes.get("count"), attributes.get("for_each")];
  const enabled = blocks.find(({ type }) => type === "lifecycle")?.attributes.get("enabled") ?? "true";
  const elements = each === undefined ? 1 : elementsIn(syntax, each);
  if (enabled === "false" || count === "0" || elements === 0) return "none";
  if (elements !== 1) return "many";
  return count === undefined || /^1$|\?\s*[01]\s*:\s*[01]$/.test(count) ? "one" : "many";
}

/** How many elements an object or a set has that is written out; null for anything else. */
function elementsIn(syntax: Syntax, expression: string): number | null {
  const text = `_ = ${expression}\n`;
  const [member] = holderOf(text, syntax.parse(text)).members;
  if (member === undefined) return null;
  const inner = innerOf(member.value);
  if (inner.type === "object") {
    const { members } = holderOf(text, inner);
    return members.some(({ name }) => name === null) ? null : members.length;
  }
  const [list] = /^toset\s*\(/.test(textOf(text, inner)) ? nodesIn(inner, "tuple") : [];
  return list?.end === textOf(text, inner).lastIndexOf("]") + 1 + inner.start ? elementsOf(list).length : null;
}
