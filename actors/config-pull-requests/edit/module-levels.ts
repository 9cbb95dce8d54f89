import { dirname, posix } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import type { ModuleCall } from "./module-calls.js";
import { isModuleFile, type Repository } from "./repository.js";
import { runValues } from "./run-settings.js";
import { resourceValues } from "./run-variables.js";
import { isUnitOf } from "./unit-files.js";
import { type GivenValue, givenValues, unitValues } from "./variable-values.js";
import { yamlValues } from "./yaml-runs.js";

/** The names in a module, linked to its callers and to the modules that it calls. */
export interface ModuleLevel {
  readonly blocks: readonly CodeBlock[];
  /** Blocks by kind, type and name, such as `resource service_team core`. */
  readonly named: ReadonlyMap<string, readonly CodeBlock[]>;
  /**
   * The call in the module above; null for a root module, and if the call is unknown. `key` selects an instance of a
   * call with `for_each`; absent for any instance.
   */
  readonly call: { readonly block: CodeBlock; readonly above: ModuleLevel; readonly key?: string } | null;
  /**
   * The modules that this module calls with a literal relative path, by call name. Contains only modules that were
   * read.
   */
  readonly children: ReadonlyMap<string, ModuleLevel>;
  /** Returns the values that files may give a variable of a root module. */
  listValues(variable: string): readonly GivenValue[];
}

/** Maximum depth of called modules whose outputs are read, below the source's own module or one of its callers. */
const MAX_BELOW = 3;
/** Maximum number of called modules per level whose outputs are read. */
const MAX_CHILDREN = 20;

/** Reads the files of a module, of its callers, and of called modules whose outputs it uses. */
export async function openLevel(
  repository: Repository,
  folder: string,
  calls: readonly ModuleCall[],
): Promise<ModuleLevel> {
  const [call, ...above] = calls;
  const path = call?.block.file.path ?? "";
  const isCalled = call !== undefined && isModuleFile(path);
  const caller = isCalled ? { block: call.block, above: await openLevel(repository, dirname(path), above) } : null;
  // A stack runs the unit that is in the called folder.
  const isStack = call !== undefined && /^(unit|stack)$/.test(call.block.type);
  const own = call === undefined || isStack ? await ownUnit(repository, folder) : null;
  const unit = own ?? (call !== undefined && !isCalled ? call.block : null);
  const listValues = caller === null ? await rootValues(repository, folder, unit) : () => [];
  return readLevel(repository, folder, { call: caller, listValues }, MAX_BELOW);
}

/**
 * Returns a function that lists the values of a root module's variable. `unit` is the unit that runs the module, such
 * as a Terragrunt file; null if there is none.
 */
async function rootValues(
  repository: Repository,
  folder: string,
  unit: CodeBlock | null,
): Promise<ModuleLevel["listValues"]> {
  const folders = unit === null ? [folder] : [dirname(unit.file.path), folder];
  const lists = [
    unit === null ? await givenValues(repository, folder) : await unitValues(repository, unit, folder),
    await runValues(repository, folders),
    await yamlValues(repository, folder),
    await resourceValues(repository, folder),
  ];
  return (variable) => lists.flatMap((list) => list(variable));
}

/**
 * Returns the Terragrunt file in a module's own folder; null if there is none. Such a file runs the module in this
 * folder.
 */
async function ownUnit(repository: Repository, folder: string): Promise<CodeBlock | null> {
  if (!repository.entries.some(({ path }) => isUnitOf(path, folder))) return null;
  const code = await repository.code();
  const found = "fault" in code ? undefined : code.files.find(({ path }) => isUnitOf(path, folder));
  return found === undefined ? null : readCode(repository, found);
}

async function readLevel(
  repository: Repository,
  folder: string,
  { call, listValues }: Pick<ModuleLevel, "call" | "listValues">,
  below: number,
): Promise<ModuleLevel> {
  const read = await repository.module(folder);
  const files = "fault" in read ? [] : read.files;
  const blocks = files.flatMap((file) => readCode(repository, file).blocks);
  const children = new Map<string, ModuleLevel>();
  const level: ModuleLevel = { blocks, named: byName(blocks), call, children, listValues };
  const used = blocks.filter(
    ({ type, labels: [name = ""] }) => type === "module" && files.some(({ text }) => text.includes(`module.${name}`)),
  );
  for (const block of below === 0 ? [] : used.slice(0, MAX_CHILDREN)) {
    const [, source] = /^"(\.\.?(?:\/[^"\\$%]*)?)"$/.exec(block.attributes.get("source") ?? "") ?? [];
    const target = source === undefined ? null : repository.links.follow(posix.join(dirname(block.file.path), source));
    if (typeof target !== "string") continue;
    const own = { call: { block, above: level }, listValues: () => [] };
    children.set(block.labels[0] ?? "", await readLevel(repository, target.replace(/\/$/, ""), own, below - 1));
  }
  return level;
}

/** Returns the block with this kind, type and name; undefined if there is none or more than one. */
export function blockNamed(
  { named }: Pick<ModuleLevel, "named">,
  kind: string,
  type: string,
  name: string,
): CodeBlock | undefined {
  const [only, other] = named.get(`${kind} ${type} ${name}`) ?? [];
  return other === undefined ? only : undefined;
}

function byName(blocks: readonly CodeBlock[]): ReadonlyMap<string, readonly CodeBlock[]> {
  const named = new Map<string, CodeBlock[]>();
  for (const block of blocks) {
    const name = [block.type, ...block.labels].join(" ");
    const found = named.get(name);
    if (found === undefined) named.set(name, [block]);
    else found.push(block);
  }
  return named;
}

/** Whether a block has `count` or `for_each`. */
export function isMany({ attributes }: Pick<CodeBlock, "attributes">): boolean {
  return attributes.has("count") || attributes.has("for_each");
}
