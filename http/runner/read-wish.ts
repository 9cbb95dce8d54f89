import { resolve } from "node:path";
import type { RunnerFlags } from "./command-line.js";
import { type Credential, hostCredential, poolToken } from "./connection/credential.js";
import type { RunnerOptions } from "./runner.js";

/** The options that the command line sets. */
export type RunnerWish = Omit<RunnerOptions, "clock" | "random" | "instance" | "log">;

/** Ends the program with a message about wrong arguments. */
type Fail = (message: string) => never;

/** Reads the runner's options from the command line. Calls `fail` if they are invalid. */
export function readWish(flags: RunnerFlags, program: readonly string[], fail: Fail): RunnerWish {
  const { url, name, label: labels = [], slots, gitUrl, passEnv = [] } = flags;
  const credential = toCredential(flags, fail);
  const command = [...(flags.command ?? []), ...program];
  return { url, credential, name, labels, slots, workFolder: resolve(flags.workFolder), gitUrl, passEnv, command };
}

/** Checks the pool token. Do not check it in the option's parser, because commander's errors would print the value. */
function toToken(text: string, fail: Fail): string {
  if (text === "") {
    fail(
      "a pool token is required: set --pool-token, or SIGNALBOX_POOL_TOKEN in the environment; or set --trust with " +
        "--trust-token-file",
    );
  }
  // A bearer token may contain only visible ASCII characters.
  if (!/^[\x21-\x7e]+$/.test(text)) fail("the pool token must consist of visible ASCII characters");
  return text;
}

/**
 * Returns the pool token as a credential, or a credential that exchanges this host's own token under a runner trust.
 */
function toCredential({ url, poolToken: token, trust, trustTokenFile, pool }: RunnerFlags, fail: Fail): Credential {
  if (trust === undefined && trustTokenFile === undefined && pool === undefined) {
    return poolToken(toToken(token ?? "", fail));
  }
  if (trust === undefined || trustTokenFile === undefined) {
    return fail("--trust and --trust-token-file must be set together; --pool requires both");
  }
  if (token !== undefined) fail("both a pool token and --trust are set: use one of them");
  const now = () => Date.now();
  return hostCredential({ url, trust, tokenFile: resolve(trustTokenFile), pool: pool ?? null, now });
}
