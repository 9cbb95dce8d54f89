import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { type ModuleCall, REGISTRY } from "./module-calls.js";
import { readPath } from "./read-paths.js";
import { isPlan, type Repository } from "./repository.js";
import { readUnit, type UnitFiles, unitsOf } from "./unit-files.js";

/**
 * Returns the ref or registry version that a call's source names, such as `v1`. Returns null if the source names none,
 * or names the branch that the edit is merged into. A ref with an unknown part counts as another branch. If the branch
 * is unknown, `main` and `master` both count as the branch.
 */
export async function pinOf(
  repository: Repository,
  { block }: ModuleCall,
  branch: string | undefined,
): Promise<string | null> {
  const { parts } = readPath(
    repository.syntax,
    await withLocals(repository, block, block.attributes.get("source") ?? ""),
  );
  const text = parts.map((part) => part ?? UNKNOWN).join("");
  const [, written = ""] = REF.exec(text) ?? ARCHIVE.exec(text) ?? [];
  const ref = written.replace(/^refs\/heads\//, "");
  const isBranch = branch === undefined ? /^(main|master)$/.test(ref) : ref === branch;
  const version = REGISTRY.test(block.attributes.get("source") ?? "") ? block.attributes.get("version") : undefined;
  if (version !== undefined) return version.replace(/^"|"$/g, "");
  return ref === "" || ref === "HEAD" || isBranch ? null : ref;
}

/** Replaces an unknown part of a source. */
const UNKNOWN = "…";
/** Matches the query of a source in git, in Mercurial or in a registry. */
const REF = /[?&](?:ref|rev|version)=([^&]*)/;
/** Matches the address of a repository's archive. */
const ARCHIVE =
  /\/(?:archive|tarball|zipball|get)\/((?:refs\/(?:heads|tags)\/)?[^/?]+?)(?:\.(?:zip|tgz|tar(?:\.\w+)?))?(?:[/?]|$)/;

/**
 * Maximum length of a source, and of a local in a source, in characters. Longer sources and locals are not evaluated.
 */
const MAX_SOURCE = 1000;

/** Replaces each local in a source by its value, if the value is a plain string. */
async function withLocals(repository: Repository, { file }: CodeBlock, source: string): Promise<string> {
  if (source.length > MAX_SOURCE || !/\blocal\./.test(source)) return source;
  const read = isPlan(file.path) ? { files: [file] } : await repository.module(dirname(file.path));
  const locals = ("fault" in read ? [] : read.files)
    .flatMap((each) => readCode(repository, each).blocks)
    .filter(({ type }) => type === "locals");
  const find = (name = ""): string | undefined => {
    const value = locals.map(({ attributes }) => attributes.get(name)).find((each) => each !== undefined);
    return value === undefined || value.length > MAX_SOURCE ? undefined : value;
  };
  const whole = find(/^local\.([\w-]+)$/.exec(source)?.[1]) ?? source;
  return whole.replace(/\$\{\s*local\.([\w-]+)\s*\}/g, (reference, name: string) => {
    return /^"([^"\\$%]*)"$/.exec(find(name) ?? "")?.[1] ?? reference;
  });
}

/**
 * Returns why no run applies a module, as a sentence with the place; null if a run may apply the module. No run applies
 * it in these cases:
 * - Each Terragrunt unit that runs the module is skipped or excluded.
 * - Each deployment of the module's stack is destroyed.
 */
export async function whyIdle(
  repository: Repository,
  files: readonly CodeBlock[],
  { calls, folders }: { readonly calls: readonly ModuleCall[]; readonly folders: readonly string[] },
): Promise<string | null> {
  const units = [];
  for (const own of unitsOf(files, calls, folders)) units.push(await readUnit(repository, own));
  const skips = units.map(skipIn);
  const [skip] = skips;
  if (skip !== undefined && skip !== null && !skips.includes(null))
    return `No run applies the module, because its unit is skipped at ${skip}.`;
  const deployments = deploymentsIn(files, folders.at(-1) ?? ".");
  const [first] = deployments;
  return first !== undefined && deployments.every(isDestroyed)
    ? `The stack's deployment is destroyed at ${toPlace(first.file, first)}.`
    : null;
}

/** Returns the place at which a unit is skipped or excluded from `apply`; null if the unit may be applied. */
function skipIn({ own, included }: UnitFiles): string | null {
  // `skip` of an included file does not apply to the unit, but `exclude` does.
  if (isTrue(own.attributes.get("skip"))) return toPlace(own.file, own.nodes.get("skip") ?? own);
  const [exclude] = [own, ...included].flatMap(({ blocks }) => blocks.filter(({ type }) => type === "exclude"));
  if (exclude === undefined || !isTrue(exclude.attributes.get("if"))) return null;
  const actions = exclude.attributes.get("actions") ?? "";
  return /^\[[^[\]]*"(all|apply|all_except_output)"[^[\]]*\]$/.test(actions) ? toPlace(exclude.file, exclude) : null;
}

/** Returns the deployments of the stack in a folder. */
export function deploymentsIn(files: readonly CodeBlock[], folder: string): readonly CodeBlock[] {
  return files
    .filter(({ file: { path } }) => dirname(path) === folder)
    .flatMap(({ blocks }) => blocks.filter(({ type }) => type === "deployment"));
}

/** Whether a deployment of a stack is destroyed. */
export function isDestroyed({ attributes }: CodeBlock): boolean {
  return isTrue(attributes.get("destroy"));
}

/** Whether an expression is `true`, also in parentheses or as a string. */
export function isTrue(expression: string | undefined): boolean {
  return /^[\s(]*(true|"true")[\s)]*$/.test(expression ?? "");
}
