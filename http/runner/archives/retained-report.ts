import { MAX_COMMITS, type RepositoryCommit } from "../../../actors/runners/commit-frames.js";
import type { RunnerFrame } from "../../../actors/runners/protocol.js";
import type { Clock } from "../../../runtime/clock.js";
import type { Mirrors } from "../checkout/mirrors.js";
import { listRetained, releaseCommit } from "../checkout/retained-commits.js";
import { errorMessage } from "../job-failed.js";

export interface RetainedReportOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly send: (frame: Extract<RunnerFrame, { frame: "kept" }>) => void;
  readonly log: (line: string) => void;
}

/** Interval between reports while the connection lasts, in milliseconds. */
const REPORT_AGAIN_MS = 6 * 60 * 60 * 1_000;

/** The commits still to report, and the value of `CommitHolds.now` when they were listed. */
interface Reported {
  readonly since: number;
  readonly rest: readonly RepositoryCommit[];
}

/**
 * Reports to the service which commits the mirrors keep, one frame at a time. Releases the commits that the service
 * names in its answers.
 *
 * 1. The report omits the commits of active runs: the service may not know yet that these runs started from them.
 * 2. The runner does not release a commit from which a run has started since the report.
 * 3. If the work folder moves to another workspace's pool, the new workspace needs none of the old commits. The
 *    runner then releases all of them.
 */
export class RetainedReport {
  readonly #options: RetainedReportOptions;
  readonly #ended = new AbortController();
  #nextMs = 0;
  #reported: Reported | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(options: RetainedReportOptions) {
    this.#options = options;
  }

  /** Schedules a new report for the next call of {@link RetainedReport.report}. */
  begin(): void {
    this.#nextMs = 0;
    this.#reported = null;
  }

  /** Sends a report if one is due. Call it only when the service has acknowledged all run messages. */
  report(): void {
    const { clock, mirrors } = this.#options;
    if (clock.now() < this.#nextMs) return;
    this.#nextMs = clock.now() + REPORT_AGAIN_MS;
    const since = mirrors.held.now;
    this.#next(async () => this.#send({ since, rest: await this.#list(since) }));
  }

  /** Handles the service's answer to a frame: releases these commits, then sends the next frame. */
  release(commits: readonly RepositoryCommit[]): void {
    const reported = this.#reported;
    if (reported === null) return;
    this.#reported = null;
    this.#next(async () => {
      for (const commit of commits) await this.#release(commit, reported.since);
      this.#send(reported);
    });
  }

  /** Aborts the current work. Resolves when that work has ended. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  #next(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#options.log(`stored commits: ${errorMessage(error)}`);
    });
  }

  #send({ since, rest }: Reported): void {
    if (rest.length === 0) return;
    this.#reported = { since, rest: rest.slice(MAX_COMMITS) };
    this.#options.send({ frame: "kept", commits: rest.slice(0, MAX_COMMITS) });
  }

  async #list(since: number): Promise<readonly RepositoryCommit[]> {
    const { mirrors } = this.#options;
    const { signal } = this.#ended;
    const retained: RepositoryCommit[] = [];
    for (const repository of await mirrors.list()) {
      const commits = await mirrors.within({ repository, signal }, ({ mirror }) => listRetained(mirror, signal));
      retained.push(...commits.map((commit) => ({ repository, commit })));
    }
    return retained.filter((commit) => !mirrors.held.isHeldSince(commit, since));
  }

  async #release({ repository, commit }: RepositoryCommit, since: number): Promise<void> {
    const { mirrors } = this.#options;
    const { signal } = this.#ended;
    await mirrors.within({ repository, signal }, async ({ mirror }) => {
      if (mirrors.held.isHeldSince({ repository, commit }, since)) return;
      mirrors.held.forget({ repository, commit });
      await releaseCommit(mirror, commit, signal);
    });
  }
}
