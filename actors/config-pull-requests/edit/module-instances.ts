import { basename, dirname } from "node:path";
import { otherRunBranch } from "./branch-runs.js";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { changerIn, copierOf, type GeneratedCode, readGenerated } from "./generated-code.js";
import { deploymentsIn, isDestroyed, pinOf, whyIdle } from "./idle-module.js";
import { isJson } from "./json-code.js";
import { callsIn, generatedCallsIn, includesIn, type ModuleCall } from "./module-calls.js";
import { listFolders } from "./path-pattern.js";
import { isModuleFile, isNamedValues, isOverride, isValues, moduleFolders, type Repository } from "./repository.js";
import { readRunFiles } from "./run-files.js";
import { applyingCommand, severalSettings } from "./run-settings.js";
import { sourceCopier } from "./source-copies.js";
import type { WantedStation } from "./station-edit.js";
import { readUnit, unitsOf } from "./unit-files.js";
import { isFlat, isReadByEachRun, isValuesFor } from "./variable-values.js";
import { otherBranch, RUNS, severalRuns } from "./workspace-runs.js";
import { manyStates, manyWorkspaces, WORKSPACE_SETTINGS, workspaceIn } from "./workspaces.js";
import { readWritten, writtenLine } from "./written-code.js";
import { severalYamlRuns } from "./yaml-runs.js";

/**
 * How Terraform instantiates a module: the chain of calls from the root module to the module. No other module calls the
 * root module.
 */
export interface ModuleInstance {
  /** Innermost call first. */
  readonly calls: readonly ModuleCall[];
  /**
   * Why the module may have no instance or several instances, or may be changed by other code; null if there is no
   * problem.
   */
  readonly problem: InstanceProblem | null;
}

/** `message` is a sentence that contains the places. `isUnknown`: the repository could not be fully searched. */
interface InstanceProblem {
  readonly code: "ambiguous" | "not-proven";
  readonly message: string;
  readonly isUnknown: boolean;
}

/**
 * Finds how Terraform instantiates the module of a file. Reports a problem in these cases:
 *
 * - The repository cannot be searched, or no run applies the module.
 * - A call creates no instance, or uses another commit.
 * - Generated code or other files of a Terragrunt unit may change the module.
 * - The module may have more than one instance, because the repository has one of these:
 *   - two calls, a call with `count` or `for_each` that may give more than one, a call that an override file may
 *     change, or a caller that has more than one instance itself;
 *   - more than one Terragrunt unit, stack unit or stack component that calls it, or two deployments of a stack;
 *   - a symlink to the file or to a folder above it;
 *   - a backend with many workspaces, a reference to `terraform.workspace`, or two files that are passed to runs by
 *     name: variable files that Terraform does not load automatically, and backend settings;
 *   - resources and files of tools that run the module in several workspaces;
 *   - a call, although the module is also a root module: it has a backend, a lock file or variable files.
 */
