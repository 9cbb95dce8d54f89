import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { isWithin } from "./links.js";
import { foldersOf } from "./path-pattern.js";
import { isModuleFile, type Repository } from "./repository.js";

/** Whether each run of the root module in a folder reads a file of values by itself. */
export function isReadByEachRun(path: string, folder: string): boolean {
  return dirname(path) === folder && /(^|\/)(terraform\.tfvars|[^/]*\.auto\.tfvars)(\.json)?$/.test(path);
}

/** Whether a file that a run is given by name is for the root module in a folder; null where no module is above it. */
export function isValuesFor(path: string, folder: string, modules: ReadonlySet<string>): boolean | null {
  const owner = [...foldersOf(path), "."].find((each) => modules.has(each));
  return owner === undefined ? null : owner === folder && isWithin(path, folder);
}

/** The folders of a repository that hold modules. */
export function moduleFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter(isModuleFile).map((path) => dirname(path)));
}

/**
 * What files give the variables of the root module in a folder: what each run reads comes before defaults, and what a run
 * may be given by name is one more.
 */
export async function givenValues(
  repository: Repository,
  folder: string,
): Promise<(variable: string) => readonly string[]> {
  const modules = moduleFolders(repository.entries.map(({ path }) => path));
  const read = await repository.values((path) => isValuesFor(path, folder, modules) !== false);
  const files: readonly CodeBlock[] = "fault" in read ? [] : read.files.map((file) => readCode(repository, file));
  return (variable) => files.flatMap(({ attributes }) => attributes.get(variable) ?? []);
}
