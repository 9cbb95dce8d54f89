import { toPlace } from "./edit-source.js";
import { isFields, isJson, readJson } from "./json-code.js";
import { type CodeFile, isValues, moduleFolders, type Repository } from "./repository.js";
import { appliesModule, appliesTo, isOpen, mayLead, type RunSetting, SETS, settingsIn } from "./run-commands.js";
import { readRunFiles, readRunTexts } from "./run-files.js";
import type { GivenValue } from "./variable-values.js";

/** The settings in all files that may run Terraform, or a clause that says why the settings are unknown. */
type Settings = { readonly settings: readonly RunSetting[] } | { readonly fault: string };

const known = new WeakMap<Repository, Promise<Settings>>();

/** Reads the settings of all files that may run Terraform. Reads each repository once. */
function readSettings(repository: Repository): Promise<Settings> {
  const found = known.get(repository) ?? searchSettings(repository);
  known.set(repository, found);
  return found;
}

async function searchSettings(repository: Repository): Promise<Settings> {
  const read = await readRunFiles(repository);
  if ("fault" in read) return read;
  const code = await repository.code();
  // Configuration files can run commands too: hooks and scripts of Terragrunt and Terramate, and provisioners.
  const plans = "fault" in code ? [] : code.files;
  const telling = [...read.files, ...plans].filter(({ text }) => SETS.test(text));
  const inOrder = (left: RunSetting, right: RunSetting) => left.start - right.start;
  return { settings: telling.flatMap((file) => readRunTexts(file).flatMap(settingsIn).sort(inOrder)) };
}

async function settingsFor(repository: Repository, folders: readonly string[]): Promise<Settings> {
  const read = await readSettings(repository);
  if ("fault" in read) return read;
  const modules = moduleFolders(repository.entries.map(({ path }) => path));
  const applies = (each: RunSetting) => folders.some((folder) => appliesTo(each, folder, modules));
  return { settings: read.settings.filter(applies) };
}

/**
 * Returns where commands may run a root module in several workspaces, with several states or with several variable
 * files. Null if there is no such place. The result is a text for a message with one of these:
 * - two places;
 * - one place with a value that depends on the run;
 * - why the places are unknown.
 *
 * `folders` are the folders that the module may run in.
 */
export async function severalSettings(repository: Repository, folders: readonly string[]): Promise<string | null> {
  const read = await settingsFor(repository, folders);
  if ("fault" in read) return `unknown places, because ${read.fault}`;
  const workspaces = read.settings.filter(({ kind }) => kind === "workspace");
  const states = read.settings.filter(({ kind, name }) => kind === "state" && (name === "" || STATES.test(name)));
  const names = [...new Set(states.map(({ name }) => name))];
  for (const group of [workspaces, ...names.map((name) => states.filter((each) => each.name === name))]) {
    const open = group.find(isChosen);
    if (open !== undefined) return placeOf(open);
    const other = group.find(({ value }) => value !== group[0]?.value);
    if (group[0] !== undefined && other !== undefined) return `${placeOf(group[0])} and ${placeOf(other)}`;
  }
  const passed = read.settings.filter(({ kind }) => kind === "values");
  const choosing = passed.find((each) => isOpen(each.value) && filesOf(repository, each, folders).length !== 1);
  if (choosing !== undefined) return placeOf(choosing);
  // `givenValues` covers `.tfvars` files, wherever they are.
  const own = passed.filter(({ value }) => !isValues(value));
  const other = own.find(({ value }) => value !== own[0]?.value);
  return own[0] === undefined || other === undefined ? null : `${placeOf(own[0])} and ${placeOf(other)}`;
}

/** Returns the place of a command that applies the module in a folder as a root module; null if there is none. */
export async function applyingCommand(repository: Repository, folder: string): Promise<string | null> {
  const read = await readSettings(repository);
  const found = "fault" in read ? undefined : read.settings.find((each) => appliesModule(each, folder));
  return found === undefined ? null : placeOf(found);
}

/** Returns the files with commands that may apply the root module in a folder. */
export async function applyingFiles(repository: Repository, folder: string): Promise<readonly CodeFile[]> {
  const read = await settingsFor(repository, [folder]);
  const found = "fault" in read ? [] : read.settings.filter(({ kind }) => kind === "apply");
  return [...new Set(found.map(({ file }) => file))];
}

