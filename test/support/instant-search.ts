import { toText, ZERO } from "../../actors/fraction.js";
import { sumMoney } from "../../actors/money.js";
import { isRefusal } from "../../actors/refusal.js";
import { putReplay } from "../../actors/replays/budget/search-budget.js";
import { searchBudgets } from "../../actors/replays/budget/search-budget.table.js";
import { replayCopies } from "../../actors/replays/copies/replay-copy.table.js";
import { judgesNothing } from "../../actors/replays/judging/model-terms.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import { replayInputs } from "../../actors/replays/replay/replay-input.table.js";
import { replayWatchers } from "../../actors/replays/replay/replay-watcher.table.js";
import { insertEntries, replaySets } from "../../actors/replays/sets/replay-set.table.js";
import type { StartRun } from "../../actors/runs/run.messages.js";
import { runs } from "../../actors/runs/run.table.js";
import { listCandidates } from "../../actors/searches/candidates/search-candidate.table.js";
import { searchIterationActor } from "../../actors/searches/iterations/search-iteration.machine.js";
import { listIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import type { Objective } from "../../actors/searches/rules/objective.js";
import {
  type SearchCandidateRow,
  type SearchIterationRow,
  type SearchRow,
  toBlock,
} from "../../actors/searches/search/search.js";
import { searchActor } from "../../actors/searches/search/search.machine.js";
import { searchRef } from "../../actors/searches/search/search.messages.js";
import { getSearchInput, searches } from "../../actors/searches/search/search.table.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { type Address, address } from "../../runtime/cells/address.js";
import type { Message, Turn } from "../../runtime/turns/turn.js";
import { pastRuns } from "./replay-world.js";
import { directedRows, memoryRows, type Stepping, stepByHand, withTurn } from "./turn.js";
import { lineId, teamId, workspaceId } from "./work.js";

const SEARCH_ID = "srch_1";
const CURRENCY = "EUR";
const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const types: ReadonlyMap<string, ActorType> = new Map(
  [searchActor(judgesNothing), searchIterationActor(judgesNothing)].map((type) => [type.kind, type]),
);

/**
 * A replay copy. Its config is `seed`, or the name that the agent gave the candidate. Also has the index of the copy's
 * task in the set, and the copy's repeat number.
 */
export interface InstantCopy {
  readonly candidate: string;
  readonly task: number;
  readonly repeat: number;
}

/** How replays and agents behave. Amounts are in the ceiling's currency. */
export interface InstantScript {
  readonly setId: string;
  readonly tasks: number;
  readonly budget: { readonly iterations: number; readonly perIteration: number; readonly repeats: number };
  copy(copy: InstantCopy): { readonly succeeded: boolean; readonly amount: number };
  readonly objective: Objective;
  /** Returns the names of the candidates that the agent proposes after `admitted` candidates were admitted. */
  propose(admitted: number): readonly string[];
  agentAmount(iteration: number): number;
}

/**
 * Steps the real machines of a search and its iterations in memory. A replay finishes, and an agent's run ends, as soon
 * as the search requests it. Copies have no runs.
 */
export class InstantSearch {
  readonly #script: InstantScript;
  readonly #rows = memoryRows();
  readonly #mail: { readonly to: Address; readonly message: Message }[] = [];
  readonly #actors = new Map<string, Stepping>();
  #now = Date.parse("2026-02-01T00:00:00.000Z");
  #answer: unknown;

  constructor(script: InstantScript) {
    this.#script = script;
    for (const { key, value } of pastRuns({ runs: script.tasks }).range({ prefix: [] })) this.#rows.put(key, value);
    this.#openSet();
  }

  /** Runs the search to its end. */
  run(): void {
    const ceiling = { amount: 1_000, currency: CURRENCY };
    const terms = {
      setId: this.#script.setId,
      budget: { ...this.#script.budget, ceiling, concurrency: 4 },
      agent: { harness: "command", model: null, effort: null },
      objective: this.#script.objective,
    };
    const place = { teamId, lineId, stationId: "sta_work", caller, client: null };
    const answer = this.#ask(searchRef(workspaceId, SEARCH_ID), { type: "search.start", ...place, terms });
    if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
    for (let next = this.#mail.shift(); next !== undefined; next = this.#mail.shift()) {
      this.#deliver(next.to, next.message);
    }
  }

  get search(): SearchRow {
    const row = searches.get(this.#rows, workspaceId, SEARCH_ID);
    if (row === undefined) throw new Error("there is no search");
    return row;
  }

  get candidates(): readonly SearchCandidateRow[] {
    return listCandidates(this.#rows, workspaceId, SEARCH_ID);
  }

  get iterations(): readonly SearchIterationRow[] {
    return listIterations(this.#rows, workspaceId, SEARCH_ID);
  }

  /** The amount counted against the ceiling, as a fraction (`toText`). */
  get counted(): string {
    return searchBudgets.get(this.#rows, workspaceId, SEARCH_ID)?.counted ?? toText(ZERO);
  }

  #openSet(): void {
    const id = this.#script.setId;
    const createdAt = new Date(this.#now).toISOString();
    const set = { id, teamId, lineId, stationId: "sta_work", stationKey: "work", name: "Hard ones", version: 1 };
    this.#write(address(workspaceId, "replay-sets", teamId), (turn) => {
      replaySets.insert(turn, workspaceId, { ...set, guardsChanges: false, createdAt });
      const stored = replaySets.get(turn, workspaceId, id);
      const numbers = Array.from({ length: this.#script.tasks }, (_, index) => index + 1);
      const added = numbers.map((n) => ({ runId: `run_${n}`, taskId: `task_${n}` }));
      if (stored !== undefined) insertEntries(turn, stored, added);
    });
  }

  #write(self: Address, work: (turn: Turn) => void): void {
    withTurn(self, work, { rows: this.#rows, now: this.#now });
  }

  #deliver(to: Address, message: Message): void {
    if (types.has(to.kind)) this.#take(to, message);
    else if (message.type === "replay.begin") this.#replay(to);
    else if (message.type === "run.start") this.#runAgent(to.id, message as StartRun);
  }

  /** Delivers a message to an actor immediately; returns the answer. */
  #ask(to: Address, message: { readonly type: string } & Readonly<Record<string, unknown>>): unknown {
    this.#answer = undefined;
    this.#take(to, message as Message);
    return this.#answer;
  }

  #take(to: Address, message: Message): void {
    const key = `${to.kind}/${to.id}`;
    const type = types.get(to.kind);
    if (type === undefined) throw new Error(`nobody steps ${key}`);
    const stepping =
      this.#actors.get(key) ??
      stepByHand(type, to, { rows: directedRows(this.#rows), now: this.#now, seed: this.#actors.size + 1 });
    this.#actors.set(key, stepping);
    this.#now += 1;
    stepping.now = this.#now;
    const taken = stepping.take(message);
    if (!taken.taken) throw new Error(`${key} did not take ${message.type}`);
    if (taken.replied) this.#answer = taken.answer;
    this.#mail.push(...taken.sent);
  }

  /** Settles every copy immediately, and notifies the replay's watchers. */
  #replay(to: Address): void {
    this.#write(to, (turn) => {
      const before = replays.get(turn, workspaceId, to.id);
      const input = replayInputs.get(turn, workspaceId, to.id);
      if (before === undefined || input === undefined) throw new Error(`there is no replay ${to.id}`);
      const candidate = before.search?.candidateName ?? "";
      const counts = { ...before.counts, succeeded: 0, failed: 0, settled: before.runs * before.repeats };
      const spent = input.entries.flatMap(({ runId, taskId }, place) =>
        Array.from({ length: before.repeats }, (_, index) => {
          const repeat = index + 1;
          const { succeeded, amount } = this.#script.copy({ candidate, task: toTask(taskId), repeat });
          counts[succeeded ? "succeeded" : "failed"] += 1;
          replayCopies.insert(turn, workspaceId, {
            replayId: to.id,
            place,
            repeat,
            originalRunId: runId,
            taskId,
            state: "settled",
            lostRunIds: [],
            runId: `${to.id}-${place}-${repeat}`,
            result: succeeded ? "succeeded" : "failed",
            why: null,
            outcome: "completed",
            check: null,
            spent: { amount, currency: CURRENCY },
            priced: true,
            steps: 1,
            ms: 1,
            toolMisses: 0,
          });
          return { amount, currency: CURRENCY };
        }),
      );
      const spending = { ...before.spending, spent: toText(sumMoney(spent, CURRENCY)) };
      putReplay(turn, before, { ...before, state: "finished", counts, spending, judged: true });
    });
    for (const { watcher } of replayWatchers.list(this.#rows, workspaceId, [to.id])) {
      this.#mail.push({ to: watcher, message: { type: "replay.moved", replayId: to.id, what: "ended" } as Message });
    }
  }

  /** Lets the agent propose candidates or find causes, then completes its run. */
  #runAgent(runId: string, { owner }: StartRun): void {
    const iteration = this.iterations.find(({ id }) => id === owner.id);
    if (iteration === undefined) throw new Error("a run of no iteration");
    const to = address(workspaceId, "search-iteration", iteration.id);
    const past = runs.get(this.#rows, workspaceId, "run_1");
    if (past === undefined) throw new Error("there is no past run");
    const running = { ...past, id: runId, owner, taskId: null, state: "running", outcome: null, fence: 1 } as const;
    this.#write(address(workspaceId, "run", runId), (turn) => {
      runs.insert(turn, workspaceId, { ...running, runnerId: "runner_1", endedAt: null });
    });
    this.#take(to, { type: "run.claimed", runId } as Message);
    for (const said of this.#sayings(iteration)) {
      const answer = this.#ask(to, { runId, runnerId: "runner_1", fence: 1, ...said });
      if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
    }
    const spent = { amount: this.#script.agentAmount(iteration.number), currency: CURRENCY };
    this.#write(address(workspaceId, "run", runId), (turn) => {
      const before = runs.get(turn, workspaceId, runId);
      if (before !== undefined)
        runs.put(turn, workspaceId, before, { ...before, state: "ended", outcome: "completed", spent });
    });
    this.#mail.push({ to, message: { type: "run.over", runId, outcome: "completed" } as Message });
  }

  #sayings({ kind, reflection }: SearchIterationRow): readonly ({ readonly type: string } & Record<string, unknown>)[] {
    if (kind === "reflect") {
      return (reflection?.tasks ?? []).map(({ taskId }) => {
        return { type: "cause.record", taskId, cause: "config", evidence: "So it is.", suggestion: "Do it." };
      });
    }
    const { config, block } = getSearchInput(this.#rows, workspaceId, SEARCH_ID);
    const candidates = this.#script.propose(this.candidates.length - 1).map((name) => {
      return { name, hypothesis: null, station: { ...toBlock(config, block), prompt: `Do as ${name}.` } };
    });
    return candidates.length === 0 ? [] : [{ type: "candidates.propose", proposed: { candidates } }];
  }
}

/** Returns the index of `task_1` and so on, counted from 0. */
function toTask(taskId: string): number {
  return Number(taskId.slice("task_".length)) - 1;
}
