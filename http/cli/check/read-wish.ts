import { readFileSync } from "node:fs";
import { z } from "zod";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { chooseLogin, type Login, toAddress } from "../command/logins.js";
import type { Terminal } from "../command/terminal.js";
import type { CheckOptions } from "./command-line.js";

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
  | { readonly kind: "session"; readonly cookie: string }
  | { readonly kind: "file"; readonly trust: string; readonly file: string }
  | {
      readonly kind: "github";
      readonly trust: string;
      readonly audience: string;
      readonly requestUrl: string;
      readonly requestToken: string;
    };

/**
 * Completes the options from the environment and the stored sign-in. Throws a {@link CommandError} if they
 * are incomplete or conflict.
 */
export function readWish(options: CheckOptions, plan: string, terminal: Pick<Terminal, "env" | "folder">): CheckWish {
  const { env: environment } = terminal;
  const login = findLogin(terminal, options);
  const job = readCiJob(environment);
  const { line = null, station = null, repeats = null, summary = "" } = options;
  return {
    url: login.url,
    file: plan,
    line,
    stations: station,
    access: toAccess(options, login, environment),
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

/**
 * Returns the service, and the token or the sign-in for the service. If the options give an address and a trust,
 * returns only the address.
 */
function findLogin(terminal: Pick<Terminal, "env" | "folder">, { url, token = "", trust = "" }: CheckOptions): Login {
  const { username, password } = url === undefined ? { username: "", password: "" } : new URL(url);
  // Check the address for credentials here and not in the option's parser, because a parser's errors print the value.
  // `toAccess` checks the token for the same reason.
  if (username !== "" || password !== "") throw wrong("--url must hold no credentials");
  if (token !== "" && trust !== "") throw wrong("both a token and a trust are set: use one of them");
  if (url !== undefined && trust !== "") return { url: toAddress(url) };
  const login = chooseLogin(terminal, { url, token: token === "" ? undefined : token });
  if (login !== null) return login;
  throw wrong(
    "required option '--url <url>' not specified, and nobody is signed in: run signalbox login <url>, or set SIGNALBOX_URL",
  );
}

function toAccess(options: CheckOptions, login: Login, environment: Environment): Access {
  const { trust = "", trustTokenFile, audience } = options;
  const { cookie, token = "" } = trust === "" ? login : {};
  if (cookie !== undefined) return { kind: "session", cookie };
  if (token !== "") {
    // A bearer token in the `Authorization` header may contain only visible ASCII characters.
    if (!/^[\x21-\x7e]+$/.test(token)) throw wrong("the token must consist of visible ASCII characters");
    return { kind: "token", token };
  }
  if (trust === "") {
    throw wrong(
      "a credential is required: set --trust or SIGNALBOX_TRUST, set SIGNALBOX_TOKEN in the environment, or run " +
        `signalbox login ${login.url}`,
    );
  }
  if (trustTokenFile !== undefined) return { kind: "file", trust, file: trustTokenFile };
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl = "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken = "" } =
    environment;
  if (requestToken === "" || !URL.canParse(requestUrl)) {
    throw wrong(
      "this job has no OIDC token: on GitHub the job needs the permission id-token: write, which pull " +
        "requests from forks do not get; elsewhere set --trust-token-file",
    );
  }
  return { kind: "github", trust, audience, requestUrl, requestToken };
}

/**
 * Creates the error for wrong arguments. It has the exit code for "could not be asked", because 1 means that a change
 * failed.
 */
function wrong(message: string): CommandError {
  return new CommandError(message, exitCodes["no-service"]);
}

/** Data about the current CI job. */
interface CiJob {
  readonly commit: string | null;
  readonly pullRequest: number | null;
  /**
   * Identifies the attempt of the job; another value starts a new check. In GitHub Actions, the value consists of the
   * workflow run and its attempt. Elsewhere, the value is that of `--attempt`, or null.
   */
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
