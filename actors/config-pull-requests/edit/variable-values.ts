import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { isWithin } from "./links.js";
import { foldersOf } from "./path-pattern.js";
import { isModuleFile, type Repository } from "./repository.js";

/** Whether Terraform loads a variable file automatically in each run of the root module in a folder. */
export function isReadByEachRun(path: string, folder: string): boolean {
  return dirname(path) === folder && /(^|\/)(terraform\.tfvars|[^/]*\.auto\.tfvars)(\.json)?$/.test(path);
}

/**
 * Whether a file that a run takes by name belongs to the root module in a folder: its nearest parent folder with a
 * module is this folder. Null if no parent folder has a module.
 */
export function isValuesFor(path: string, folder: string, modules: ReadonlySet<string>): boolean | null {
  const owner = [...foldersOf(path), "."].find((each) => modules.has(each));
  return owner === undefined ? null : owner === folder && isWithin(path, folder);
}

/** Returns the folders of a repository that contain modules. */
export function moduleFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter(isModuleFile).map((path) => dirname(path)));
}

/**
 * Returns a function that lists the values which files may give a variable of the root module in a folder. It covers
 * files that every run loads and files that a run may take by name.
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
