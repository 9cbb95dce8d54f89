import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { includesIn, type ModuleCall } from "./module-calls.js";
import { isPlan, type Repository } from "./repository.js";

/** The files of a Terragrunt unit: its own file, and the files that it includes directly or indirectly. */
export interface UnitFiles {
  readonly own: CodeBlock;
  readonly included: readonly CodeBlock[];
  /** Whether every include leads to a file in the repository. */
  readonly isWhole: boolean;
}

/**
 * Reads the files of the unit that a file belongs to: the unit that includes the file, otherwise the file itself. An
 * include with an unknown path includes every file that it may name.
 */
export async function readUnit(repository: Repository, file: CodeBlock): Promise<UnitFiles> {
  const code = await repository.code();
  if ("fault" in code) return { own: file, included: [], isWhole: false };
  const plans = code.files.filter(({ path }) => isPlan(path)).map((each) => readCode(repository, each));
  const [first] = unitsWith(repository, plans)(file);
  return first ?? { own: file, included: [], isWhole: true };
}

/**
 * Returns a function that gives all units that a Terragrunt file belongs to: the units that include the file, otherwise
 * the file itself.
 */
export function unitsWith(
  repository: Repository,
  plans: readonly CodeBlock[],
): (file: CodeBlock) => readonly UnitFiles[] {
  const includes = new Map(plans.map((whole) => [whole.file.path, includesIn(repository, whole)]));
  const toUnit = (own: CodeBlock): UnitFiles => {
    const found = new Map([[own.file.path, own]]);
    let isWhole = true;
    for (const [, whole] of found) {
      for (const each of includes.get(whole.file.path) ?? []) {
        const included = plans.filter(({ file: { path } }) => each.includes(path));
        isWhole &&= included.length > 0;
        for (const plan of included) if (!found.has(plan.file.path)) found.set(plan.file.path, plan);
      }
    }
    return { own, included: [...found.values()].slice(1), isWhole };
  };
  return (file) => {
    const owners = plans.filter(({ file: { path } }) =>
      includes.get(path)?.some((each) => each.includes(file.file.path)),
    );
    return (owners.length > 0 ? owners : [file]).map(toUnit);
  };
}

/** Returns the files of the units that call a module in one of the folders, or that run it in its own folder. */
export function unitsOf(
  files: readonly CodeBlock[],
  calls: readonly ModuleCall[],
  folders: readonly string[],
): readonly CodeBlock[] {
  return files.filter(({ file: { path } }) => {
    const isCaller = isPlan(path) && calls.some(({ block }) => block.file.path === path);
    return isCaller || folders.some((folder) => isUnitOf(path, folder));
  });
}

/** Whether a file is the Terragrunt file of a folder. */
export function isUnitOf(path: string, folder: string): boolean {
  return dirname(path) === folder && /(^|\/)terragrunt\.hcl(\.json)?$/.test(path);
}
