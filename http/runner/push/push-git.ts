import type { PushOrder } from "../../../actors/runners/push.js";
import { GitFailed, gitOutput } from "../checkout/git.js";

/** The address, the branch and the token of a push. */
export interface PushTarget {
  readonly url: string;
  readonly token: string;
  readonly branch: string;
}

/** Returns the target of an order. Returns null if the address must not receive a token. */
export function findTarget({ url, branch }: PushOrder, token: string): PushTarget | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return parsed.username === "" && parsed.password === "" ? { url, token, branch } : null;
}

/**
 * A credential helper that gives git the token from descriptor 3 (see `Launch.secret`). The helper answers for any
 * host, so configure it only for the host of the push: see {@link settings}.
 */
const HELPER = '!f() { test "$1" = get && cat <&3; }; f';

/** Settings that send the token only to its host, and disable every other credential. */
function settings(url: string): readonly string[] {
  const values = [
    "credential.helper=",
    `credential.${new URL(url).origin}.helper=${HELPER}`,
    "credential.useHttpPath=false",
    "http.followRedirects=false",
    "http.sslVerify=true",
    "http.cookieFile=",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "fetch.fsckObjects=true",
    // Keep git from listing the branches of the repositories whose objects the site borrows.
    "core.alternateRefsCommand=true",
    "protocol.allow=never",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
  ];
  return values.flatMap((value) => ["-c", value]);
}

export interface PushGitOptions {
  readonly signal: AbortSignal;
}

/** Git's output, and whether git succeeded. `why` is its error output, without the token. */
export interface PushGitResult {
  readonly isDone: boolean;
  readonly output: string;
  readonly why: string;
}

/**
 * Runs git in a push site against the target. Git reads the token from a socket that it inherits at its start. The
 * token is on no command line, in no environment and in no file. The runner's own credentials are not used.
 */
export async function gitWithToken(
  site: string,
  { url, token }: PushTarget,
  args: readonly string[],
  { signal }: PushGitOptions,
): Promise<PushGitResult> {
  const chunks: Buffer[] = [];
  const options = {
    // Keep git from using `~/.netrc`, the user's configuration and the ssh agent.
    env: { GIT_DIR: site, HOME: site, XDG_CONFIG_HOME: site, SSH_AUTH_SOCK: "", GIT_ALLOW_PROTOCOL: "http:https" },
    signal,
    secret: `username=x-access-token\npassword=${token}\n`,
    maxBytes: 1024 * 1024,
  };
  const output = () => Buffer.concat(chunks).toString("utf8");
  try {
    await gitOutput(site, [...settings(url), ...args], options, (chunk) => void chunks.push(chunk));
    return { isDone: true, output: output(), why: "" };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return { isDone: false, output: output(), why: error.message.replaceAll(token, "***") };
  }
}
