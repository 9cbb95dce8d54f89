import type { ServiceMessage } from "../../actors/runners/protocol.js";
import type { Clock } from "../../runtime/clock.js";
import { Checkouts } from "./checkout.js";
import { commandHarness } from "./command-harness.js";
import { Connection } from "./connection.js";
import { JobRun } from "./job-run.js";
import { clearLeftovers } from "./run-folder.js";

export interface RunnerOptions {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly workFolder: string;
  /** Where repositories come from; `{name}` stands for `owner/name`. */
  readonly gitUrl: string;
  /** The command harness's program where a run names none. */
  readonly command: readonly string[];
  readonly clock: Clock;
  readonly random: () => number;
  /** Names this process; random, at least 16 characters. */
  readonly instance: string;
  readonly say: (line: string) => void;
}

export interface Runner {
  /** Takes no more runs; resolves when those under way are done and reported. */
  drain(): Promise<void>;
  /** Stops what is under way and reports it. */
  stop(): Promise<void>;
}

const VERSION = "0.1.0";

/** How long a runner that ends waits for its last reports to be acknowledged, in milliseconds. */
const SETTLE_MS = 10_000;

/** Starts a runner: ends what an earlier one left behind, connects, and works what it is given. */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const left = await clearLeftovers(options.workFolder);
  if (left > 0) options.say(`cleared ${left} runs that an earlier runner left behind`);
  const checkouts = new Checkouts(options);
  const harness = commandHarness(options.command);
  const jobs = new Map<string, JobRun>();
  const working = new Set<Promise<void>>();
  let slots = options.slots;

  const assign = (message: Extract<ServiceMessage, { type: "run.assign" }>) => {
    const { job } = message;
    const under = jobs.get(job.runId);
    if (under !== undefined && under.job.fence >= job.fence) return;
    under?.end("drop");
    const { workFolder } = options;
    const run = new JobRun(job, {
      ...{ workFolder, checkouts, harness },
      send: (said) => connection.send(said),
      room: () => connection.room(),
    });
    jobs.set(job.runId, run);
    options.say(`${job.runId}: ${job.task.title} at ${job.station.key}`);
    const work = run.work().then(() => {
      if (jobs.get(job.runId) === run) jobs.delete(job.runId);
      working.delete(work);
      options.say(`${job.runId}: ended`);
    });
    working.add(work);
  };

  const take = (message: ServiceMessage): void => {
    if (message.type === "run.assign") return assign(message);
    const run = jobs.get(message.runId);
    if (run === undefined || run.job.fence !== message.fence) return undefined;
    switch (message.type) {
      case "run.stop":
        return run.end("stop");
      case "run.drop":
        return run.end("drop");
      case "run.handover-answered":
        return run.answer(message.id, message.refused);
    }
  };

  const connection = new Connection({
    url: options.url,
    token: options.token,
    clock: options.clock,
    random: options.random,
    take,
    say: options.say,
    drop: (runIds) => {
      for (const runId of runIds) jobs.get(runId)?.end("drop");
    },
    leaseOver: () => {
      options.say("the service was not heard for a whole lease: what runs is stopped");
      for (const run of jobs.values()) run.end("drop");
    },
    hello: () => ({
      instance: options.instance,
      name: options.name,
      version: VERSION,
      labels: [...options.labels],
      harnesses: [harness.name],
      slots,
      claims: [...jobs.values()].map(({ job }) => ({ runId: job.runId, fence: job.fence })),
    }),
  });
  connection.open();

  const drain = async () => {
    slots = 0;
    connection.send({ type: "offer", slots });
    await Promise.all(working);
    // A service that is gone for good acknowledges nothing more.
    const cancel = options.clock.at(options.clock.now() + SETTLE_MS, () => connection.close());
    await connection.settled();
    cancel();
    connection.close();
  };
  return {
    drain,
    stop: async () => {
      for (const run of jobs.values()) run.end("stop");
      await drain();
    },
  };
}
