import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Credential, hostCredential, poolToken } from "./connection/credential.js";
import type { RunnerOptions } from "./runner.js";

const HINTS = `
Agents run as the user who starts this, without a sandbox, each in its checkout:
a path in --command begins with a slash, or is looked for there.
SIGTERM or Ctrl+C: runs under way are finished, no more are taken. A second one
stops them, a third kills them.

Examples, with the token in SIGNALBOX_POOL_TOKEN:
  signalbox runner --url https://signalbox.example --command node /opt/agent.js
  signalbox runner --url https://signalbox.example -- node --trace-warnings /opt/agent.js
In a clone, npm run runner -- stands for signalbox runner.`;

/** The options that the command line sets. */
export type RunnerWish = Omit<RunnerOptions, "clock" | "random" | "instance" | "log">;

/** Defines the runner's command line, without parsing any arguments. */
export function createCommandLine(): Command {
  return new Command("signalbox runner")
    .description("Run the agents of a Signalbox service on this machine, in git checkouts, and report their results.")
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
    .argument("[program...]", "the same as --command, after -- when its arguments begin with a dash")
    .addHelpText("after", HINTS)
    .configureOutput({
      outputError: (text, write) => write(`${text.trimEnd().replaceAll("\n", " ")}\n`),
    });
}

/**
 * Parses the arguments after the program's name, and the environment variables of the options. Exits with a one-line
 * error if they are invalid, unless `program` is configured to throw.
 */
export function readCommandLine(program: Command, args: readonly string[]): RunnerWish {
  const options = program.parse(args, { from: "user" }).opts<Options>();
  const { url, name, label: labels = [], slots, gitUrl, passEnv = [] } = options;
  const credential = toCredential(program, options);
  const command = [...(options.command ?? []), ...program.args];
  return { url, credential, name, labels, slots, workFolder: resolve(options.workFolder), gitUrl, passEnv, command };
}

function httpUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError("It must be an http or https address.");
  }
  return text;
}

/** Checks the pool token. It is not the option's own parser, because commander's errors would print the value. */
function toToken(program: Command, text = ""): string {
  if (text === "") {
    program.error(
      "error: a pool token is required: set --pool-token, or SIGNALBOX_POOL_TOKEN in the environment; or set " +
        "--trust with --trust-token-file",
    );
  }
  // Other characters are not valid in a bearer token.
  if (!/^[\x21-\x7e]+$/.test(text)) program.error("error: the pool token must consist of visible ASCII characters");
  return text;
}

/**
 * Returns the pool token as a credential, or a credential that exchanges this host's own token under a runner trust.
 */
function toCredential(program: Command, { url, poolToken: token, trust, trustTokenFile, pool }: Options): Credential {
  if (trust === undefined && trustTokenFile === undefined && pool === undefined)
    return poolToken(toToken(program, token));
  if (trust === undefined || trustTokenFile === undefined) {
    return program.error("error: --trust and --trust-token-file must be set together; --pool requires both");
  }
  if (token !== undefined) program.error("error: both a pool token and --trust are set: use one of them");
  const now = () => Date.now();
  return hostCredential({ url, trust, tokenFile: resolve(trustTokenFile), pool: pool ?? null, now });
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

interface Options {
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
