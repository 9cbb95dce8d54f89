import type { Job } from "../../actors/runners/job.js";
import type { ServiceMessage } from "../../actors/runners/protocol.js";
import { type JobOptions, JobRun } from "./job-run.js";

/** The running jobs, with at most one claim per run. */
export class Jobs {
  readonly #options: JobOptions;
  readonly #runs = new Map<string, JobRun>();
  readonly #working = new Set<Promise<void>>();

  constructor(options: JobOptions) {
    this.#options = options;
  }

  /** The jobs that still hold their claims. */
  get held(): readonly JobRun[] {
    return [...this.#runs.values()].filter(({ isHeld }) => isHeld);
  }

  /** Whether any job is running, including a job that no longer holds its claim. */
  get isWorking(): boolean {
    return this.#working.size > 0;
  }

  find(claim: { readonly runId: string; readonly fence: number }): JobRun | undefined {
    const run = this.#runs.get(claim.runId);
    return run?.job.fence === claim.fence ? run : undefined;
  }

  take(message: ServiceMessage): void {
    switch (message.type) {
      case "run.assign":
        return this.#assign(message.job);
      case "run.stop":
        return this.find(message)?.end("stop");
      case "run.drop":
        return this.find(message)?.end("drop");
      default:
        return this.find(message)?.take(message);
    }
  }

  endAll(cut: "stop" | "drop"): void {
    for (const run of this.#runs.values()) run.end(cut);
  }

  /** Resolves when no job is running, including jobs that start in the meantime. */
  async done(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  #assign(job: Job): void {
    const before = this.#runs.get(job.runId);
    if (before !== undefined && before.job.fence >= job.fence) return;
    before?.end("drop");
    const { log, clock } = this.#options;
    const startedMs = clock.now();
    const run = new JobRun(job, this.#options);
    this.#runs.set(job.runId, run);
    const title = run.title === "" ? "" : `${run.title}, `;
    log(`${job.runId}: ${title}at ${job.station.key}`);
    const work = run.work().then(() => {
      if (this.#runs.get(job.runId) === run) this.#runs.delete(job.runId);
      this.#working.delete(work);
      log(`${job.runId}: ${run.summary} (${((clock.now() - startedMs) / 1_000).toFixed(1)} s)`);
    });
    this.#working.add(work);
  }
}
