import { dirname } from "node:path";
import { isMap, isSeq, LineCounter, parseDocument } from "yaml";
import type { CodeBlock } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { type ModuleCall, toTimes } from "./module-calls.js";
import { mayBe, toPattern } from "./path-pattern.js";
import { readPath } from "./read-paths.js";
import type { Repository } from "./repository.js";

/** Resources that run a root module in a workspace, with the attribute for the module's folder. */
const RUNNERS: ReadonlyMap<string, string> = new Map([
  ["tfe_workspace", "working_directory"],
  ["scalr_workspace", "working_directory"],
  ["spacelift_stack", "project_root"],
]);
/** Matches the text of a file that has such a resource. */
export const RUNS = new RegExp([...RUNNERS.keys()].join("|"));
/** Files that list the root modules for a tool to run, each with its folder as `dir`. */
const PROJECT_FILES = ["atlantis.yaml", "digger.yml", "digger.yaml"];

/**
 * Returns where the root module in a folder is run in several workspaces, as text for a message: two places, or one
 * place that may start several runs. Null if there is no such place. A workspace in a module is started by each of the
 * module's calls.
 */
export async function severalRuns(
  repository: Repository,
  files: readonly CodeBlock[],
  of: { readonly folder: string; readonly named: string | undefined; readonly calls: readonly ModuleCall[] },
): Promise<string | null> {
  const { folder, named, calls } = of;
  const runners = files
    .flatMap(({ blocks }) => blocks)
    .filter((block) => toFolderName(block) !== undefined && !isOfOther(block, named))
    .flatMap((block) => runsOf(repository, block, { files, calls }).filter((run) => mayRun(repository, run, folder)));
  const many = runners.find(({ isMany }) => isMany);
  if (many !== undefined) return placeOf(many);
  // The same run may be in both lists, so only two places of one list are two runs.
  for (const places of [runners.map(placeOf), await listProjects(repository, folder)]) {
    const [first, second] = places;
    if (second !== undefined) return `${first} and ${second}`;
  }
  return null;
}

/** A resource that runs a root module, as one chain of module calls creates it. */
interface Run {
  readonly resource: CodeBlock;
  /** The resource, or the call of its module that distinguishes the run from others. */
  readonly block: CodeBlock;
  /** The expression of the root module's folder, with the arguments of the calls; undefined if there is none. */
  readonly folder: string | undefined;
  /** Whether the block may create several runs of one folder. */
  readonly isMany: boolean;
}

function placeOf({ block }: Run): string {
  return toPlace(block.file, block);
}

/** Returns the name of the attribute for the root module's folder; undefined if a block runs no root module. */
function toFolderName({ type, labels }: CodeBlock): string | undefined {
  return type === "resource" ? RUNNERS.get(labels[0] ?? "") : undefined;
}

interface Callers {
  readonly files: readonly CodeBlock[];
  readonly calls: readonly ModuleCall[];
}

/** Maximum length of a chain of calls to follow, and maximum number of runs of one resource. */
const [MAX_CALLS, MAX_RUNS] = [5, 100];

function runsOf(repository: Repository, resource: CodeBlock, { files, calls }: Callers): readonly Run[] {
  const written = resource.attributes.get(toFolderName(resource) ?? "");
  const isMany = toTimes(repository, resource) === "many" && !isApart(resource, written);
  let runs: readonly Run[] = [{ resource, block: resource, folder: written, isMany }];
  const found: Run[] = [];
  let modules = new Map<Run, string>(runs.map((run) => [run, dirname(resource.file.path)]));
  for (let hops = 0; hops < MAX_CALLS && modules.size > 0 && modules.size < MAX_RUNS; hops += 1) {
    const next = new Map<Run, string>();
    for (const [run, module] of modules) {
      const callers = calls.filter((call) => dirname(call.block.file.path) !== module && call.calls(module));
      const own = files.filter(({ file: { path } }) => dirname(path) === module).flatMap(({ blocks }) => blocks);
      if (callers.length === 0) found.push(run);
      for (const { block, times } of callers.filter((call) => call.times !== "none")) {
        const folder = withArguments(run.folder, block, own);
        const repeats = times === "many" && !isApart(block, folder);
        const at = run.isMany ? run.block : block;
        next.set({ ...run, block: at, folder, isMany: run.isMany || repeats }, dirname(block.file.path));
      }
    }
    modules = next;
    runs = [...found, ...next.keys()];
  }
  return runs;
}

