import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { poolToken } from "../../http/runner/connection/credential.js";
import { startRunner } from "../../http/runner/runner.js";
import { createSystemClock } from "../../runtime/clock.js";
import type { Cleaning } from "./service.js";

interface RealRunnerOptions {
  readonly url: string;
  /** The pool's token. */
  readonly token: string;
  /** The address of repositories; `{name}` is replaced by `owner/name`. */
  readonly gitUrl: string;
  /** The agent's command. */
  readonly command: readonly string[];
  readonly slots?: number;
}

/** Starts a real runner in the test's process. At the end of the test, the runner stops. */
export async function startRealRunner(t: Cleaning, options: RealRunnerOptions): Promise<void> {
  const { url, token, gitUrl, command, slots = 1 } = options;
  const workFolder = await mkdtemp(join(tmpdir(), "signalbox-real-runner-"));
  const runner = await startRunner({
    url,
    credential: poolToken(token),
    name: "real",
    labels: [],
    slots,
    gitUrl,
    command,
    passEnv: [],
    workFolder,
    clock: createSystemClock(),
    random: () => 0.5,
    instance: randomBytes(16).toString("hex"),
    log: () => undefined,
  });
  t.teardown(async () => {
    await runner.stop();
    // A killed git process can still write for a moment.
    await rm(workFolder, { recursive: true, force: true, maxRetries: 5 });
  });
}
