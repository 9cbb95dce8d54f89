import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";

/** What the help says besides the options. */
export const RUNNER_DETAILS = `Agents run as the user who starts this, without a sandbox, each in its checkout:
a path in --command begins with a slash, or is looked for there.
SIGTERM or Ctrl+C: runs under way are finished, no more are taken. A second one
stops them, a third kills them. The token is better in SIGNALBOX_POOL_TOKEN.`;

/** Declares the runner's options and its argument. */
export function declareRunner(command: Command): Command {
  return command
    .requiredOption("--url <url>", "the service's address", httpUrl)
    .addOption(
      new Option(
        "--pool-token <token>",
        "the runner pool's token; better from the environment, which others cannot see",
      ).env("SIGNALBOX_POOL_TOKEN"),
    )
    .option("--trust <id>", "a runner trust that admits this host, instead of a pool token")
    .option("--trust-token-file <file>", "where the platform puts this host's OIDC token; with --trust")
    .option("--pool <key>", "the pool to join, where the trust admits to several")
    .option("--name <name>", "what the runner is called", toName, hostname())
    .option("--label <label>", "a label it offers; may be given several times", gatherLabel)
    .option("--slots <n>", "runs at once", count, 1)
    .option("--work-folder <folder>", "where mirrors and checkouts are kept", join(homedir(), ".signalbox-runner"))
    .option("--git-url <template>", "where repositories come from", template, "https://github.com/{name}.git")
    .option("--pass-env <name>", "a variable of this environment that agents see; may be given several times", gather)
    .option("--command <program...>", "the agent of runs that name none, with its arguments")
    .argument("[program...]", "the same as --command, after -- when its arguments begin with a dash");
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
