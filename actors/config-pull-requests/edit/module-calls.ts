import { dirname } from "node:path";
import type { CodeBlock } from "./code-blocks.js";
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
    return [{ block, times: timesOf(block), calls, isIncluded: !isModule }];
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
    return [{ block, includes: (file: string) => mayBe(toPattern(base, ["/", ...parts]), file) }];
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

function timesOf({ attributes, blocks }: CodeBlock): ModuleCall["times"] {
  const [count, each] = [attributes.get("count"), attributes.get("for_each")];
  const enabled = blocks.find(({ type }) => type === "lifecycle")?.attributes.get("enabled") ?? "true";
  if (enabled === "false" || count === "0" || (each !== undefined && /^(\{\s*\}|toset\(\[\s*\]\))$/.test(each))) {
    return "none";
  }
  if (each !== undefined) return /^toset\(\[\s*"[^"]*"\s*,?\s*\]\)$/.test(each) ? "one" : "many";
  return count === undefined || /^1$|\?\s*[01]\s*:\s*[01]$/.test(count) ? "one" : "many";
}