export async function findInstance(
  repository: Repository,
  path: string,
  { repository: named, branch, ...line }: Pick<WantedStation, "repository" | "branch" | "lineKey" | "team">,
): Promise<ModuleInstance> {
  const calls: ModuleCall[] = [];
  const problem = (code: InstanceProblem["code"], message: string, isUnknown = false): ModuleInstance => ({
    calls,
    problem: { code, message, isUnknown },
  });
  const link = linkTo(repository, path);
  if (link !== null) return problem("ambiguous", `${path} is also reached through the symlink ${link}. ${LOSS}`);
  const code = await repository.code();
  if ("fault" in code)
    return problem("ambiguous", `The repository cannot be searched: ${code.fault}. ${UNKNOWN}`, true);
  const copier = copierOf(repository, code.files, path);
  if (copier !== null)
    return problem("ambiguous", `The hook at ${copier} may copy ${path} into another module. ${LOSS}`);
  const copy = await sourceCopier(repository, code.files, path);
  if (copy !== null) return problem("ambiguous", `${path} may be copied into another module at ${copy}. ${LOSS}`);
  const files = code.files
    .filter(({ path: each, text }) => isTelling(each, text))
    .map((file) => readCode(repository, file));
  const generated = await readGenerated(repository, code.files);
  const written = await readWritten(repository, code.files);
  const own = writtenLine(written, line);
  if (own !== null) return problem("ambiguous", `Code that is written at ${own} may be the line's resource. ${LOSS}`);
  const all = [
    ...files.flatMap((whole) => callsIn(repository, named, whole)),
    ...[...generated, ...written].flatMap(({ whole }) => generatedCallsIn(repository, named, whole)),
  ];
  for (let folder = dirname(path); ; ) {
    const reached = all.filter((call) => !calls.includes(call) && call.calls(folder));
    const creating = reached.filter(({ block }) => block.type !== "removed");
    const found = creating.length > 0 ? creating : reached;
    const [call] = found;
    const runs = await severalRuns(repository, files, { folder, named, calls: all });
    const own =
      runs === null
        ? await runTwice(repository, files, { folder, isCalled: call !== undefined })
        : `${manyTimes(folder)}: in the workspaces at ${runs}. ${LOSS}`;
    if (call === undefined) {
      const found = own ?? (await settingsProblem(repository, folder));
      const isUnknown = own === null && found !== null && "fault" in (await readRunFiles(repository));
      const why = found ?? (await whyChanged(repository, files, { path, calls, all, generated }));
      if (why !== null) return problem("ambiguous", why, isUnknown);
      const idle = await whyNotRun(repository, files, { path, calls, all, folder, named, branch });
      return idle === null ? { calls, problem: null } : problem("not-proven", `${idle} ${NOTHING}`);
    }
    const other = linkTo(repository, dirname(call.block.file.path));
    const why =
      other === null
        ? whyMore(repository, files, found)
        : `${at(call)}, which is also reached through the symlink ${other}`;
    if (why !== null) return problem("ambiguous", `${called(folder)} at ${why}. ${LOSS}`);
    if (call.times === "none")
      return problem("not-proven", `${called(folder)} at ${at(call)}, which creates no instance of it. ${NOTHING}`);
    const pin = await pinOf(repository, call, branch);
    if (pin !== null)
      return problem("not-proven", `${called(folder)} at ${at(call)}, which uses it at the ref ${pin}. ${NOTHING}`);
    calls.push(call);
    if (own !== null) return problem("ambiguous", own);
    folder = dirname(call.block.file.path);
  }
}

/** Returns why commands and files may run the root module in a folder more than once; null if there is no reason. */
async function settingsProblem(repository: Repository, folder: string): Promise<string | null> {
  const found = (await severalSettings(repository, [folder])) ?? (await severalYamlRuns(repository, folder));
  return found === null ? null : `${manyTimes(folder)}: with the settings at ${found}. ${LOSS}`;
}

/** Returns why no run applies the module at the branch, as a sentence; null if a run may apply it. */
async function whyNotRun(
  repository: Repository,
  files: readonly CodeBlock[],
  of: {
    readonly path: string;
    readonly calls: readonly ModuleCall[];
    readonly all: readonly ModuleCall[];
    readonly folder: string;
    readonly named: string | undefined;
    readonly branch: string | undefined;
  },
): Promise<string | null> {
  const { calls, all, folder, named, branch } = of;
  const idle = await whyIdle(repository, files, { calls, folders: foldersOf(of.path, calls) });
  if (idle !== null) return idle;
  const other =
    otherBranch(repository, files, { folder, named, calls: all, branch }) ??
    (await otherRunBranch(repository, folder, branch));
  return other === null ? null : `Only the branch ${other}, is run.`;
}

/**
 * Returns why a module that is called once may still run several times or be changed by other code, as text for a
 * message; null if there is no reason.
 */
