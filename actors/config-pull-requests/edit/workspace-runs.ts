import { dirname } from "node:path";
import { isMap, isSeq, LineCounter, parseDocument } from "yaml";
import type { CodeBlock } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { toHolder, toInner, toText } from "./hcl-syntax.js";
import { type ModuleCall, toTimes } from "./module-calls.js";
import { globbed } from "./path-parts.js";
import { mayBe, toPattern } from "./path-pattern.js";
import { readPath } from "./read-paths.js";
import type { Repository } from "./repository.js";

/** Resources that run a root module in a workspace, with the attribute for the module's folder. */
const RUNNERS: ReadonlyMap<string, string> = new Map([
  ["tfe_workspace", "working_directory"],
  ["scalr_workspace", "working_directory"],
  ["spacelift_stack", "project_root"],
  ["env0_template", "path"],
  ["harness_platform_workspace", "repository_path"],
  ["google_infra_manager_deployment", "directory"],
  ["aws_codebuild_project", "buildspec"],
  ["kubernetes_manifest", "manifest"],
]);
/**
 * Matches the attributes of `RUNNERS` that a resource must have to run a module of the repository. A resource with a
 * `vcs_repo` block can also run a module without such an attribute.
 */
const NEEDS_FOLDER = /^(working_directory|directory|buildspec|manifest)$/;
/** The arguments for the root module's folder in calls of external modules that create a workspace. */
const CALL_FOLDERS = ["working_directory", "project_root"];
/** Matches the text of a file that may contain a resource or call that runs root modules. */
export const RUNS = new RegExp([...RUNNERS.keys(), ...CALL_FOLDERS, "env0_environment"].join("|"));
/** Files that list the root modules for a tool to run, each with its folder as `dir`. */
const PROJECT_FILES = ["atlantis.yaml", "digger.yml", "digger.yaml"];

/**
 * Returns where the root module in a folder is run in several workspaces, as text for a message: two places, or one
 * place that may start several runs. Null if there is no such place. A workspace that a module creates counts once for
 * each call of that module.
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
  // The same run may be in both lists, so count two runs only if both are in the same list.
  for (const places of [runners.map(placeOf), await listProjects(repository, folder)]) {
    const [first, second] = places;
    if (second !== undefined) return `${first} and ${second}`;
  }
  return null;
}

/**
 * If all runs of the root module in a folder use other branches than the target branch of the edit, returns the first
 * run's branch and place, as text for a message. Returns null if a run may use the target branch, or if there is no
 * run. If `branch` is undefined, the target branch may be `main` or `master`.
 */
export function otherBranch(
  repository: Repository,
  files: readonly CodeBlock[],
  of: {
    readonly folder: string;
    readonly named: string | undefined;
    readonly calls: readonly ModuleCall[];
    readonly branch: string | undefined;
  },
): string | null {
  const { folder, named, branch } = of;
  const runs = files
    .flatMap(({ blocks }) => blocks)
    .filter((block) => toFolderName(block) !== undefined && !isOfOther(block, named))
    .flatMap((block) =>
      runsOf(repository, block, { files, calls: of.calls }).filter((run) => mayRun(repository, run, folder)),
    );
  const branches = runs.map(({ resource }) => {
    const written = findAttribute(resource, ["branch", "repository_branch", "revision", "ref"]);
    return /^"(?:refs\/heads\/)?([^"\\$%]+)"$/.exec(written ?? "")?.[1];
  });
  const isOther = (each: string | undefined) =>
    each !== undefined && (branch === undefined ? !/^(main|master)$/.test(each) : each !== branch);
  const [first] = runs;
  return first !== undefined && branches.every(isOther) ? `${branches[0]}, at ${placeOf(first)}` : null;
}

/** A run of a root module. A resource starts the run; one chain of module calls creates the resource. */
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
function toFolderName({ type, labels, attributes }: CodeBlock): string | undefined {
  if (type === "resource") return RUNNERS.get(labels[0] ?? "");
  const isOther = type === "module" && !/^"\.\.?\//.test(attributes.get("source") ?? '"./');
  return isOther ? CALL_FOLDERS.find((name) => attributes.has(name)) : undefined;
}

