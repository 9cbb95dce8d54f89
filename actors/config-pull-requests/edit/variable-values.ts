import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { toHolder, toInner, toText } from "./hcl-syntax.js";
import { isWithin } from "./links.js";
import { callsIn } from "./module-calls.js";
import { listFolders } from "./path-pattern.js";
import { type CodeFile, isPlan, isValues, moduleFolders, type Repository } from "./repository.js";
import { readUnit, unitsOf, unitsWith } from "./unit-files.js";

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

/** Whether an HCL file has only attributes, as a variable file or a file of backend settings has. */
export function isFlat({ blocks, attributes }: CodeBlock): boolean {
  return blocks.length === 0 && attributes.size > 0;
}

/** A value of a variable, as the text of an expression, and the block that gives it. */
export interface GivenValue {
  readonly expression: string;
  readonly block: CodeBlock;
  /** Whether some runs may use the variable's default instead. */
  readonly isOptional?: true;
}

/**
 * Returns a function that lists the possible values of a variable. Files give these values to the root module in a
 * folder: files that every run loads, and files that may be passed to a run by name.
 */
export async function givenValues(
  repository: Repository,
  folder: string,
): Promise<(variable: string) => readonly GivenValue[]> {
  const modules = moduleFolders(repository.entries.map(({ path }) => path));
  return readValues(repository, (path) => isValuesFor(path, folder, modules) !== false);
}

async function readValues(
  repository: Repository,
  isWanted: (path: string) => boolean,
): Promise<(variable: string) => readonly GivenValue[]> {
  const read = await repository.values(isWanted);
  const files = ("fault" in read ? [] : read.files)
    .map((file) => readCode(repository, file))
    .filter((whole) => isValues(whole.file.path) || isFlat(whole));
  return (variable) =>
    files.flatMap((block) => {
      const expression = block.attributes.get(variable);
      return expression === undefined ? [] : [{ expression, block }];
    });
}

/**
 * Replaces an expression that Terragrunt or a stack evaluates. Such an expression cannot be evaluated with the names of
 * the module.
 */
const COMPUTED = "dependency.unknown";

/**
 * Returns a variable's value from `inputs`: null if the value is unknown, undefined if `inputs` does not set the
 * variable.
 */
type Inputs = (variable: string) => GivenValue | null | undefined;

/**
 * Returns a function that lists the values which a Terragrunt unit or a stack component gives a variable: with its own
 * `inputs`, with the `inputs` of its includes, and with variable files. If the unit may set variables in another way,
 * every variable also has an unknown value.
 */
export async function unitValues(
  repository: Repository,
  block: CodeBlock,
  folder: string,
): Promise<(variable: string) => readonly GivenValue[]> {
  const { own, included, isWhole } = await readUnit(repository, readCode(repository, block.file));
  const unknown = { expression: COMPUTED, block };
  const setting = [own, ...included].some(setsVariables) ? [unknown] : [];
  const inputs = [block.attributes.has("inputs") ? block : own, ...included].map((each) => toInputs(repository, each));
  const files = [
    await givenValues(repository, folder),
    await readValues(repository, (path) => isReadByEachRun(path, dirname(block.file.path))),
  ];
  return (variable) => {
    const [first, ...more] = inputs.map((each) => each(variable));
    // The unit's own value replaces the values of its includes.
    const given = first === undefined ? [...more, ...(isWhole ? [] : [null])] : [first];
    const values = given.flatMap((each) => (each === undefined ? [] : [each ?? unknown]));
    return [...setting, ...values, ...files.flatMap((list) => list(variable))];
  };
}

/**
 * Returns a function that tells whether a variable of the module in a folder may get an unknown value. A Terragrunt
 * unit, a stack or a script may give it such a value in these ways:
 * - with computed inputs;
 * - with arguments that may set variables;
 * - with an include that is not in the repository.
 */
export function unknownGivers(
  repository: Repository,
  files: readonly CodeFile[],
): (folder: string, variable: string) => boolean {
  const plans = files.filter(({ path }) => isPlan(path)).map((file) => readCode(repository, file));
  const calls = plans.flatMap((whole) => callsIn(repository, undefined, whole));
  const units = unitsWith(repository, plans);
  const isPassed = plans.some(({ blocks, file }) => {
    return blocks.some(({ type }) => type === "script") && /-var-file|TF_(VAR_|CLI_ARGS)/.test(file.text);
  });
  const read = (folder: string) => {
    const found = calls.filter((call) => call.calls(folder));
    const used = unitsOf(plans, found, [folder]).flatMap(units);
    const blocks = [...found.map(({ block }) => block), ...used.flatMap(({ own, included }) => [own, ...included])];
    const isAny = isPassed || blocks.some(setsVariables) || used.some(({ isWhole }) => !isWhole);
    return { isAny, inputs: blocks.map((block) => toInputs(repository, block)) };
  };
  const known = new Map<string, ReturnType<typeof read>>();
  return (folder, variable) => {
    const { isAny, inputs } = known.get(folder) ?? read(folder);
    known.set(folder, { isAny, inputs });
    return isAny || inputs.some((each) => each(variable) === null);
  };
}

function toInputs({ syntax }: Repository, block: CodeBlock): Inputs {
  const written = block.attributes.get("inputs");
  if (written === undefined) return () => undefined;
  const text = `_ = ${written}\n`;
  const [inputs] = toHolder(text, syntax.parse(text)).members;
  const node = inputs === undefined ? undefined : toInner(inputs.value);
  const members = node?.type === "object" ? toHolder(text, node).members : [];
  const isWhole = node?.type === "object" && members.every(({ name }) => name !== null);
  return (variable) => {
    const [value, other] = members.filter(({ name }) => name === variable).map((each) => toText(text, each.value));
    if (!isWhole || other !== undefined) return null;
    if (value === undefined) return undefined;
    return { expression: /^"[^"\\$%]*"$/.test(value) ? value : COMPUTED, block };
  };
}

/** Whether a Terragrunt file may set variables by other means than `inputs`. */
function setsVariables({ blocks, attributes }: CodeBlock): boolean {
  const terraform = blocks.filter(({ type }) => type === "terraform");
  const given = terraform.flatMap((each) => each.blocks).filter(({ type }) => type === "extra_arguments");
  const texts = given.flatMap((each) => [...each.attributes].filter(([name]) => name !== "commands"));
  const isPlain = ([, text]: readonly [string, string]) => !/var|TF_|[$%]\{|(?<!")\b[a-z_]+[.(]/i.test(text);
  const isComputed = terraform.length === 0 && attributes.has("terraform");
  return !texts.every(isPlain) || isComputed || blocks.some(({ type }) => type === "autoinclude");
}