async function whyChanged(
  repository: Repository,
  files: readonly CodeBlock[],
  of: {
    readonly path: string;
    readonly calls: readonly ModuleCall[];
    readonly all: readonly ModuleCall[];
    readonly generated: readonly GeneratedCode[];
  },
): Promise<string | null> {
  const folders = foldersOf(of.path, of.calls);
  const workspace = workspaceBelow(repository, files, { all: of.all, folders });
  const root = folders.at(-1) ?? ".";
  if (workspace !== null) return `${manyTimes(root)}: ${workspace} depends on the workspace. ${LOSS}`;
  const units = [];
  for (const own of unitsOf(files, of.calls, folders)) {
    const unit = await readUnit(repository, own);
    const state = [unit.own, ...unit.included].flatMap(({ blocks }) => blocks).find(hasWorkspaceSetting);
    if (state !== undefined) return `${manyTimes(root)}: ${toPlace(state.file, state)} has many workspaces. ${LOSS}`;
    const { path } = unit.own.file;
    // Terragrunt copies the files in the unit's folder into the module. Stacks of Terraform do not.
    const copies = !/\.tf(component|stack)\.(hcl|json)$/.test(path) && dirname(path) !== dirname(of.path);
    const added = repository.entries.find((each) => dirname(each.path) === dirname(path) && isModuleFile(each.path));
    if (copies && added !== undefined) return `${path}:1 runs the module with the other file ${added.path}:1. ${LOSS}`;
    units.push(path, ...unit.included.map(({ file }) => file.path));
  }
  const changer = changerIn(repository, of.generated, { folders, units, files });
  return changer === null ? null : `Code that is generated at ${changer} may change the module. ${LOSS}`;
}

/** Returns the folders of a file's module and of the module's callers, innermost first. */
function foldersOf(path: string, calls: readonly ModuleCall[]): readonly string[] {
  return [path, ...calls.map(({ block }) => block.file.path)].map((each) => dirname(each));
}

function hasWorkspaceSetting({ type, attributes }: CodeBlock): boolean {
  const config = attributes.get("config") ?? "";
  const isPerRun = /\b(key|prefix|path)"?\s*[=:][^\n]*\bget_env\(/.test(config);
  return type === "remote_state" && (isPerRun || WORKSPACE_SETTINGS.some((name) => config.includes(name)));
}

/**
 * Returns the place of a reference to the workspace in a module that the modules in the folders call, directly or
 * indirectly; null if there is none.
 */
function workspaceBelow(
  repository: Repository,
  files: readonly CodeBlock[],
  { all, folders }: { readonly all: readonly ModuleCall[]; readonly folders: readonly string[] },
): string | null {
  const used = files
    .filter(({ file: { path } }) => isModuleFile(path) && !folders.includes(dirname(path)))
    .map(({ file }) => ({ file, start: workspaceIn(repository, file) }))
    .filter(({ start }) => start >= 0);
  const modules = used.length === 0 ? new Set<string>() : moduleFolders(repository.entries.map(({ path }) => path));
  const reached = new Set(all.length * modules.size > MAX_PAIRS ? modules : folders);
  for (const folder of reached) {
    for (const call of all.filter(({ block }) => dirname(block.file.path) === folder))
      for (const each of modules) if (!reached.has(each) && call.calls(each)) reached.add(each);
  }
  const found = used.find(({ file }) => reached.has(dirname(file.path)));
  return found === undefined ? null : toPlace(found.file, found);
}

/**
 * Returns why the calls may instantiate a module more than once, as the rest of a sentence with the places; null if
 * they instantiate it at most once.
 */
function whyMore(repository: Repository, files: readonly CodeBlock[], calls: readonly ModuleCall[]): string | null {
  const [call, other] = calls;
  if (call === undefined) return null;
  if (other !== undefined) return `${at(call)} and ${at(other)}`;
  if (call.times === "many") return `${at(call)}, which may create several instances of it`;
  const { block } = call;
  const override = files
    .filter(({ file: { path } }) => isOverride(path) && dirname(path) === dirname(block.file.path))
    .flatMap(({ blocks }) => blocks)
    .find(({ type, labels }) => type === block.type && labels[0] === block.labels[0]);
  if (override !== undefined) return `${at(call)}, which ${toPlace(override.file, override)} may override`;
  const included = includers(repository, files, call);
  return included === null ? null : `${at(call)}, which is included at ${included}`;
}

/** Maximum number of pairs of a call and a module to compare. If there are more, every module counts as called. */
const MAX_PAIRS = 1_000_000;

const LOSS = "The edit would also change lines that were not measured.";
const UNKNOWN = "It may use the module of the source more than once.";
const NOTHING = "The edit would change nothing.";

function called(folder: string): string {
  return `The module in ${folder === "." ? "the repository's root" : folder} is called`;
}

function at({ block }: ModuleCall): string {
  return toPlace(block.file, block);
}

/**
 * Returns a symlink to the file or to a folder above the file; null if there is none. Such a link makes the file a part
 * of another module too.
 */
