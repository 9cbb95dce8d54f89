import { RUNNER_FEATURES } from "../../actors/runners/protocol.js";
import type { Clock } from "../../runtime/clock.js";
import { readRelease } from "../wire/release.js";
import { createCommits } from "./archives/runner-commits.js";
import { Attachments } from "./attachments/attachments.js";
import { describeGit } from "./checkout/git-version.js";
import { listCredentials, Mirrors } from "./checkout/mirrors.js";
import { clearLeftovers, takeFolder } from "./checkout/work-folder.js";
import type { Credential } from "./connection/credential.js";
import { createRequests } from "./connection/network-requests.js";
import { type Hello, ServiceConnection } from "./connection/service-connection.js";
import { commandHarness } from "./harness/command-harness.js";
import { Jobs } from "./jobs.js";
import { whyNotStarted } from "./process/find-program.js";
import { SearchClient } from "./search/search-client.js";

export interface RunnerOptions {
  readonly url: string;
  readonly credential: Credential;
  readonly name: string;
  readonly labels: readonly string[];
  /** Maximum number of concurrent runs. */
  readonly slots: number;
  /** The absolute path of the work folder. The runner creates the folder if it does not exist. */
  readonly workFolder: string;
  /** The address of repositories; `{name}` is replaced by `owner/name`. */
  readonly gitUrl: string;
  /** The default program of the command harness, for runs that name none. */
  readonly command: readonly string[];
  /** The names of the environment variables of the runner to pass to agents. */
  readonly passEnv: readonly string[];
  readonly clock: Clock;
  readonly random: () => number;
  /** Identifies this process. Random, at least 16 characters. */
  readonly instance: string;
  readonly log: (line: string) => void;
  /** Called if the service refuses the token before it ever accepted one. By default the runner keeps retrying. */
  readonly refused?: () => void;
}

export interface Runner {
  /** Accepts no more runs. Resolves when the active runs are done and reported. */
  drain(): Promise<void>;
  /** Stops the active runs, and then ends like `drain`. */
  stop(): Promise<void>;
  /** Kills the active runs synchronously, without a report. */
  kill(): void;
}

/** How long an ending runner waits for the acknowledgment of its last reports, in milliseconds. */
const SETTLE_MS = 10_000;

/**
 * Starts a runner: cleans up after an earlier runner, connects, and works on the runs that the service assigns. Rejects
 * with `FolderTaken` if another runner uses the folder.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { workFolder, clock, log } = options;
  const releaseFolder = await takeFolder(workFolder);
  const left = await clearLeftovers(workFolder);
  if (left > 0) log(`cleaned up ${left} ${left === 1 ? "run" : "runs"} of an earlier runner`);
  for (const line of [...(await describeGit()), ...(await programFault(options.command))]) log(line);
  const mirrors = new Mirrors(options);
  await mirrors.unlock();
  const harness = commandHarness(options.command);
  const harnesses = new Map([[harness.name, harness]]);
  const commits = createCommits({ ...options, mirrors, connection: () => connection });
  const searches = new SearchClient({ ...options, runnerId: () => connection.runnerId });
  const attachments = new Attachments({ ...options, runnerId: () => connection.runnerId });
  const jobs: Jobs = new Jobs({
    workFolder,
    passEnv: options.passEnv,
    clock,
    log,
    mirrors,
    harnesses,
    archives: commits.archives,
    attachments,
    searches,
    hidden: () => [...options.credential.hidden(), ...listCredentials(options.gitUrl)],
    send: (message) => connection.send(message),
    room: (signal) => connection.waitForCapacity(signal),
    knows: (feature) => connection.knows(feature),
  });
  const requests = createRequests();
  let { slots } = options;

  const connection: ServiceConnection = new ServiceConnection({
    url: options.url,
    credential: options.credential,
    clock,
    random: options.random,
    log,
    refused: options.refused,
    take: (message) => jobs.take(message),
    make: (request) => requests.make(request),
    commits,
    drop: (claims) => {
      for (const claim of claims) jobs.find(claim)?.end("drop");
    },
    leaseOver: () => {
      if (jobs.held.length > 0) log("no heartbeat was acknowledged before the lease expired: killing the active runs");
      jobs.endAll("drop");
    },
    hello: () => describeRunner(options, slots, jobs, [...harnesses.keys()]),
  });
  connection.open();
  const drain = async () => {
    slots = 0;
    if (jobs.isWorking || !connection.isIdleAndAway) await settle(jobs, connection, clock);
    connection.close();
    await Promise.all([requests.close(), commits.close()]);
    await releaseFolder();
  };
  return {
    drain,
    stop: () => {
      jobs.endAll("stop");
      return drain();
    },
    kill: () => jobs.endAll("drop"),
  };
}

/** Describes the runner and its active runs for the service. */
function describeRunner(options: RunnerOptions, slots: number, jobs: Jobs, harnesses: string[]): Hello {
  return {
    instance: options.instance,
    name: options.name,
    version: readRelease(),
    labels: [...options.labels],
    harnesses,
    slots,
    claims: jobs.held.map(({ claim }) => claim),
    makesRequests: true,
    features: [...RUNNER_FEATURES],
  };
}

/** Describes why the default program cannot start. Returns an empty list if it can start, or if there is none. */
async function programFault([program]: readonly string[]): Promise<readonly string[]> {
  const why = program === undefined ? null : await whyNotStarted(program, process.env.PATH);
  if (why === null) return [];
  return [`cannot start the program ${program} (${why}): runs of stations without their own program fail`];
}

/** Accepts no more runs. Resolves when the active runs are done and reported, or when the acknowledgment times out. */
async function settle(jobs: Jobs, connection: ServiceConnection, clock: Clock): Promise<void> {
  connection.send({ type: "offer", slots: 0 });
  await jobs.done();
  // Stop waiting after a time limit, because the service may have stopped for good.
  const cancel = clock.at(clock.now() + SETTLE_MS, () => connection.close());
  await connection.settled();
  cancel();
}