/** Backend arguments that tell where the state is. */
const STATES =
  /^(key|path|prefix|bucket|container_name|storage_account_name|address|schema_name|TF_STATE_NAME|TF_HTTP_ADDRESS)$/;
/** Backend arguments whose value usually comes from the CI service and is the same for all runs. */
const GIVEN = /^(bucket|container_name|storage_account_name)$/;
/** Matches expressions of CI services that have the same value for all runs in a repository. */
const FIXED =
  /\$\{\{\s*(secrets|vars|github\.(repository|event\.repository)\S*)[^}]*\}\}|\$\{?(CI_(PROJECT|API|SERVER)_\w+|GITHUB_REPOSITORY|BITBUCKET_REPO\w*)\}?/g;
/** Matches values that a loop, a matrix or an argument gives. */
const LOOPS = /matrix|\$[*@<\d]|each|item|inputs|params/;

/** Whether the value of a setting depends on the run. */
function isChosen({ name, value }: RunSetting): boolean {
  return isOpen(value.replace(FIXED, "x")) && (!GIVEN.test(name) || LOOPS.test(value));
}

/** Returns the paths of the variable files that a setting may pass to a run. */
function filesOf(
  { entries }: Repository,
  { value, file, folder }: RunSetting,
  folders: readonly string[],
): readonly string[] {
  const bases = folder === null ? folders : [...folders, folder];
  return entries.flatMap(({ kind, path }) =>
    kind === "file" &&
    /\.(tfvars|json|ya?ml|hcl)$/.test(path) &&
    hasEnd(value, path) &&
    mayLead(value, file, path, bases)
      ? [path]
      : [],
  );
}

/**
 * Whether a path has the same file extension as the value. For a value without an extension: whether the path is that
 * of a `.tfvars` file.
 */
function hasEnd(value: string, path: string): boolean {
  const end = /\.\w+(?:\.json)?$/.exec(value)?.[0];
  return end === undefined ? isValues(path) : path.endsWith(end);
}

function placeOf({ file, start }: RunSetting): string {
  return toPlace(file, { start });
}

/**
 * Returns a function that lists the possible values of a root module's variable. The values come from commands,
 * environment variables, and variable files that commands pass. `.tfvars` files are left out: `givenValues` covers
 * them. `folders` are the folders that the module may run in.
 */
export async function runValues(
  repository: Repository,
  folders: readonly string[],
): Promise<(variable: string) => readonly GivenValue[]> {
  const read = await settingsFor(repository, folders);
  const settings = "fault" in read ? [] : read.settings;
  const files: CodeFile[] = [];
  for (const passed of settings.filter(({ kind }) => kind === "values")) {
    for (const path of filesOf(repository, passed, folders).filter((each) => !isValues(each))) {
      const text = await repository.read(path);
      if (typeof text === "string") files.push({ path, text });
    }
  }
  return (variable) => [
    ...settings
      .filter(({ kind, name }) => kind === "variable" && (name === variable || name === "*"))
      .map(({ value, file, start }) => toGiven(value, file, start)),
    ...files.flatMap((file) => {
      const start = file.text.indexOf(variable);
      if (start < 0) return [];
      const fields = isJson(file.path) ? readJson(file.text) : null;
      const value = isFields(fields) ? fields[variable] : undefined;
      if (isFields(fields) && value === undefined) return [];
      return [toGiven(typeof value === "string" ? value : "$", file, start)];
    }),
  ];
}

/**
 * The expression for a value that comes from outside the repository and is the same for all runs. The expression is a
 * variable that no module declares.
 */
const INPUT = "var._given_outside";

/** Converts a value to an expression. A value that depends on the run becomes an unknown expression. */
export function toGiven(value: string, file: CodeFile, start: number): GivenValue {
  const isInput = value.replace(FIXED, "") === "" && value !== "";
  const plain = isOpen(value) || /[\\"%]/.test(value) ? "local._unknown" : JSON.stringify(value);
  const block = { type: "", labels: [], file, start, attributes: new Map(), nodes: new Map(), blocks: [] };
  return { expression: isInput ? INPUT : plain, block, isOptional: true };
}