/**
 * Returns the expression of the root module's folder in a resource or module call; undefined if the block has no such
 * expression.
 */
function folderOf(resource: CodeBlock): string | undefined {
  const name = toFolderName(resource) ?? "";
  const written = findAttribute(resource, [name]);
  if (name === "buildspec") return written?.replace(/\/?[^/"]*"$/, '"');
  if (name !== "manifest") return written;
  const isRun = /\bkind"?\s*[=:]\s*"(Terraform|OpenTofu|Workspace|Stack|Configuration)"/.test(written ?? "");
  return isRun
    ? (/\b(?:path|workingDirectory)"?\s*[=:]\s*("[^"]*"|[\w.]+)/.exec(written ?? "")?.[1] ?? UNKNOWN)
    : undefined;
}

/**
 * Returns the value of the first attribute that has one of the names, in the block or else in its nested blocks;
 * undefined if there is none.
 */
function findAttribute({ attributes, blocks }: CodeBlock, names: readonly string[]): string | undefined {
  const own = names.map((name) => attributes.get(name)).find((each) => each !== undefined);
  if (own !== undefined) return own;
  return blocks.map((each) => findAttribute(each, names)).find((each) => each !== undefined);
}

interface Callers {
  readonly files: readonly CodeBlock[];
  readonly calls: readonly ModuleCall[];
}

/** Maximum length of a chain of calls to follow, and maximum number of runs of one resource. */
const [MAX_CALLS, MAX_RUNS] = [5, 100];

function runsOf(repository: Repository, resource: CodeBlock, { files, calls }: Callers): readonly Run[] {
  let runs = instancesOf(repository, resource, files);
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

/**
 * Returns the runs that a resource creates: one run for each folder that a literal `for_each` gives, or one for each
 * `env0_environment` of an `env0_template`. Any other resource creates one run.
 */
function instancesOf(repository: Repository, resource: CodeBlock, files: readonly CodeBlock[]): readonly Run[] {
  const written = folderOf(resource);
  const folders = written === undefined ? null : eachFolder(repository, resource, { written, files });
  if (folders !== null) return folders.map((folder) => ({ resource, block: resource, folder, isMany: false }));
  const isMany = toTimes(repository, resource) === "many" && !isApart(resource, written);
  const own = { resource, block: resource, folder: written, isMany };
  const address = `env0_template.${resource.labels[1]}.`;
  const environments = files
    .flatMap(({ blocks }) => blocks)
    .filter(
      ({ labels, attributes }) =>
        labels[0] === "env0_environment" && attributes.get("template_id")?.startsWith(address),
    );
  if (resource.labels[0] !== "env0_template" || environments.length === 0) return [own];
  return environments.map((block) => ({ ...own, block, isMany: isMany || toTimes(repository, block) === "many" }));
}

/**
 * Returns the folder for each element of a literal `for_each`, or of the local value that it refers to. Null if a
 * folder is unknown, or if the folder does not depend on the element.
 */
function eachFolder(
  { syntax }: Repository,
  resource: CodeBlock,
  { written, files }: { readonly written: string; readonly files: readonly CodeBlock[] },
): readonly string[] | null {
  const given = resource.attributes.get("for_each");
  const local = /^local\.([\w-]+)$/.exec(given ?? "")?.[1];
  const locals = files
    .filter(({ file: { path } }) => dirname(path) === dirname(resource.file.path))
    .flatMap(({ blocks }) => blocks.filter(({ type, attributes }) => type === "locals" && attributes.has(local ?? "")));
  const values = local === undefined ? given : locals.length === 1 ? locals[0]?.attributes.get(local) : undefined;
  if (values === undefined || !/\beach\./.test(written)) return null;
  const text = `_ = ${values}\n`;
  const [member] = toHolder(text, syntax.parse(text)).members;
  const object = member === undefined ? member : toInner(member.value);
  if (object?.type !== "object") return null;
  const folders = toHolder(text, object).members.map(({ name, value }) => {
    const inner = toInner(value);
    const fields = inner.type === "object" ? toHolder(text, inner).members : [];
    const textOf = (field: string | undefined): string | undefined => {
      const node = field === undefined ? value : fields.find((each) => each.name === field)?.value;
      return node === undefined ? undefined : /^"([^"\\$%]*)"$/.exec(toText(text, node).trim())?.[1];
    };
    let isKnown = name !== null;
    const put = (_: string, key: string, field: string | undefined): string => {
      const found = key === "key" ? name : textOf(field);
      isKnown &&= typeof found === "string";
      return found ?? "";
    };
    const folder = /^each\./.test(written)
      ? `"${written.replace(/^each\.(key|value)(?:\.([\w-]+))?$/, put)}"`
      : written.replace(/\$\{\s*each\.(key|value)(?:\.([\w-]+))?\s*\}/g, put);
    return isKnown && !folder.includes("each.") ? folder : null;
  });
  const known = folders.filter((folder) => folder !== null);
  return known.length === folders.length ? known : null;
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
  // `each` and `count` here belong to the module's own loops, not to the call, so their values are unknown.
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

/**
 * Whether a resource may run the root module in a folder. True for resource types that are not known to run root
 * modules.
 */
export function mayRunIn(repository: Repository, resource: CodeBlock, folder: string): boolean {
  const run = { resource, block: resource, folder: folderOf(resource), isMany: false };
  return toFolderName(resource) === undefined || mayRun(repository, run, folder);
}

/** Whether a run may run the root module in a folder. */
function mayRun({ syntax }: Repository, { resource, folder: written }: Run, folder: string): boolean {
  // A workspace without a folder and without a repository can be started from anywhere, so it does not count.
  const isPlaced = written !== undefined || !NEEDS_FOLDER.test(toFolderName(resource) ?? "");
  if (!isPlaced && !resource.blocks.some(isOfRepository)) return false;
  const { parts } = written === undefined || written === "null" ? { parts: [] } : readPath(syntax, written);
  return mayBe(toPattern(".", ["/", ...parts]), folder);
}

function isOfRepository({ type, labels }: CodeBlock): boolean {
  return type === "vcs_repo" || labels[0] === "vcs_repo";
}

/** Whether a block runs modules of another repository. */
function isOfOther(block: CodeBlock, named: string | undefined): boolean {
  const address = findAttribute(block, ["identifier", "repository", "repo", "location"]) ?? "";
  const [, written] = /^"(?:[^"]*(?::\/\/|@)[^"/:]+[/:])?([^"\\$%]+?)(?:\.git)?"$/.exec(address) ?? [];
  if (written === undefined || named === undefined) return false;
  return !`/${named}`.toLowerCase().endsWith(`/${written.toLowerCase()}`);
}

/** Finds a folder's projects in the files of tools that run root modules, and returns the places of these projects. */
async function listProjects(repository: Repository, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of PROJECT_FILES.filter((each) => repository.entries.some((entry) => entry.path === each))) {
    const text = await repository.read(path);
    for (const { dir, line } of typeof text === "string" ? readProjects(text) : []) {
      if (
        mayBe(
          toPattern(
            ".",
            ["/", ...globbed(dir)].map((part) => (typeof part === "string" ? part : null)),
          ),
          folder,
        )
      )
        found.push(`${path}:${line}`);
    }
  }
  return found;
}

function readProjects(text: string): readonly { readonly dir: string; readonly line: number }[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  const lists = [["projects"], ["generate_projects", "blocks"]].map((path) => document.getIn(path));
  return lists
    .flatMap((list) => (isSeq(list) ? list.items : []))
    .flatMap((item) => {
      const dir = isMap(item) ? (item.get("dir") ?? item.get("include") ?? item.get("path")) : undefined;
      return isMap(item) && typeof dir === "string" ? [{ dir, line: lines.linePos(item.range?.[0] ?? 0).line }] : [];
    });
}