function linkTo({ entries, links }: Repository, path: string): string | null {
  const way = [path, ...listFolders(path), "."];
  const found = entries.find((entry) => {
    if (entry.kind !== "symlink") return false;
    const target = links.follow(entry.path);
    return typeof target === "string" && way.includes(target);
  });
  return found?.path ?? null;
}

/**
 * Returns the first places that include the call's file, at most two, as text for a message; null unless several units
 * use the file.
 */
function includers(repository: Repository, files: readonly CodeBlock[], call: ModuleCall): string | null {
  if (!call.isIncluded) return null;
  const { path } = call.block.file;
  const found = files.flatMap((whole) => includesIn(repository, whole)).filter(({ includes }) => includes(path));
  const [first, second] = found.map(({ block }) => toPlace(block.file, block));
  // A file named `terragrunt.hcl` is itself a unit, so a single include already makes two units.
  if (first !== undefined && basename(path) === "terragrunt.hcl") return first;
  return second === undefined ? null : `${first} and ${second}`;
}

/**
 * Returns why a module may run more than once as a root module, or why it is both called and run as a root module, with
 * the places; null if neither applies.
 */
async function runTwice(
  repository: Repository,
  files: readonly CodeBlock[],
  { folder, isCalled }: { readonly folder: string; readonly isCalled: boolean },
): Promise<string | null> {
  const own = files.filter(({ file: { path } }) => dirname(path) === folder);
  const blocks = own.filter(({ file }) => isModuleFile(file.path)).flatMap((whole) => whole.blocks);
  const terraform = blocks.filter(({ type }) => type === "terraform").flatMap((block) => block.blocks);
  const workspaces = manyWorkspaces(terraform);
  if (workspaces !== undefined)
    return `${manyTimes(folder)}: ${toPlace(workspaces.file, workspaces)} has many workspaces. ${LOSS}`;
  const workspace = own.map(({ file }) => ({ file, start: workspaceIn(repository, file) }));
  const used = workspace.find(({ start }) => start >= 0);
  if (used !== undefined) return `${manyTimes(folder)}: ${toPlace(used.file, used)} depends on the workspace. ${LOSS}`;
  const deployments = deploymentsIn(files, folder).filter((each) => !isDestroyed(each));
  const backend = terraform.find(({ type }) => type === "backend" || type === "cloud");
  const values = valuesFor(repository, files, { folder, blocks });
  const read = files.filter(({ file: { path } }) => isReadByEachRun(path, folder));
  const isKnown = (name: string): boolean => {
    const variable = blocks.find(({ type, labels }) => type === "variable" && labels[0] === name);
    const given = [...values, ...read].map(({ attributes }) => attributes.get(name));
    return [variable?.attributes.get("default"), ...given].some((each) =>
      /^("[^"$%]+"|\d+|true|false)$/.test(each ?? ""),
    );
  };
  const state = manyStates(terraform, blocks, isKnown);
  if (state !== undefined)
    return `${manyTimes(folder)}: ${toPlace(state.file, state)} has a state for each value of a variable. ${LOSS}`;
  const places = [deployments, values].flat().map((each) => toPlace(each.file, each));
  const backends = backendsFor(repository, files, { folder, backend });
  const setting = files.find(({ file: { path }, attributes }) => {
    return backends.includes(`${path}:1`) && WORKSPACE_SETTINGS.some((name) => attributes.has(name));
  });
  if (setting !== undefined) return `${manyTimes(folder)}: ${setting.file.path}:1 has many workspaces. ${LOSS}`;
  // Leave out a place that is already in the list: two blocks may have the same place, because JSON is often on one
  // line.
  const given = [...places, ...backends.filter((place) => !places.includes(place))];
  const [first, second] = given;
  if (second !== undefined) return `${manyTimes(folder)}: with ${first} and ${second}. ${LOSS}`;
  if (!isCalled) return null;
  const also = `The module in ${folder} is called by another module and also run as a root module:`;
  const root = backend === undefined ? (first ?? rootFile(repository, folder)) : toPlace(backend.file, backend);
  if (root !== undefined) return `${also} ${root} is of a root module. ${LOSS}`;
  const command = await applyingCommand(repository, folder);
  return command === null ? null : `${also} ${command} applies it. ${LOSS}`;
}

