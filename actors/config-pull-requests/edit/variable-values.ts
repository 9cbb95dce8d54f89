import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { toHolder, toInner, toText } from "./hcl-syntax.js";
import { isWithin } from "./links.js";
import { listFolders } from "./path-pattern.js";
import { isModuleFile, type Repository } from "./repository.js";

/** Whether Terraform loads a variable file automatically in each run of the root module in a folder. */
export function isReadByEachRun(path: string, folder: string): boolean {
  return dirname(path) === folder && /(^|\/)(terraform\.tfvars|[^/]*\.auto\.tfvars)(\.json)?$/.test(path);
}

/**
 * Whether a file that is passed to a run by name belongs to the root module in a folder: the file's nearest parent
 * folder with a module is this folder. Null if no parent folder has a module.
 */
export function isValuesFor(path: string, folder: string, modules: ReadonlySet<string>): boolean | null {
  const owner = [...listFolders(path), "."].find((each) => modules.has(each));
  return owner === undefined ? null : owner === folder && isWithin(path, folder);
}

/** Returns the folders of a repository that contain modules. */
export function moduleFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter(isModuleFile).map((path) => dirname(path)));
}

/** A value of a variable, as the text of an expression, and the block that gives it. */
export interface GivenValue {
  readonly expression: string;
  readonly block: CodeBlock;
}

/**
 * Returns a function that lists the values which files may give a variable of the root module in a folder. It covers
 * files that every run loads and files that may be passed to a run by name.
 */
export async function givenValues(
  repository: Repository,
  folder: string,
): Promise<(variable: string) => readonly GivenValue[]> {
  const modules = moduleFolders(repository.entries.map(({ path }) => path));
  const read = await repository.values((path) => isValuesFor(path, folder, modules) !== false);
  const files: readonly CodeBlock[] = "fault" in read ? [] : read.files.map((file) => readCode(repository, file));
  return (variable) =>
    files.flatMap((block) => {
      const expression = block.attributes.get(variable);
      return expression === undefined ? [] : [{ expression, block }];
    });
}

/** Replaces an expression that Terragrunt or a stack evaluates, because its names are not those of the module. */
const COMPUTED = "dependency.unknown";

/**
 * Returns a function that lists the values which a Terragrunt unit or a stack component gives a variable with `inputs`.
 * Null if the unit or component has no `inputs`.
 */
export function findInputs(
  repository: Repository,
  block: CodeBlock,
): ((variable: string) => readonly GivenValue[]) | null {
  const written = block.attributes.get("inputs") ?? readCode(repository, block.file).attributes.get("inputs");
  if (written === undefined) return null;
  const text = `_ = ${written}\n`;
  const [inputs] = toHolder(text, repository.syntax.parse(text)).members;
  const node = inputs === undefined ? undefined : toInner(inputs.value);
  const members = node?.type === "object" ? toHolder(text, node).members : [];
  const isWhole = node?.type === "object" && members.every(({ name }) => name !== null);
  return (variable) => {
    const given = members.filter(({ name }) => name === variable).map(({ value }) => toText(text, value));
    const known = given.map((each) => (/^"[^"\\$%]*"$/.test(each) ? each : COMPUTED));
    return (isWhole ? known : [COMPUTED]).map((expression) => ({ expression, block }));
  };
}
