import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommonOptions } from "../command/context.js";

export interface CheckOptions extends Pick<CommonOptions, "json"> {
  readonly url?: string;
  readonly token?: string;
  readonly trust?: string;
  readonly trustTokenFile?: string;
  readonly audience: string;
  readonly line?: string;
  readonly station?: readonly string[];
  readonly commit?: string;
  readonly pullRequest?: number;
  readonly attempt?: string;
  readonly repeats?: number;
  readonly summary?: string;
  readonly timeLimit: number;
  readonly every: number;
}

/** Declares the options and the argument of `signalbox check`. */
export function declareCheck(command: Command): void {
  command
    .addOption(
      new Option("--url <url>", "the service's address (default: where you are signed in)")
        .env("SIGNALBOX_URL")
        .argParser(httpUrl),
    )
    .addOption(
      new Option(
        "--token <token>",
        "a workspace token with the scope plan; better from the environment (default: your sign-in)",
      ).env("SIGNALBOX_TOKEN"),
    )
    .addOption(
      new Option("--trust <id>", "a token trust that admits this job, instead of a token").env("SIGNALBOX_TRUST"),
    )
    .option("--trust-token-file <file>", "with --trust: the file with the job's OIDC token")
    .option("--audience <audience>", "the trust's audience", "service")
    .option("--line <line>", "the line: its id, or <team key>/<line key>", lineName)
    .option("--station <key>", "check only this station; repeatable", gather)
    .option("--commit <sha>", "the commit of the planned change (default in CI: the job's commit)")
    .option(
      "--pull-request <number>",
      "the pull request of the planned change (default in CI: the job's)",
      wholeFrom(1),
    )
    .option("--attempt <text>", "a new value starts a new check (default in CI: the run and its attempt)")
    .option("--repeats <n>", "number of replays of each run, 1 to 5 (default of the service: 1)", wholeFrom(1, 5))
    .addOption(new Option("--summary <file>", "append the result to this file, as Markdown").env("GITHUB_STEP_SUMMARY"))
    .option("--time-limit <minutes>", "the maximum wait; then ends with 2", upTo(30_000), 300)
    .option("--every <seconds>", "the interval between checks of the result", upTo(3_600), 5)
    .argument(
      "<plan>",
      "a file with the output of terraform show -json, or a line or station block as JSON; - for standard input",
    );
}

function httpUrl(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError("It must be an http or https address.");
  }
  return text;
}

function lineName(text: string): string {
  if (!/^[\w-]+(\/[\w-]+)?$/.test(text)) {
    throw new InvalidArgumentError("It must be the line's id, or <team key>/<line key>.");
  }
  return text;
}

function gather(key: string, before: readonly string[] = []): string[] {
  return [...before, key];
}

/** Returns a parser for integers from `least` to `max` (null: no maximum), with at most nine digits. */
function wholeFrom(least: number, max: number | null = null): (text: string) => number {
  const range = max === null ? `from ${least}` : `from ${least} to ${max}`;
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < least || (max !== null && value > max))
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    return value;
  };
}

/**
 * Returns a parser for numbers above 0 and up to `max`. The maximum is needed because a timer can run at most about 24
 * days.
 */
function upTo(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > max) {
      throw new InvalidArgumentError(`It must be above 0, and ${max} at most.`);
    }
    return value;
  };
}
