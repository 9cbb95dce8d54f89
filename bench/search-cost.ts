import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createActorTypes, createKinds, subscribers } from "../actors/catalogue.js";
import { parseAllowList } from "../actors/outbound/http/allow-list.js";
import { findCopyOfRun } from "../actors/replays/copies/replay-copy.table.js";
import { isUnderWay, replays } from "../actors/replays/replay/replay.table.js";
import { replaySetsRef } from "../actors/replays/sets/replay-set.messages.js";
import { RUNNER_FEATURES } from "../actors/runners/protocol.js";
import { runnerRef } from "../actors/runners/runner.messages.js";
import { outbox } from "../actors/runners/runner.table.js";
import { runs } from "../actors/runs/run.table.js";
import { searchIterationRef } from "../actors/searches/iterations/search-iteration.messages.js";
import { findIteration, listIterations } from "../actors/searches/iterations/search-iteration.table.js";
import { toBlock } from "../actors/searches/search/search.js";
import { searchRef } from "../actors/searches/search/search.messages.js";
import { getSearchInput, searches } from "../actors/searches/search/search.table.js";
import { createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import { liveBytes } from "../test/support/live-heap.js";
import { pastRuns } from "../test/support/replay-world.js";
import { lineId, teamId, workspaceId } from "../test/support/work.js";
import { printTable } from "./support/table.js";

const TASKS = 50;
const COPIES_AT_ONCE = 10;
const PLAIN_REPEATS = 3;
const budget = {
  iterations: 10,
  perIteration: 5,
  repeats: 3,
  concurrency: COPIES_AT_ONCE,
  ceiling: { amount: 1_000, currency: "EUR" },
};
const SEARCH_ID = "srch_1";
const SECOND_MS = 1_000;
const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;

/**
 * Measures the CPU time per copy in a search, compared with a plain replay, and whether the heap grows. The search has
 * 10 iterations with 5 candidates each, over 50 tasks with three copies each. The runner and the agent take no time.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  const rows = pastRuns({ runs: TASKS, candidates: { mine: { prompt: "Mine." } } });
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const runtime = await createRuntime({
    store,
    catalogue: { actors: createActorTypes(kinds), subscribers, gates: [], effects: [] },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: console,
  });
  try {
    const runner = new InstantRunner(runtime);
    await runner.connect();
    const setId = await openSet(runtime);
    const isOver = (replayId: string) => replays.get(runtime.reading, workspaceId, replayId)?.endedAt !== null;
    const plainOne = async () => {
      const replayId = await runner.count(() => startPlain(runtime, setId));
      await runner.workUntil(() => isOver(replayId));
      // Wait for the work that follows the end of the replay, so that it counts too. The first replay also starts a
      // baseline of the live config.
      await runner.workUntil(() => replays.all(runtime.reading, workspaceId, {}).every((one) => !isUnderWay(one)));
    };
    await plainOne();
    const [plain, search] = [new Tally(), new Tally()];
    const heap: number[] = [];
    await runner.measure(search, async () => {
      await runner.count(() => startSearch(runtime, setId));
      const state = () => searches.get(runtime.reading, workspaceId, SEARCH_ID);
      const begun = () => listIterations(runtime.reading, workspaceId, SEARCH_ID).length;
      for (let n = 1; n <= budget.iterations + 1; n++) {
        await runner.workUntil(() => state()?.endedAt !== null || begun() >= n);
        if (n === 1 || n > budget.iterations) heap.push(liveBytes());
        // Meanwhile the search waits for its agent, so only the plain replay proceeds.
        await runner.measure(plain, () => runner.withoutSearches(plainOne));
      }
    });
    print({ plain, search, heap, ending: searches.get(runtime.reading, workspaceId, SEARCH_ID)?.ending ?? "none" });
  } finally {
    await runtime.stop();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

/** The number of copies and their CPU time, either of the plain replay or of the search. */
class Tally {
  copies = 0;
  /** CPU milliseconds. */
  ms = 0;
}

interface Job {
  readonly runId: string;
  readonly fence: number;
}

/** An in-process runner whose agents take no time. */
class InstantRunner {
  readonly #runtime: Runtime;
  #said = 0;
  #received = 0;
  #tally = new Tally();
  /** Jobs of search agents that wait. Below it, whether new jobs of search agents must wait too. */
  #held: readonly Job[] = [];
  #holds = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async connect(): Promise<void> {
    const hello = {
      instance: "process-1-0123456789",
      name: "bench",
      version: "1",
      labels: [],
      harnesses: ["command"],
      // Replays may use half of the runner's slots.
      slots: 2 * COPIES_AT_ONCE,
      received: 0,
      claims: [],
      features: [...RUNNER_FEATURES],
    };
    const leaseMs = 3_600 * SECOND_MS;
    await this.#tell({ type: "runner.hello", connection: "c", poolId: "pool_1", leaseMs, hello });
  }

  /**
   * Runs `work`, and adds the cost of {@link count} and {@link workUntil} to `tally`. A nested call of `measure` adds
   * its cost only to its own tally.
   */
  async measure(tally: Tally, work: () => Promise<void>): Promise<void> {
    const outer = this.#tally;
    this.#tally = tally;
    await work();
    this.#tally = outer;
  }

  /** Runs `work`. Meanwhile, the jobs of search agents wait. */
  async withoutSearches(work: () => Promise<void>): Promise<void> {
    this.#holds = true;
    await work();
    this.#holds = false;
  }

  async workUntil(isOver: () => boolean): Promise<void> {
    await this.count(() => this.#workUntil(isOver));
  }

  async count<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    this.#tally.ms += (user + system) / 1_000;
    return result;
  }

  async #workUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const jobs = this.#jobs();
      await Promise.all(jobs.map((job) => this.#work(job)));
      if (jobs.length === 0) await pause(1);
    }
  }

  #jobs(): readonly Job[] {
    const jobs = [...this.#held, ...this.#newJobs()];
    const ofSearch = ({ runId }: Job) =>
      this.#holds && runs.get(this.#runtime.reading, workspaceId, runId)?.owner.kind === "search";
    this.#held = jobs.filter(ofSearch);
    return jobs.filter((job) => !ofSearch(job));
  }

  #newJobs(): readonly Job[] {
    const page = { after: ["runner_1", this.#received] };
    return outbox.entries(this.#runtime.reading, workspaceId, ["runner_1"], page).flatMap(({ key, value }) => {
      this.#received = Number(key.at(-1));
      return value.type === "run.assign" ? [{ runId: value.runId, fence: value.fence }] : [];
    });
  }

  async #work(job: Job): Promise<void> {
    const owner = runs.get(this.#runtime.reading, workspaceId, job.runId)?.owner;
    await this.#say({ type: "run.started", ...job });
    if (owner?.kind === "search") await propose(this.#runtime, owner.id, job);
    else this.#tally.copies += 1;
    const fails = owner?.kind === "replay" && !doesSucceed(this.#runtime, owner.id, job.runId);
    const failure = { code: "harness-failed", message: "It failed.", output: "" };
    const report = fails
      ? { outcome: "failed", failure, ending: null }
      : { outcome: "completed", failure: null, ending: { kind: "finish", note: "" } };
    const spent = { amount: 0.01, currency: "EUR" };
    await this.#say({ type: "run.ended", ...job, checkouts: [], check: null, spent, ...report });
  }

  #say(message: object): Promise<unknown> {
    this.#said += 1;
    return this.#tell({ type: "runner.said", connection: "c", n: this.#said, ack: this.#received, message });
  }

  #tell(message: object): Promise<unknown> {
    return this.#runtime.ask(runnerRef(workspaceId, "runner_1"), message as never);
  }
}

