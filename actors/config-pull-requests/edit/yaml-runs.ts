import { isFields } from "./json-code.js";
import type { CodeFile, Repository } from "./repository.js";
import { mayLead } from "./run-commands.js";
import { readDocuments, readRunFiles } from "./run-files.js";
import { toGiven } from "./run-settings.js";
import type { GivenValue } from "./variable-values.js";

/** A run of a root module that a YAML file describes, for example for a Kubernetes operator. */
interface YamlRun {
  readonly file: CodeFile;
  readonly start: number;
  /** The parts of YAML files that may set variables of the run. */
  readonly parts: readonly { readonly file: CodeFile; readonly value: unknown }[];
}

/**
 * Matches kinds of Kubernetes objects that run a root module, such as the objects of Flux, Crossplane and Terraform
 * operators.
 */
const KINDS = /^(Terraform|OpenTofu|Workspace|Stack|Configuration|TerraformRun|TerraformDeployment)$/;
const QUICK = /^\s*["']?(kind|components|import|dirs)["']?\s*:/m;
/** Matches names of members that may give the module's folder or source. */
const PLACES = /path|dir|folder|root|module|source|url/i;

/**
 * Returns two places where YAML files run the root module in a folder, as text for a message. The files are those of
 * Kubernetes operators, of Atmos or of Terrateam; both places belong to the same kind of tool. Null if there are no two
 * such places.
 */
export async function severalYamlRuns(repository: Repository, folder: string): Promise<string | null> {
  for (const [first, second] of await listRuns(repository, folder)) {
    if (first !== undefined && second !== undefined) return `${placeOf(first)} and ${placeOf(second)}`;
  }
  return null;
}

/**
 * Returns a function that lists the values which runs in YAML files may give to a variable of the root module in a
 * folder.
 */
export async function yamlValues(
  repository: Repository,
  folder: string,
): Promise<(variable: string) => readonly GivenValue[]> {
  const parts = (await listRuns(repository, folder)).flat().flatMap((run) => run.parts);
  return (variable) =>
    parts.flatMap(({ file, value }) =>
      valuesIn(value, variable).map((given) => toGiven(given, file, Math.max(0, file.text.indexOf(variable)))),
    );
}

function placeOf({ file, start }: YamlRun): string {
  return `${file.path}:${file.text.slice(0, start).split("\n").length}`;
}

async function listRuns(repository: Repository, folder: string): Promise<readonly (readonly YamlRun[])[]> {
  const read = await readRunFiles(repository);
  const files = "fault" in read ? [] : read.files.filter(({ path, text }) => /\.ya?ml$/.test(path) && QUICK.test(text));
  const found = files.map((file) => ({ file, values: (readDocuments(file.text) ?? []).map(({ value }) => value) }));
  return [
    found.flatMap((each) => operatorRuns(each, folder)),
    stackRuns(found, folder),
    found.flatMap((each) => folderRuns(each, folder)),
  ];
}

/** A place at which runs name their branch. */
export interface RunRef {
  /** Branches, or another ref; null if the runs may be at any branch. */
  readonly refs: readonly string[] | null;
  readonly place: string;
}

/** Returns the refs at which Flux runs the root module in a folder. Each run's `GitRepository` names its ref. */
export async function fluxRefs(repository: Repository, folder: string): Promise<readonly RunRef[]> {
  const read = await readRunFiles(repository);
  const files = "fault" in read ? [] : read.files.filter(({ text }) => /kind:\s*GitRepository/.test(text));
  const sources = files.flatMap((file) => (readDocuments(file.text) ?? []).map(({ value }) => ({ file, value })));
  const [runs = []] = files.length === 0 ? [] : await listRuns(repository, folder);
  return runs.map((run): RunRef => {
    const value = run.parts[0]?.value;
    const spec = isFields(value) && isFields(value.spec) ? value.spec : {};
    const name = isFields(spec.sourceRef) && spec.sourceRef.kind === "GitRepository" ? spec.sourceRef.name : undefined;
    const [found, other] = sources.filter((each) => name !== undefined && isNamed(each.value, name));
    const refs = found === undefined || other !== undefined ? null : refsOf(found.value);
    return { refs, place: found === undefined ? placeOf(run) : refPlace(found.file) };
  });
}

function isNamed(value: unknown, name: unknown): boolean {
  const isSource = isFields(value) && value.kind === "GitRepository" && isFields(value.metadata);
  return isSource && isFields(value.metadata) && value.metadata.name === name;
}

/** Returns the ref of a `GitRepository`. Prefers a commit or a tag to a branch, as Flux does. */
function refsOf(value: unknown): readonly string[] | null {
  const spec = isFields(value) && isFields(value.spec) ? value.spec : {};
  const ref = isFields(spec.ref) ? spec.ref : {};
  const [found] = [ref.commit, ref.name, ref.semver, ref.tag, ref.branch].filter((each) => each !== undefined);
  return typeof found === "string" ? [found.replace(/^refs\/heads\//, "")] : null;
}

function refPlace(file: CodeFile): string {
  return placeOf({ file, start: Math.max(0, file.text.search(/\bref:/)), parts: [] });
}

interface YamlFile {
  readonly file: CodeFile;
  readonly values: readonly unknown[];
}

function operatorRuns({ file, values }: YamlFile, folder: string): readonly YamlRun[] {
  let start = 0;
  return values.flatMap((value): readonly YamlRun[] => {
    if (!isFields(value) || typeof value.kind !== "string") return [];
    const found = file.text.indexOf(`kind: ${value.kind}`, start);
    start = found < 0 ? start : found + 1;
    const runs =
      typeof value.apiVersion === "string" && KINDS.test(value.kind) && namesFolder(value.spec, file, folder);
    return runs ? [{ file, start: Math.max(0, found), parts: [{ file, value }] }] : [];
  });
}

/**
 * Whether a member of the value, such as `path` or `source`, may name the folder: as a path from the repository's root,
 * or after `//` in a repository address.
 */
function namesFolder(value: unknown, file: CodeFile, folder: string, key = ""): boolean {
  if (typeof value === "string") {
    const [text = ""] = value.split("?");
    const inside = /^[\w+.-]+::|:\/\/|^[\w.-]+@/.test(text) ? text.split(/(?<!:)\/\//)[1] : text;
    return (
      PLACES.test(key) &&
      inside !== undefined &&
      !inside.includes("\n") &&
      mayLead(inside, { ...file, path: "x" }, folder)
    );
  }
  if (Array.isArray(value)) return value.some((each: unknown) => namesFolder(each, file, folder, key));
  return isFields(value) && Object.entries(value).some(([name, each]) => namesFolder(each, file, folder, name));
}

/**
 * Returns the runs of Atmos. Each stack file that no other file imports has one run for each component that runs the
 * root module in the folder.
 */
function stackRuns(files: readonly YamlFile[], folder: string): readonly YamlRun[] {
  const stacks = files.flatMap(({ file, values: [value] }) => (isFields(value) ? [{ file, value }] : []));
  const imports = new Map(stacks.map((each) => [each, stacks.filter((other) => mayImport(each.value, other.file))]));
  const withImports = (stack: (typeof stacks)[number]) => {
    const all = new Set([stack]);
    for (const each of all) for (const other of imports.get(each) ?? []) all.add(other);
    return [...all];
  };
  const isImported = (stack: (typeof stacks)[number]) =>
    stacks.some((each) => each !== stack && imports.get(each)?.includes(stack));
  return stacks
    .filter((stack) => !isImported(stack))
    .flatMap((stack) => {
      const all = withImports(stack);
      const names = new Set(all.flatMap(({ value }) => componentsOf(value, folder)));
      return [...names].map((name) => {
        const start = Math.max(0, stack.file.text.indexOf(`${name}:`));
        return {
          file: stack.file,
          start,
          parts: all.map((each) => ({ file: each.file, value: withoutOthers(each.value, name) })),
        };
      });
    });
}

function terraformOf(value: unknown): Readonly<Record<string, unknown>> {
  const components = isFields(value) ? value.components : undefined;
  const terraform = isFields(components) ? components.terraform : undefined;
  return isFields(terraform) ? terraform : {};
}

/** Returns the names of the components in a stack file that run the root module in a folder. */
function componentsOf(value: unknown, folder: string): readonly string[] {
  return Object.entries(terraformOf(value)).flatMap(([name, component]) => {
    const metadata = isFields(component) && isFields(component.metadata) ? component.metadata : {};
    const target = typeof metadata.component === "string" ? metadata.component : name;
    return metadata.type !== "abstract" && (folder === target || folder.endsWith(`/${target}`)) ? [name] : [];
  });
}

/** Returns a stack file's values with only this component. */
function withoutOthers(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return { ...value, components: { [name]: terraformOf(value)[name] } };
}

function mayImport(value: Readonly<Record<string, unknown>>, file: CodeFile): boolean {
  const list: readonly unknown[] = Array.isArray(value.import) ? value.import : [];
  const path = file.path.replace(/\.ya?ml$/, "");
  return list.some((each) => {
    const written = isFields(each) ? each.path : each;
    const name = typeof written === "string" ? written.replace(/\.ya?ml$/, "").replace(/^(\.\.?\/)+/, "") : "";
    return name !== "" && `/${path}`.endsWith(`/${name}`);
  });
}

/** Returns the runs of Terrateam: one for each workspace that its file lists for the folder. */
function folderRuns({ file, values: [value] }: YamlFile, folder: string): readonly YamlRun[] {
  const dirs = isFields(value) && /(^|\/)\.?terrateam/.test(file.path) && isFields(value.dirs) ? value.dirs : {};
  return Object.entries(dirs).flatMap(([dir, settings]) => {
    const workspaces = isFields(settings) && isFields(settings.workspaces) ? Object.keys(settings.workspaces) : [];
    return mayLead(dir, { ...file, path: "x" }, folder)
      ? workspaces.map((name) => ({
          file,
          start: Math.max(0, file.text.indexOf(`${name}:`)),
          parts: [{ file, value: settings }],
        }))
      : [];
  });
}

const VARIABLES = /^(\w*vars|\w*variables|values|inputs)$/i;

/**
 * Returns the values of a variable in the members that hold variables, such as `vars`, at any depth. A value that is
 * not a text becomes `$`: the value is unknown.
 */
function valuesIn(value: unknown, variable: string, isHolder = false): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => valuesIn(each, variable, isHolder));
  if (!isFields(value)) return [];
  const name = value.name ?? value.key;
  const isNamed = isHolder && name === variable;
  const own = !isHolder ? [] : isNamed ? [value.value] : Object.hasOwn(value, variable) ? [value[variable]] : [];
  return [
    ...own.map((each) => (typeof each === "string" ? each : "$")),
    ...Object.entries(value).flatMap(([key, each]) => valuesIn(each, variable, VARIABLES.test(key))),
  ];
}
