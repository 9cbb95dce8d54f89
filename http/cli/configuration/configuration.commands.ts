import type { Command } from "commander";
import type { CommandTree } from "../command/define-command.js";

/** Adds the commands for configuration as code: `export`, `plan` and `apply`. */
export function addConfigurationCommands(program: CommandTree): void {
  program.add<{ readonly workspace?: string; readonly force?: true }, [string | undefined]>({
    usage: "export [folder]",
    summary: "write the HCL of a workspace into a folder",
    details:
      "[folder] is the current folder by default; - prints the files. Secret values are not part of an export. Text files\n" +
      "end with a newline; chomp(…) in main.tf removes it where the text has none.",
    example: "signalbox export acme --workspace acme",
    declare: (command) =>
      command
        .option("--workspace <workspace>", "the slug or id of the workspace")
        .option("--force", "replace files that differ"),
    load: async () => (await import("./export.js")).exportFolder,
  });
  program.add<object, [string | undefined]>({
    usage: "plan [folder]",
    summary: "show what an apply of a folder's HCL would change",
    details: `${FOLDER}\nAsks the service which changes it would refuse; nothing is changed.\nExit codes: 0 nothing to change, 2 something would change, 1 refused.`,
    example: "signalbox plan acme --var-file secrets.tfvars",
    declare: declareFolder,
    load: async () => (await import("./plan.js")).plan,
  });
  program.add<object, [string | undefined]>({
    usage: "apply [folder]",
    summary: "change a workspace to what a folder's HCL describes",
    details:
      `${FOLDER}\nShows the plan and asks first. Stops at the first refusal and prints what was done; run it again to\n` +
      "continue.",
    example: "signalbox apply acme --var-file secrets.tfvars --yes",
    declare: (command) => declareFolder(command).option("--yes", "do not ask"),
    load: async () => (await import("./apply.js")).apply,
  });
}

const FOLDER =
  "[folder] has .tf files as signalbox export writes them; the current folder by default. Understood are values,\n" +
  'templates, file("…"), chomp(…), var, local and references to resources of the folder. Variables get their values from\n' +
  "--var, --var-file, *.auto.tfvars and terraform.tfvars of the folder, SIGNALBOX_VAR_<name> and TF_VAR_<name>, in\n" +
  "this order, or else their defaults.";

function declareFolder(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []) => [...before, value];
  return command
    .option("--var <name=value>", "the value of a variable (repeatable)", collect)
    .option("--var-file <file>", "a file of values, .tfvars or .json; - reads standard input (repeatable)", collect)
    .option("--workspace <workspace>", "the workspace, if the folder does not describe one")
    .option("--prune", "delete resources of the workspace that the folder does not have");
}