/** Whether a copy succeeds. Each candidate does better than the previous one, so that the search continues. */
function doesSucceed({ reading }: Runtime, replayId: string, runId: string): boolean {
  const name = replays.get(reading, workspaceId, replayId)?.search?.candidateName ?? "";
  const task = findCopyOfRun(reading, workspaceId, { replayId, runId })?.taskId ?? "";
  return Number(task.slice("task_".length)) <= Number(name.slice("try-".length));
}

async function propose(runtime: Runtime, iterationId: string, job: object): Promise<void> {
  const { reading } = runtime;
  const { number = 1 } = findIteration(reading, workspaceId, iterationId) ?? {};
  const { config, block } = getSearchInput(reading, workspaceId, SEARCH_ID);
  const candidates = Array.from({ length: budget.perIteration }, (_, n) => {
    const place = (number - 1) * budget.perIteration + n + 1;
    return {
      name: `try-${place}`,
      hypothesis: null,
      station: { ...toBlock(config, block), prompt: `Prompt ${place}` },
    };
  });
  const message = { type: "candidates.propose", runnerId: "runner_1", ...job, proposed: { candidates } };
  await runtime.ask(searchIterationRef(workspaceId, iterationId), message as never);
}

async function openSet(runtime: Runtime): Promise<string> {
  const tell = (message: object) =>
    runtime.ask(replaySetsRef(workspaceId, teamId), { caller, client: null, ...message } as never);
  const place = { lineId, stationId: "sta_work" };
  const { setId } = (await tell({ type: "set.open", name: "Bench", ...place })) as { readonly setId: string };
  for (let n = 1; n <= TASKS; n++) await tell({ type: "entry.add", setId, runId: `run_${n}` });
  return setId;
}

