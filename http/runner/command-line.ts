import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";

/** The text that the help shows in addition to the options. */
export const RUNNER_DETAILS = `Agents run as the user who starts the runner, without a sandbox. They start in a
checkout, so --command needs absolute paths.
SIGTERM or Ctrl+C finishes active runs and accepts no more. A second one stops
them, a third one kills them. Prefer SIGNALBOX_POOL_TOKEN to --pool-token.`;

/** Declares the runner's options and its argument. */
export function declareRunner(command: Command): Command {
  return command
    .requiredOption("--url <url>", "address of the service", httpUrl)
    .addOption(
      new Option(
        "--pool-token <token>",
        "token of the runner pool (prefer the environment variable: other users can see arguments)",
      ).env("SIGNALBOX_POOL_TOKEN"),
    )
    .option("--trust <id>", "id of a runner trust that admits this host, instead of a pool token")
    .option("--trust-token-file <file>", "file with this host's OIDC token, for --trust")
    .option("--pool <key>", "key of the pool to join, if the trust admits to several")
    .option("--name <name>", "name of the runner in lists", toName, hostname())
    .option("--label <label>", "label that stations can require (repeatable)", gatherLabel)
    .option("--slots <n>", "how many runs to work at the same time", count, 1)
    .option("--work-folder <folder>", "folder for mirrors and checkouts", join(homedir(), ".signalbox-runner"))
    .option(
      "--git-url <template>",
      "address of repositories; {name} is owner/name",
      template,
      "https://github.com/{name}.git",
    )
    .option("--pass-env <name>", "environment variable to pass to agents (repeatable)", gather)
    .option("--command <program...>", "the agent and its arguments, for stations without their own")
    .argument("[program...]", "the same as --command, after -- if its arguments begin with a dash");
}

function httpUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError("It must be an http or https address.");
  }
  return text;
}

function toName(text: string): string {
  if (text.length < 1 || text.length > 100) throw new InvalidArgumentError("It must have 1 to 100 characters.");
  return text;
}

function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1_000) throw new InvalidArgumentError("It must be 1 to 1000.");
  return value;
}

function gatherLabel(label: string, before: readonly string[] = []): string[] {
  if (label.length < 1 || label.length > 64) throw new InvalidArgumentError("It must have 1 to 64 characters.");
  if (before.length >= 50) throw new InvalidArgumentError("At most 50 labels are allowed.");
  return [...before, label];
}

function gather(name: string, before: readonly string[] = []): string[] {
  return [...before, name];
}

function template(text: string): string {
  if (!text.includes("{name}")) throw new InvalidArgumentError("It must contain {name} in place of owner/name.");
  return text;
}

/** The options of the command line. */
export interface RunnerFlags {
  readonly url: string;
  readonly poolToken?: string;
  readonly trust?: string;
  readonly trustTokenFile?: string;
  readonly pool?: string;
  readonly name: string;
  readonly label?: readonly string[];
  readonly slots: number;
  readonly workFolder: string;
  readonly gitUrl: string;
  readonly passEnv?: readonly string[];
  readonly command?: readonly string[];
}