/** Whether the instances of a block have different folders. */
function isApart({ attributes }: CodeBlock, folder = ""): boolean {
  const isSet = /^\(*\s*toset\s*\(/.test(attributes.get("for_each") ?? "");
  return /\beach\.key\b|\bcount\.index\b/.test(folder) || (isSet && /\beach\.value\b/.test(folder));
}

/** Replaces the variables in the expression of a folder by the arguments of a call, or by their defaults. */
function withArguments(folder: string | undefined, call: CodeBlock, blocks: readonly CodeBlock[]): string | undefined {
  const toValue = (name: string): string => {
    const variable = blocks.find(({ type, labels }) => type === "variable" && labels[0] === name);
    return (
      call.attributes.get(name) ?? (call.type === "module" ? variable?.attributes.get("default") : null) ?? UNKNOWN
    );
  };
  // The elements of the module's own loops are not those of the call.
  const own = folder?.replace(/\b(each\.(key|value)|count\.index)\b/g, UNKNOWN);
  const [, whole] = /^(?:"\$\{\s*)?var\.([\w-]+)(?:\s*\}")?$/.exec(own ?? "") ?? [];
  if (whole !== undefined) return toValue(whole);
  return own?.replace(/\$\{\s*var\.([\w-]+)\s*\}/g, (_, name: string) => {
    const value = toValue(name);
    return /^"([^"\\]*)"$/.exec(value)?.[1] ?? `\${${value}}`;
  });
}

/** An expression that is never known. */
const UNKNOWN = "local.unknown";

/** Whether a run may be of the root module in a folder. */
function mayRun({ syntax }: Repository, { resource, folder: written }: Run, folder: string): boolean {
  // A workspace without a folder and without a repository is run from anywhere.
  const isPlaced = written !== undefined || toFolderName(resource) !== "working_directory";
  if (!isPlaced && !resource.blocks.some(isOfRepository)) return false;
  const { parts } = written === undefined || written === "null" ? { parts: [] } : readPath(syntax, written);
  return mayBe(toPattern(".", ["/", ...parts]), folder);
}

function isOfRepository({ type, labels }: CodeBlock): boolean {
  return type === "vcs_repo" || labels[0] === "vcs_repo";
}

/** Whether a block runs modules of another repository. */
function isOfOther({ attributes, blocks }: CodeBlock, named: string | undefined): boolean {
  const identifier = blocks.find(({ type }) => type === "vcs_repo")?.attributes.get("identifier");
  const [, written] = /^"([^"\\$%]+)"$/.exec(identifier ?? attributes.get("repository") ?? "") ?? [];
  if (written === undefined || named === undefined) return false;
  return !`/${named}`.toLowerCase().endsWith(`/${written.toLowerCase()}`);
}

/** Returns the places of the projects in a folder in the files of tools that run root modules. */
async function listProjects(repository: Repository, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of PROJECT_FILES.filter((each) => repository.entries.some((entry) => entry.path === each))) {
    const text = await repository.read(path);
    for (const { dir, line } of typeof text === "string" ? readProjects(text) : []) {
      if (mayBe(toPattern(".", ["/", dir]), folder)) found.push(`${path}:${line}`);
    }
  }
  return found;
}

function readProjects(text: string): readonly { readonly dir: string; readonly line: number }[] {
  const lines = new LineCounter();
  const root = parseDocument(text, { lineCounter: lines, logLevel: "silent" }).get("projects");
  return (isSeq(root) ? root.items : []).flatMap((item) => {
    const dir = isMap(item) ? item.get("dir") : undefined;
    return isMap(item) && typeof dir === "string" ? [{ dir, line: lines.linePos(item.range?.[0] ?? 0).line }] : [];
  });
}