function manyTimes(folder: string): string {
  return `The module in ${folder === "." ? "the repository's root" : folder} may be run more than once`;
}

/** Whether a file may affect how modules are instantiated. Other files are not parsed. */
function isTelling(path: string, text: string): boolean {
  return (
    !isModuleFile(path) ||
    isJson(path) ||
    /\b(module|source|deployment|workspaces?|backend|cloud|variable|locals)\b/.test(text) ||
    RUNS.test(text)
  );
}

/**
 * Returns the variable files that must be passed by name to a run of the root module. Each file implies a separate run.
 * A variable file counts in two cases:
 * - This root module is the nearest module above the file.
 * - There is no module above the file, and the file sets one of the root module's variables.
 *
 * An HCL file with another ending must also have only attributes, and must always set one of these variables. Files
 * that Terraform loads automatically do not count, because they apply to every run.
 */
function valuesFor(
  { entries }: Repository,
  files: readonly CodeBlock[],
  { folder, blocks }: { readonly folder: string; readonly blocks: readonly CodeBlock[] },
): readonly CodeBlock[] {
  const modules = moduleFolders(entries.map(({ path }) => path));
  const declared = new Set(blocks.filter(({ type }) => type === "variable").map(({ labels }) => labels[0]));
  return files.filter((whole) => {
    const { path } = whole.file;
    const isFor = isValuesFor(path, folder, modules);
    const sets = () => [...whole.attributes.keys()].some((name) => declared.has(name));
    if (!isValues(path)) return isFor !== false && isNamedValues(path) && isFlat(whole) && sets();
    return modules.has(dirname(path)) && isReadByEachRun(path, dirname(path)) ? false : (isFor ?? sets());
  });
}

/**
 * Returns the places of the backend settings files that must be passed by name to a run of the root module:
 * - files with the name of backend settings;
 * - if the module has a backend: HCL files that have only attributes and set a backend argument;
 * - if that backend does not say where the state is: all HCL files that have only attributes, and configuration files
 *   with other endings.
 */
function backendsFor(
  { entries }: Repository,
  files: readonly CodeBlock[],
  { folder, backend }: { readonly folder: string; readonly backend: CodeBlock | undefined },
): readonly string[] {
  const paths = entries.filter(({ kind }) => kind !== "folder").map(({ path }) => path);
  const modules = moduleFolders(paths);
  const isPartial =
    backend?.type === "backend" && !["key", "path", "prefix"].some((each) => backend.attributes.has(each));
  const settings = files.filter((whole) => {
    const isSetting = isPartial || [...whole.attributes.keys()].some((name) => SETTING.test(name));
    return backend !== undefined && /\.hcl$/.test(whole.file.path) && isFlat(whole) && isSetting;
  });
  const named = paths.filter(
    (path) => isBackend(path) || (isPartial && /\.(conf|config|cfg|backend|tfbackend)$/.test(path)),
  );
  return [...new Set([...named, ...settings.map(({ file }) => file.path)])]
    .filter((path) => isValuesFor(path, folder, modules) === true)
    .map((path) => `${path}:1`);
}

/** Matches backend arguments that tell where the state is, or who reads the state. */
const SETTING =
  /^(bucket|key|prefix|path|region|address|organization|hostname|workspaces|conn_str|schema_name|secret_suffix|namespace|profile|role_arn|assume_role|encrypt|use_lockfile|dynamodb_table|workspace_\w+|(storage_account|container|resource_group)_name)$/;

/**
 * Whether a file has a name of backend settings, such as `core.tfbackend`, `core.backend.hcl` or `backends/core.hcl`.
 */
function isBackend(path: string): boolean {
  return /\.tfbackend(\.json)?$|(^|\/)(backends\/[^/]*|[^/]*backend[^/]*)\.(hcl|conf|config)(\.json)?$/i.test(path);
}

/** Returns the place of a file that only a root module's folder contains; undefined if there is none. */
function rootFile({ entries }: Repository, folder: string): string | undefined {
  const own = entries.filter(({ path }) => dirname(path) === folder);
  if (!own.some(({ path }) => isModuleFile(path))) return undefined;
  const found = own.find(({ path }) => isReadByEachRun(path, folder) || path.endsWith(".terraform.lock.hcl"));
  return found === undefined ? undefined : `${found.path}:1`;
}
