import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { exitCodes } from "./outcome.js";

const HINTS = `
Ends with 0 when the change passed or there is nothing to replay, 1 when it
failed, 2 while undecided, 3 when it could not be asked. Of several stations the
worst counts: 1 before 3 before 2. Interrupted, it ends with 130 (SIGINT) or 143
(SIGTERM); the checks go on.

In a job of GitHub Actions with the permission id-token: write, --trust is
enough; elsewhere --trust-token-file names the file with the platform's token.

Examples:
  terraform show -json plan.bin | signalbox check --url https://signalbox.example --trust <id> -
  signalbox check --url https://signalbox.example --line core/dev station.json
In a clone, npm run check -- stands for signalbox check.`;

/** The request that the command line and the environment describe. */
export interface CheckWish {
  readonly url: string;
  /** The path of the plan; `-` for standard input. */
  readonly file: string;
  /** An id or `<team key>/<line key>`. Null to use the lines that the plan names. */
  readonly line: string | null;
  /** Keys of the stations to check; null for all stations that the plan changes. */
  readonly stations: readonly string[] | null;
  readonly access: Access;
  readonly job: CiJob;
  readonly repeats: number | null;
  /** The file to append the summary to. */
  readonly summary: string | null;
  readonly timeLimitMs: number;
  readonly everyMs: number;
}

/** How the command authenticates. */
export type Access =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "file"; readonly trust: string; readonly file: string }
  | {
      readonly kind: "github";
      readonly trust: string;
      readonly audience: string;
      readonly requestUrl: string;
      readonly requestToken: string;
    };

interface Options {
  readonly url: string;
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

/** Creates the parser. Wrong arguments end the process with exit code 3, because 1 means that a change failed. */
export function createCommandLine(): Command {
  return new Command("signalbox check")
    .description("Replay past runs with a planned change, wait for the result, and fail if it does worse.")
    .addOption(
      new Option("--url <url>", "the service's address").env("SIGNALBOX_URL").argParser(httpUrl).makeOptionMandatory(),
    )
    .addOption(
      new Option("--token <token>", "a workspace token with the scope plan; better from the environment").env(
        "SIGNALBOX_TOKEN",
      ),
    )
    .addOption(
      new Option("--trust <id>", "a token trust that admits this job, instead of a token").env("SIGNALBOX_TRUST"),
    )
    .option("--trust-token-file <file>", "where the platform puts the job's OIDC token; with --trust")
    .option("--audience <audience>", "the trust's audience", "service")
    .option("--line <line>", "the line that is meant: its id, or <team key>/<line key>", lineName)
    .option("--station <key>", "checks this station alone; may be given several times", gather)
    .option("--commit <sha>", "the commit that plans the change (in CI: the one it says)")
    .option("--pull-request <number>", "the pull request that plans it (in CI: the one it says)", wholeFrom(1))
    .option("--attempt <text>", "another one asks anew (in CI: the run and its attempt)")
    .option("--repeats <n>", "how often each run is replayed, 1 to 5 (the service's default: 1)", wholeFrom(1, 5))
    .addOption(new Option("--summary <file>", "appends what came of it in Markdown").env("GITHUB_STEP_SUMMARY"))
    .option("--time-limit <minutes>", "waits no longer than that, and ends with 2", upTo(30_000), 300)
    .option("--every <seconds>", "how often it looks", upTo(3_600), 5)
    .argument("<plan>", "what terraform show -json prints, or a line or a station block as JSON; - for standard input")
    .addHelpText("after", HINTS)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes["could not be asked"]))
    .configureOutput({ outputError: (text, write) => write(`${text.trimEnd().replaceAll("\n", " ")}\n`) });
}

/** Parses the arguments after the program's name. Wrong arguments end the process with a one-line message. */
export function readCommandLine(program: Command, args: readonly string[], environment: Environment): CheckWish {
  const options = program.parse(args, { from: "user" }).opts<Options>();
  const { username, password } = new URL(options.url);
  // Check the address for credentials here and not in the option's parser, because a parser's errors print the value.
  // `toAccess` checks the token for the same reason.
  if (username !== "" || password !== "") program.error("error: --url must hold no credentials");
  const job = readCiJob(environment);
  const { line = null, station = null, repeats = null, summary = "" } = options;
  return {
    url: options.url.replace(/\/+$/, ""),
    file: program.args[0] ?? "-",
    line,
    stations: station,
    access: toAccess(program, options, environment),
    job: {
      commit: options.commit ?? job.commit,
      pullRequest: options.pullRequest ?? job.pullRequest,
      attempt: options.attempt ?? job.attempt,
    },
    repeats,
    summary: summary === "" ? null : summary,
    timeLimitMs: options.timeLimit * 60_000,
    everyMs: options.every * 1_000,
  };
}

function toAccess(program: Command, options: Options, environment: Environment): Access {
  const { token = "", trust = "", trustTokenFile, audience } = options;
  if (token !== "" && trust !== "") return program.error("error: both a token and a trust are set: use one of them");
  if (token !== "") {
    // Other characters are not valid in a bearer token of the `Authorization` header.
    if (!/^[\x21-\x7e]+$/.test(token))
      return program.error("error: the token must consist of visible ASCII characters");
    return { kind: "token", token };
  }
  if (trust === "") {
    return program.error(
      "error: a credential is required: set --trust or SIGNALBOX_TRUST, or set SIGNALBOX_TOKEN in the environment",
    );
  }
  if (trustTokenFile !== undefined) return { kind: "file", trust, file: trustTokenFile };
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl = "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken = "" } =
    environment;
  if (requestToken === "" || !URL.canParse(requestUrl)) {
    return program.error(
      "error: this job has no OIDC token: on GitHub the job needs the permission id-token: write, which pull " +
        "requests from forks do not get; elsewhere set --trust-token-file",
    );
  }
  return { kind: "github", trust, audience, requestUrl, requestToken };
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

/** Data about the current CI job. */
interface CiJob {
  readonly commit: string | null;
  readonly pullRequest: number | null;
  /** The workflow run and its attempt. Another attempt starts a new check. Null outside of GitHub Actions. */
  readonly attempt: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const pullRequestEvent = z.looseObject({
  pull_request: z.looseObject({ number: z.int(), head: z.looseObject({ sha: z.string() }) }),
});

/**
 * Reads the job's data from the environment of GitHub Actions and the event file. For a pull request, `commit` is the
 * newest commit of its branch, because `GITHUB_SHA` is a merge commit that is not on the branch.
 */
function readCiJob(environment: Environment): CiJob {
  const { GITHUB_EVENT_PATH: path, GITHUB_SHA: sha, GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt } = environment;
  const event = path === undefined || path === "" ? undefined : readEvent(path);
  return {
    commit: event?.head.sha ?? (sha === undefined || sha === "" ? null : sha),
    pullRequest: event?.number ?? null,
    attempt: attempt === undefined || attempt === "" ? null : `${run ?? ""}/${attempt}`,
  };
}

/** Returns the event's pull request; undefined for another event or an unreadable file. */
function readEvent(path: string) {
  try {
    return pullRequestEvent.safeParse(JSON.parse(readFileSync(path, "utf8"))).data?.pull_request;
  } catch {
    return undefined;
  }
}
