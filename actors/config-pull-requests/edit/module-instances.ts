import { basename, dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { placeOf } from "./edit-source.js";
import { isWithin } from "./links.js";
import { callsIn, includesIn, type ModuleCall } from "./module-calls.js";
import { foldersOf } from "./path-pattern.js";
import { type CodeFile, isModuleFile, type Repository } from "./repository.js";
import { withoutComments } from "./splice.js";

/** How a module is made: the calls from its own up to that in a root module, which nothing calls. */
export interface ModuleInstance {
  /** Innermost first. */
  readonly calls: readonly ModuleCall[];
  /** Why it is not made exactly once, as a sentence with its places; null when it is. */
  readonly problem: InstanceProblem | null;
}

/** `isUnknown`: the repository cannot be looked through. */
interface InstanceProblem {
  readonly code: "ambiguous" | "not-proven";
  readonly message: string;
  readonly isUnknown: boolean;
}

/**
 * Finds how the module of a file is made in its repository. Each way to make it more than once counts: calls, `count` and
 * `for_each` of calls, those of modules that call it, links, values of variables for more than one run, and workspaces.
 */
export async function findInstance(
  repository: Repository,
  path: string,
  named: string | undefined,
): Promise<ModuleInstance> {
  const calls: ModuleCall[] = [];
  const problem = (code: InstanceProblem["code"], message: string, isUnknown = false): ModuleInstance => ({
    calls,
    problem: { code, message, isUnknown },
  });
  const link = linkTo(repository, path);
  if (link !== null) return problem("ambiguous", `${path} is also reached over the symlink ${link}. ${LOSS}`);
  const code = await repository.code();
  if ("fault" in code)
    return problem("ambiguous", `The repository cannot be looked through: ${code.fault}. ${UNKNOWN}`, true);
  const files = code.files
    .filter(({ path: each, text }) => isTelling(each, text))
    .map((file) => readCode(repository, file));
  const all = files.flatMap((whole) => callsIn(repository, named, whole));
  let folder = dirname(path);
  for (;;) {
    const found = all.filter((call) => !calls.includes(call) && call.calls(folder));
    const [call, other] = found;
    const own = runTwice(repository, files, folder, call !== undefined);
    if (call === undefined) return own === null ? { calls, problem: null } : problem("ambiguous", own);
    if (other !== undefined) return problem("ambiguous", `${called(folder)} at ${at(call)} and ${at(other)}. ${LOSS}`);
    if (call.times === "many")
      return problem("ambiguous", `${called(folder)} at ${at(call)}, which may make it more than once. ${LOSS}`);
    if (call.times === "none")
      return problem("not-proven", `${called(folder)} at ${at(call)}, which does not make it. ${NOTHING}`);
    calls.push(call);
    const included = includers(repository, files, call);
    if (included !== null)
      return problem("ambiguous", `${called(folder)} at ${at(call)}, which is included at ${included}. ${LOSS}`);
    if (own !== null) return problem("ambiguous", own);
    if (call.isIncluded) return { calls, problem: null };
    folder = dirname(call.block.file.path);
  }
}

const LOSS = "The edit would change lines that nothing was measured for.";
const UNKNOWN = "It may use the module of the source more than once.";
const NOTHING = "The edit would change nothing.";

function called(folder: string): string {
  return `The module in ${folder === "." ? "the repository's root" : folder} is called`;
}

function at({ block }: ModuleCall): string {
  return placeOf(block.file, block);
}

/** A link to a file, or to a folder on its way, which makes it another module's; null for none. */
function linkTo({ entries, links }: Repository, path: string): string | null {
  const way = [path, ...foldersOf(path)];
  const found = entries.find((entry) => {
    if (entry.kind !== "symlink") return false;
    const target = links.follow(entry.path);
    return typeof target === "string" && way.includes(target);
  });
  return found?.path ?? null;
}

/** The first two files that include the file of a call, in words; null for one at most. */
function includers(repository: Repository, files: readonly CodeBlock[], call: ModuleCall): string | null {
  if (!call.isIncluded) return null;
  const { path } = call.block.file;
  const found = files.flatMap((whole) => includesIn(repository, whole)).filter(({ includes }) => includes(path));
  const [first, second] = found.map(({ block }) => placeOf(block.file, block));
  // A unit of its own is one more.
  if (first !== undefined && basename(path) === "terragrunt.hcl") return first;
  return second === undefined ? null : `${first} and ${second}`;
}

/** Why the module of a folder is run more than once by itself, with its places; null when it is not. */
function runTwice(
  repository: Repository,
  files: readonly CodeBlock[],
  folder: string,
  isCalled: boolean,
): string | null {
  const own = files.filter(({ file: { path } }) => dirname(path) === folder);
  const blocks = own.filter(({ file }) => isModuleFile(file.path)).flatMap((whole) => whole.blocks);
  const terraform = blocks.filter(({ type }) => type === "terraform").flatMap((block) => block.blocks);
  const workspaces = terraform.flatMap((block) => block.blocks).find(isOfMany);
  if (workspaces !== undefined)
    return `${manyTimes(folder)}: ${placeOf(workspaces.file, workspaces)} has many workspaces. ${LOSS}`;
  const workspace = own.map(({ file }) => ({ file, start: workspaceIn(repository, file) }));
  const used = workspace.find(({ start }) => start >= 0);
  if (used !== undefined) return `${manyTimes(folder)}: ${placeOf(used.file, used)} tells workspaces apart. ${LOSS}`;
  const deployments = own.flatMap((whole) => whole.blocks.filter(({ type }) => type === "deployment"));
  const values = valuesFor(files, folder, blocks);
  const [first, second] = [...deployments, ...values];
  if (first !== undefined && second !== undefined) {
    return `${manyTimes(folder)}: with ${placeOf(first.file, first)} and ${placeOf(second.file, second)}. ${LOSS}`;
  }
  const root = terraform.find(({ type }) => type === "backend" || type === "cloud") ?? first;
  return isCalled && root !== undefined
    ? `The module in ${folder} is called, and run by itself: ${placeOf(root.file, root)} is of a root module. ${LOSS}`
    : null;
}

function manyTimes(folder: string): string {
  return `The module in ${folder === "." ? "the repository's root" : folder} may be run more than once`;
}

function isOfMany({ type, attributes }: CodeBlock): boolean {
  return type === "workspaces" && (attributes.has("tags") || attributes.has("prefix"));
}

/** Where a file asks which workspace it is run in; below 0 for nowhere. */
function workspaceIn(repository: Repository, file: CodeFile): number {
  if (!WORKSPACE.test(file.text)) return -1;
  const root = repository.parse(file);
  return (root === null ? file.text : withoutComments(file.text, root)).search(WORKSPACE);
}

const WORKSPACE = /\bterraform\.workspace\b/;

/** Whether a file may tell how modules are made: the others are not parsed. */
function isTelling(path: string, text: string): boolean {
  return (
    /\.tfvars(\.json)?$/.test(path) || /\b(source|include|deployment|workspaces?|backend|cloud|variable)\b/.test(text)
  );
}

/**
 * Files of values that a run has to be given by name, so that each is another run: those below a root module, and those
 * below no module that give it variables. What Terraform reads by itself is of each run.
 */
function valuesFor(files: readonly CodeBlock[], folder: string, blocks: readonly CodeBlock[]): readonly CodeBlock[] {
  const modules = new Set(files.filter(({ file }) => isModuleFile(file.path)).map(({ file }) => dirname(file.path)));
  const declared = new Set(blocks.filter(({ type }) => type === "variable").map(({ labels }) => labels[0]));
  return files.filter(({ file: { path }, attributes }) => {
    if (!/\.tfvars(\.json)?$/.test(path) || /(^|\/)terraform\.tfvars|\.auto\.tfvars/.test(path)) return false;
    const owner = [...foldersOf(path), "."].find((each) => modules.has(each));
    if (owner !== undefined) return owner === folder && isWithin(path, folder);
    return [...attributes.keys()].some((name) => declared.has(name));
  });
}
