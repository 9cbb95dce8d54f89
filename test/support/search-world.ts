import { compare, decimal, fromText, sum } from "../../actors/fraction.js";
import type { StationBody } from "../../actors/lines/station.js";
import { amountIn } from "../../actors/money.js";
import type { Refusal } from "../../actors/refusal.js";
import { isRefusal } from "../../actors/refusal.js";
import { countSpent } from "../../actors/replays/budget/replay-ceiling.js";
import { type SearchBudgetRow, searchBudgets } from "../../actors/replays/budget/search-budget.table.js";
import { findCopyOfRun } from "../../actors/replays/copies/replay-copy.table.js";
import { isUnderWay, replays } from "../../actors/replays/replay/replay.table.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runs } from "../../actors/runs/run.table.js";
import { listCandidates } from "../../actors/searches/candidates/search-candidate.table.js";
import { searchIterationRef } from "../../actors/searches/iterations/search-iteration.messages.js";
import { listIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "../../actors/searches/search/search.js";
import { toBlock } from "../../actors/searches/search/search.js";
import { type SearchStarted, searchRef } from "../../actors/searches/search/search.messages.js";
import { getSearchInput, searches } from "../../actors/searches/search/search.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { type GivenJob, ReplayWorld, type ReplayWorldOptions } from "./replay-world.js";
import { plainTerms } from "./stepped-search.js";
import { base } from "./stepped-work.js";
import { lineId, teamId, workspaceId } from "./work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const SEARCH_ID = "search_1";

type Said = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A replay copy that a runner works on. */
export interface WorkedCopy {
  readonly candidate: string;
  readonly taskId: string;
  readonly repeat: number;
}

/** How the runner handles a search. */
export interface SearchScript {
  /** Returns whether a copy succeeds, the copy's cost (null if it reports none), and its diff. */
  copy?(copy: WorkedCopy): { readonly succeeds: boolean; readonly amount?: number | null; readonly diff?: string };
  /** The agent's proposals in an iteration, one prompt per name. */
  propose?(iteration: SearchIterationRow): Readonly<Record<string, string>>;
  /**
   * The causes that a reflection finds: one per failed task, with its `taskId`. By default each cause is in the config
   * and has a suggestion.
   */
  reflect?(iteration: SearchIterationRow): readonly Readonly<Record<string, unknown>>[];
  /** How the agent's run ends, and its cost. */
  agent?(iteration: SearchIterationRow): { readonly amount?: number | null; readonly fails?: boolean };
}

/** A search of a set of past runs, by the real runtime over simulated time. The test plays the runner. */
export class SearchWorld {
  readonly world: ReplayWorld;
  searchId = SEARCH_ID;
  private constructor(world: ReplayWorld) {
    this.world = world;
  }

  static async open(options: ReplayWorldOptions = {}): Promise<SearchWorld> {
    return new SearchWorld(await ReplayWorld.open({ runs: 6, slots: 4, ...options }));
  }

  tryStart(terms: object = {}, of: object = {}): Promise<SearchStarted | Refusal> {
    const asked = { setId: this.world.setId, ...plainTerms, ...terms };
    const place = { teamId, lineId, stationId: "sta_work", caller, client: null };
    const message = { type: "search.start", ...place, terms: asked, ...of };
    return this.#ask(message) as Promise<SearchStarted | Refusal>;
  }

  async start(terms: object = {}, of: object = {}): Promise<SearchStarted> {
    const started = await this.tryStart(terms, of);
    if (isRefusal(started)) throw new Error(JSON.stringify(started));
    return started;
  }

  stop(of: object = {}): Promise<unknown> {
    return this.#ask({ type: "search.stop", caller, client: null, ...of });
  }

  #ask(message: Said): Promise<unknown> {
    return this.world.harness.ask(searchRef(workspaceId, this.searchId), message as Message);
  }

  search(): SearchRow {
    const row = this.findSearch();
    if (row === undefined) throw new Error("there is no search");
    return row;
  }

  findSearch(): SearchRow | undefined {
    return searches.get(this.world.harness.durable, workspaceId, this.searchId);
  }

  candidates(): readonly SearchCandidateRow[] {
    return listCandidates(this.world.harness.durable, workspaceId, this.searchId);
  }

  candidate(name: string): SearchCandidateRow {
    const found = this.candidates().find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no candidate ${name}`);
    return found;
  }

  iterations(): readonly SearchIterationRow[] {
    return listIterations(this.world.harness.durable, workspaceId, this.searchId);
  }

  purse(): SearchBudgetRow | undefined {
    return searchBudgets.get(this.world.harness.durable, workspaceId, this.searchId);
  }

  /** Returns the iteration of an agent's job; undefined for a copy's job. */
  findIteration({ runId }: GivenJob): SearchIterationRow | undefined {
    return this.iterations().find((each) => each.runId === runId);
  }

  /** Returns the live block with changes. */
  block(changes: Partial<StationBody> = {}): StationBody {
    const { config, block } = getSearchInput(this.world.harness.durable, workspaceId, this.searchId);
    return { ...toBlock(config, block), ...changes };
  }

  /** Proposes candidates as the agent of a job, one prompt per name. */
  propose(job: GivenJob, prompts: Readonly<Record<string, string>>, of: object = {}): Promise<unknown> {
    const candidates = Object.entries(prompts).map(([name, prompt]) => {
      return { name, hypothesis: `Try ${name}.`, station: this.block({ prompt }) };
    });
    return this.say(job, { type: "candidates.propose", proposed: { candidates }, ...of });
  }

  /** Sends the iteration a message from the runner of the job. */
  say(job: GivenJob, message: Said): Promise<unknown> {
    const iteration = this.findIteration(job);
    if (iteration === undefined) throw new Error("a job of no agent");
    const held = { runId: job.runId, runnerId: "runner_1", fence: job.fence };
    return this.world.harness.ask(searchIterationRef(workspaceId, iteration.id), { ...held, ...message } as Message);
  }

  /** Works on a job as scripted. */
  async work(job: GivenJob, script: SearchScript): Promise<void> {
    const iteration = this.findIteration(job);
    await (iteration === undefined ? this.#workCopy(job, script) : this.#workAgent(job, iteration, script));
  }

  async #workCopy(job: GivenJob, script: SearchScript): Promise<void> {
    const copy = this.findCopy(job);
    const {
      succeeds,
      amount = 1,
      diff,
    } = copy === null ? { succeeds: true } : (script.copy?.(copy) ?? { succeeds: true });
    const failure = { code: "harness-failed", message: "It failed.", output: "" } as const;
    const checkouts = diff === undefined ? [] : [{ repository: "acme/app", base: base("b"), diff }];
    await this.world.work(job, amount, succeeds ? { checkouts } : { outcome: "failed", ending: null, failure });
  }

  async #workAgent(job: GivenJob, iteration: SearchIterationRow, script: SearchScript): Promise<void> {
    await this.world.begin(job);
    if (iteration.kind === "reflect") {
      for (const cause of script.reflect?.(iteration) ?? configCauses(iteration)) {
        await this.say(job, { type: "cause.record", suggestion: null, ...cause });
      }
    } else {
      const n = iteration.number;
      await this.propose(
        job,
        script.propose?.(iteration) ?? { [`try-${n}`]: `Prompt ${n}`, [`too-${n}`]: `Other ${n}` },
      );
    }
    const { amount = 1, fails = false } = script.agent?.(iteration) ?? {};
    const failure = { code: "harness-failed", message: "The agent gave up.", output: "" } as const;
    await this.world.end(job, amount, fails ? { outcome: "failed", ending: null, failure } : {});
  }

  findCopy({ runId }: GivenJob): WorkedCopy | null {
    const reading = this.world.harness.durable;
    const run = runs.get(reading, workspaceId, runId);
    if (run?.owner.kind !== "replay") return null;
    const replay = replays.get(reading, workspaceId, run.owner.id);
    const copy = findCopyOfRun(reading, workspaceId, { replayId: run.owner.id, runId });
    if (replay === undefined || copy === undefined) return null;
    const candidate = replay.search?.candidateName ?? replay.candidate.name;
    return { candidate, taskId: copy.taskId, repeat: copy.repeat };
  }

  /** Works on jobs until there are no more jobs, or until it has worked on `most` jobs. Returns the number of jobs. */
  async workAll(script: SearchScript = {}, most = 2_000): Promise<number> {
    let count = 0;
    for (let jobs = this.world.jobs(); jobs.length > 0; jobs = this.world.jobs()) {
      for (const job of jobs) {
        if (count === most) return count;
        count += 1;
        await this.work(job, script);
      }
    }
    return count;
  }

  /** Returns the violated invariants. Call it only once the search has ended and the runners have reported. */
  complaintsAtEnd(): readonly string[] {
    const { state, ending, endedAt, budget } = this.search();
    const reading = this.world.harness.durable;
    const left = ["claim", "queued-run", "queued-needs", "run-lane"].filter(
      (table) => reading.range({ prefix: [workspaceId, "row", table] }).length > 0,
    );
    const pins = reading.range({ prefix: [workspaceId, "row", "pin"] });
    const held = pins.filter(({ key }) => String(key.at(-1)) === this.searchId);
    const replaysNow = replays.all(reading, workspaceId, { searchId: this.searchId });
    const counted = sum(replaysNow.map(countSpent));
    const purse = fromText(this.purse()?.counted ?? "0/1");
    const agents = this.iterations().map(({ agentSpent, allotted, unpriced }) => {
      const reported = amountIn(agentSpent, budget.ceiling.currency);
      return unpriced ? sum([reported, decimal(allotted.amount)]) : reported;
    });
    return [
      ...(["finished", "stopped"].includes(state) && endedAt !== null ? [] : [`it is ${state}`]),
      ...(ending === null ? ["it has no ending"] : []),
      ...this.runsUnderWay().map(({ id, state: its }) => `${id} is ${its}`),
      ...left.map((table) => `${table} is not empty`),
      ...held.map(({ key }) => `${key.join(" ")} is pinned`),
      ...replaysNow.filter(isUnderWay).map(({ id }) => `${id} is under way`),
      ...(compare(purse, sum([counted, ...agents])) === 0 ? [] : ["its purse is not the sum of what it ran"]),
      ...this.iterations()
        .filter(({ state: its }) => its === "wanted" || its === "running")
        .map(({ number }) => `iteration ${number} is under way`),
      ...this.world.complaints().map((each) => JSON.stringify(each)),
    ];
  }

  /** Returns the runs that have not ended and that belong to a replay or to the search's agent, not to a task. */
  runsUnderWay(): readonly RunRow[] {
    const all = runs.list(this.world.harness.durable, workspaceId);
    return all.filter(({ owner, state }) => owner.kind !== "task" && state !== "ended");
  }
}

function configCauses({ reflection }: SearchIterationRow) {
  const tasks = reflection?.tasks ?? [];
  return tasks.map(({ taskId }) => ({ taskId, cause: "config", evidence: "It read no file.", suggestion: "Read." }));
}
