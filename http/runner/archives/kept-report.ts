import { MAX_COMMITS, type RepositoryCommit } from "../../../actors/runners/kept-commit.js";
import type { RunnerFrame } from "../../../actors/runners/protocol.js";
import type { Clock } from "../../../runtime/clock.js";
import { listKeptIn, releaseCommit } from "../checkout/kept-commits.js";
import type { Mirrors } from "../checkout/mirrors.js";
import { errorMessage } from "../job-failed.js";

export interface KeptReportOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly send: (frame: Extract<RunnerFrame, { frame: "kept" }>) => void;
  readonly log: (line: string) => void;
}

/** How often the commits are reported while the connection lasts, in milliseconds. */
const REPORT_AGAIN_MS = 6 * 60 * 60 * 1_000;

/** Commits that were reported, and what was held when they were listed (`HeldCommits.now`). */
interface Reported {
  readonly since: number;
  readonly rest: readonly RepositoryCommit[];
}

/**
 * Reports to the service which commits the mirrors keep, a frame at a time, and releases those that it names.
 *
 * 1. Commits of runs under way are not reported: the service may not know yet that they began from them.
 * 2. What a run began from since the report is not released.
 */
export class KeptReport {
  readonly #options: KeptReportOptions;
  readonly #ended = new AbortController();
  #nextMs = 0;
  #reported: Reported | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(options: KeptReportOptions) {
    this.#options = options;
  }

  /** Begins a report, at the next call of {@link KeptReport.report}. */
  begin(): void {
    this.#nextMs = 0;
    this.#reported = null;
  }

  /** Reports if it is time to. Call it only when the service has received all that was said of runs. */
  report(): void {
    const { clock, mirrors } = this.#options;
    if (clock.now() < this.#nextMs) return;
    this.#nextMs = clock.now() + REPORT_AGAIN_MS;
    const since = mirrors.held.now;
    this.#next(async () => this.#send({ since, rest: await this.#list(since) }));
  }

  /** The service's answer to a frame: these are not needed any more. */
  release(commits: readonly RepositoryCommit[]): void {
    const reported = this.#reported;
    if (reported === null) return;
    this.#reported = null;
    this.#next(async () => {
      for (const commit of commits) await this.#release(commit, reported.since);
      this.#send(reported);
    });
  }

  /** Ends what is under way; resolves when it has. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  #next(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#options.log(`kept commits: ${errorMessage(error)}`);
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
    const kept: RepositoryCommit[] = [];
    for (const repository of await mirrors.list()) {
      const commits = await mirrors.within({ repository, signal }, ({ mirror }) => listKeptIn(mirror, signal));
      kept.push(...commits.map((commit) => ({ repository, commit })));
    }
    return kept.filter((commit) => !mirrors.held.isHeldSince(commit, since));
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
