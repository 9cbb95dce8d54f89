import type { PushOrder } from "../../../actors/runners/push.js";
import { GitFailed, gitOutput } from "../checkout/git.js";

/** Where a push goes, and with what. */
export interface PushTarget {
  readonly url: string;
  readonly token: string;
  readonly branch: string;
}

/** The target of an order; null where its address is none that a token may be sent to. */
export function targetOf({ url, branch }: PushOrder, token: string): PushTarget | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return parsed.username === "" && parsed.password === "" ? { url, token, branch } : null;
}

/** Hands git the token for this host alone, read from descriptor 3: see `Launch.secret`. */
const HELPER = '!f() { test "$1" = get && cat <&3; }; f';

/** What keeps the token with the host that it is for, and takes every other credential away. */
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
    // Other repositories whose objects are borrowed are not asked for their branches.
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

/** What git printed, and whether it ended well; `why` is its error output, without the token. */
export interface PushGitResult {
  readonly isDone: boolean;
  readonly output: string;
  readonly why: string;
}

/**
 * Runs git in a push site against the target. The token is on no command line, in no environment and no file: git reads
 * it from a socket that it was started with. The runner's own ways to sign in are not used.
 */
export async function gitWithToken(
  site: string,
  { url, token }: PushTarget,
  args: readonly string[],
  { signal }: PushGitOptions,
): Promise<PushGitResult> {
  const chunks: Buffer[] = [];
  const options = {
    // No `~/.netrc`, no configuration, no agent for keys.
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
