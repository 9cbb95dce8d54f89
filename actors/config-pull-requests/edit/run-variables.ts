import { type CodeBlock, readCode } from "./code-blocks.js";
import type { Repository } from "./repository.js";
import { toGiven } from "./run-settings.js";
import type { GivenValue } from "./variable-values.js";
import { mayRunIn } from "./workspace-runs.js";

/** Matches the resource types of services that run root modules. These resources can set the modules' variables. */
const GIVERS = /^(tfe|tfc|spacelift|env0|scalr|harness|google_infra)_/;
const QUICK = /\b(tfe|tfc|spacelift|env0|scalr|harness|google_infra)_|TF_VAR_/;
const NAMES = ["key", "name", "variable_name"];
const VALUES = ["value", "value_json", "input_value"];
/** Attributes that refer to the workspace, stack, environment or template in which the variable is set. */
const OWNERS = ["workspace_id", "stack_id", "environment_id", "template_id"];

/**
 * Returns a function that lists the values which resources such as `tfe_variable` give to a variable of the root module
 * in a folder. A value that is not a literal is unknown. Leaves out resources that refer to a workspace of another
 * folder.
 */
export async function resourceValues(
  repository: Repository,
  folder: string,
): Promise<(variable: string) => readonly GivenValue[]> {
  const code = await repository.code();
  const files = "fault" in code ? [] : code.files.filter(({ text }) => QUICK.test(text));
  const blocks = files.flatMap((file) => readCode(repository, file).blocks).filter(({ type }) => type === "resource");
  const isElsewhere = ({ attributes }: CodeBlock): boolean => {
    const owner = OWNERS.map((name) => attributes.get(name)).find((each) => each !== undefined);
    const [, type, name] = /^([a-z]\w*)\.([\w-]+)/.exec(owner ?? "") ?? [];
    const found = blocks.filter(({ labels }) => labels[0] === type && labels[1] === name);
    return found.length > 0 && !found.some((block) => mayRunIn(repository, block, folder));
  };
  return (variable) =>
    blocks
      .filter(({ file }) => file.text.includes(variable))
      .flatMap((block) => givenIn(block, variable, GIVERS.test(block.labels[0] ?? ""), isElsewhere));
}

function givenIn(
  block: CodeBlock,
  variable: string,
  isGiver: boolean,
  isElsewhere: (block: CodeBlock) => boolean,
): readonly GivenValue[] {
  const wanted = [`"TF_VAR_${variable}"`, ...(isGiver ? [`"${variable}"`] : [])];
  const isNamed = NAMES.some((name) => wanted.includes(block.attributes.get(name) ?? ""));
  const value = VALUES.map((name) => block.attributes.get(name)).find((each) => each !== undefined);
  const literal = /^"([^"\\$%]*)"$/.exec(value ?? "")?.[1] ?? "$";
  const own = isNamed && value !== undefined && !isElsewhere(block) ? [toGiven(literal, block.file, block.start)] : [];
  return [...own, ...block.blocks.flatMap((each) => givenIn(each, variable, isGiver, isElsewhere))];
}