async function startPlain(runtime: Runtime, setId: string): Promise<string> {
  const terms = { candidate: "mine", ceiling: budget.ceiling, repeats: PLAIN_REPEATS };
  const message = { type: "replay.start", caller, client: null, setId, ...terms };
  const started = await runtime.ask(replaySetsRef(workspaceId, teamId), message as never);
  return (started as { readonly replayId: string }).replayId;
}

async function startSearch(runtime: Runtime, setId: string): Promise<void> {
  const agent = { harness: "command", model: null, effort: null };
  const place = { teamId, lineId, stationId: "sta_work", caller, client: null };
  const terms = { setId, budget, agent, objective: "success" };
  await runtime.ask(searchRef(workspaceId, SEARCH_ID), { type: "search.start", ...place, terms } as never);
}

function print(of: {
  readonly plain: Tally;
  readonly search: Tally;
  readonly heap: readonly number[];
  readonly ending: string;
}): void {
  const { plain, search, heap, ending } = of;
  const perCopy = ({ ms, copies }: Tally) => ms / copies;
  const inMiB = (bytes = 0) => (bytes / 2 ** 20).toFixed(1);
  printTable({
    title: "A search's own cost",
    note:
      `A search of ${budget.iterations} x ${budget.perIteration} candidates over ${TASKS} tasks, ${budget.repeats} copies ` +
      `of each, beside replays of a person's candidate over the same set, ${PLAIN_REPEATS} copies of each: one before each ` +
      `iteration, while the search waits, and one after its end. ${COPIES_AT_ONCE} copies at once, LMDB, a runner in this ` +
      `process whose agents take no time. It ended ${ending}. Milliseconds of the processor, the runner's included, and ` +
      "starts. The heap is what is alive after a collection: when the first iteration began, " +
      "and at the end.",
    columns: ["", "figure", "beside", "ratio"],
    rows: [
      ["copies", search.copies, plain.copies, ""],
      [
        "ms a copy; of a plain replay",
        ...[perCopy(search).toFixed(2), perCopy(plain).toFixed(2), (perCopy(search) / perCopy(plain)).toFixed(2)],
      ],
      [
        "live heap at the end, MiB; at the first",
        inMiB(heap.at(-1)),
        inMiB(heap[0]),
        ((heap.at(-1) ?? 0) / (heap[0] ?? 1)).toFixed(2),
      ],
    ],
  });
}
