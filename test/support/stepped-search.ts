import { runOwners } from "../../actors/catalogue.js";
import { searchBudgets } from "../../actors/replays/budget/search-budget.table.js";
import { judgesNothing } from "../../actors/replays/judging/model-terms.js";
import { replayActor } from "../../actors/replays/replay/replay.machine.js";
import { replayRef } from "../../actors/replays/replay/replay.messages.js";
import { insertEntries, replaySets } from "../../actors/replays/sets/replay-set.table.js";
import type { LimitLane, QueueRun, UnqueueRun } from "../../actors/runners/dispatcher.messages.js";
import type { ClaimLost, ClaimRun } from "../../actors/runners/runner.messages.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runActor } from "../../actors/runs/run.machine.js";
import { runRef } from "../../actors/runs/run.messages.js";
import { runs } from "../../actors/runs/run.table.js";
import { listCandidates } from "../../actors/searches/candidates/search-candidate.table.js";
import { searchIterationActor } from "../../actors/searches/iterations/search-iteration.machine.js";
import { listIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "../../actors/searches/search/search.js";
import { searchActor } from "../../actors/searches/search/search.machine.js";
import { searchRef } from "../../actors/searches/search/search.messages.js";
import { searches } from "../../actors/searches/search/search.table.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { type Address, address } from "../../runtime/cells/address.js";
import type { Message } from "../../runtime/turns/turn.js";
import { pastRuns } from "./replay-world.js";
import { directedRows, memoryRows, type Stepping, stepByHand, type TurnTaken, withTurn } from "./turn.js";
import { lineId, teamId, workspaceId } from "./work.js";

/** The default terms of a search. */
export const plainTerms = {
  budget: { iterations: 2, perIteration: 2, ceiling: { amount: 100, currency: "EUR" }, concurrency: 4, repeats: 1 },
  agent: { harness: "command", model: null, effort: null },
  objective: "success",
};

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const types: ReadonlyMap<string, ActorType> = new Map(
  [searchActor(judgesNothing), searchIterationActor(judgesNothing), replayActor(null), runActor(runOwners)].map(
    (type) => [type.kind, type],
  ),
);

/** Kinds of actors that the scene does not step. */
const ELSEWHERE = new Set(["dispatcher", "runner", "replay-sets", "blob-sweeper", "config-pull-request", "archive"]);

export const SEARCH_ID = "srch_1";
const searchAddress = searchRef(workspaceId, SEARCH_ID);

/** A run that waits for a runner, or that a runner has claimed. */
export interface SteppedRun {
  readonly runId: string;
  readonly lane: string;
  /** Whether the run's agent has started. */
  begun: boolean;
}

/**
 * A search with its iterations, replays and runs, stepped in memory. Each turn delivers one message from the mailbox of
 * an actor that the test chooses. The test plays the dispatcher and the runners.
 */
export class SteppedSearch {
  readonly rows = memoryRows();
  now = Date.parse("2026-02-01T00:00:00.000Z");
  turns = 0;
  /** Called after each turn. */
  onTurn: (() => void) | null = null;
  readonly complaints: string[] = [];
  readonly queued = new Map<string, SteppedRun>();
  readonly claimed = new Map<string, SteppedRun>();
  readonly setId = "rset_1";
  readonly #limits = new Map<string, number>();
  readonly #actors = new Map<string, { readonly at: Address; readonly stepping: Stepping }>();
  readonly #mail = new Map<string, { readonly to: Address; readonly messages: Message[] }>();
  readonly #timers = new Map<string, { readonly to: Address; readonly name: string; readonly dueMs: number }>();
  #answer: unknown;

  /** Creates `tasks` past runs, each of a different task and with a cost of `amount`. */
  constructor(tasks: number, amount = 1) {
    for (const { key, value } of pastRuns({ runs: tasks }).range({ prefix: [] })) this.rows.put(key, value);
    for (const run of runs.list(this.rows, workspaceId)) {
      runs.put(this.rows, workspaceId, run, { ...run, spent: { amount, currency: "EUR" } });
    }
    const set = {
      id: this.setId,
      teamId,
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      name: "Hard ones",
      version: 1,
      guardsChanges: false,
      createdAt: new Date(this.now).toISOString(),
    };
    const fill = (n: number) => {
      withTurn(
        address(workspaceId, "replay-sets", teamId),
        (turn) => {
          const stored = replaySets.get(turn, workspaceId, this.setId) ?? set;
          if (n === 1) replaySets.insert(turn, workspaceId, set);
          insertEntries(turn, stored, [{ runId: `run_${n}`, taskId: `task_${n}` }]);
        },
        { rows: this.rows, now: this.now },
      );
    };
    for (let n = 1; n <= tasks; n++) fill(n);
  }

  /** Sends the message that starts the search; returns the answer. */
  start(terms: object = {}, of: object = {}, id = SEARCH_ID): unknown {
    const place = { teamId, lineId, stationId: "sta_work", caller, client: null };
    const asked = { setId: this.setId, ...plainTerms, ...terms };
    return this.ask(searchRef(workspaceId, id), { type: "search.start", ...place, terms: asked, ...of } as Message);
  }

  stop(of: object = {}): unknown {
    return this.ask(searchAddress, { type: "search.stop", caller, client: null, ...of } as Message);
  }

  /** Delivers a message to an actor immediately; returns the answer. */
  ask(to: Address, message: Message): unknown {
    this.#answer = undefined;
    this.#take(to, message);
    return this.#answer;
  }

  send(to: Address, message: Message): void {
    const key = `${to.kind}/${to.id}`;
    const box = this.#mail.get(key) ?? { to, messages: [] };
    box.messages.push(message);
    this.#mail.set(key, box);
  }

  /** Returns the keys of the actors with undelivered messages. */
  mailboxes(): readonly string[] {
    return [...this.#mail.keys()];
  }

  /** Delivers the first message of an actor's mailbox. */
  deliver(key: string): void {
    const box = this.#mail.get(key);
    const message = box?.messages.shift();
    if (box === undefined || message === undefined) throw new Error(`${key} has no mail`);
    if (box.messages.length === 0) this.#mail.delete(key);
    this.#take(box.to, message);
  }

  /**
   * Delivers messages until all mailboxes are empty and no wake-up is due. Always takes a message from the first
   * mailbox.
   */
  settle(): void {
    for (;;) {
      this.wakeDue();
      const [key] = this.mailboxes();
      if (key === undefined) return;
      this.deliver(key);
    }
  }

  /** Restarts the process: restores every actor's state from its stored form. */
  restart(): void {
    for (const [key, { at, stepping }] of this.#actors) {
      const stored = JSON.stringify({ value: stepping.value, context: stepping.context() });
      const { value, context } = JSON.parse(stored) as { value: unknown; context: unknown };
      const next = this.#make(at);
      next.restore(value, context);
      this.#actors.set(key, { at, stepping: next });
    }
  }

  /**
   * Moves the clock to the time of the next wake-up, and puts this wake-up into its actor's mailbox. Returns false if
   * there is no wake-up.
   */
  wakeNext(): boolean {
    const next = [...this.#timers.entries()].sort(([, a], [, b]) => a.dueMs - b.dueMs)[0];
    if (next === undefined) return false;
    const [key, { to, name, dueMs }] = next;
    this.#timers.delete(key);
    this.now = Math.max(this.now, dueMs);
    this.send(to, { type: "woken", name, dueMs } as Message);
    return true;
  }

  /** Puts the due wake-ups into their actors' mailboxes. */
  wakeDue(): void {
    for (const [key, { to, name, dueMs }] of [...this.#timers]) {
      if (dueMs > this.now) continue;
      this.#timers.delete(key);
      this.send(to, { type: "woken", name, dueMs } as Message);
    }
  }

  /** Returns the runs that a runner may claim now, within the lanes' limits. */
  claimable(): readonly SteppedRun[] {
    return [...this.queued.values()].filter(({ lane }) => {
      const held = [...this.claimed.values()].filter((one) => one.lane === lane).length;
      return held < (this.#limits.get(lane) ?? Number.POSITIVE_INFINITY);
    });
  }

  claim(run: SteppedRun): void {
    this.queued.delete(run.runId);
    this.claimed.set(run.runId, run);
    this.#tellRun(run, { type: "run.claim", runnerId: "runner_1" });
  }

  /** Sends the run a message from its runner. */
  say({ runId }: SteppedRun, said: object): void {
    const fence = this.run(runId)?.fence ?? 0;
    const message = { type: "run.said", runnerId: "runner_1", said: { runId, fence, ...said } };
    this.send(runRef(workspaceId, runId), message as Message);
  }

  lose(run: SteppedRun): void {
    this.#tellRun(run, { type: "claim.lost", runnerId: "runner_1" });
  }

  #tellRun({ runId }: SteppedRun, message: ClaimRun | ClaimLost): void {
    this.send(runRef(workspaceId, runId), message);
  }

  run(runId: string): RunRow | undefined {
    return runs.get(this.rows, workspaceId, runId);
  }

  get search(): SearchRow {
    const row = searches.get(this.rows, workspaceId, SEARCH_ID);
    if (row === undefined) throw new Error("there is no search");
    return row;
  }

  get candidates(): readonly SearchCandidateRow[] {
    return listCandidates(this.rows, workspaceId, SEARCH_ID);
  }

  get iterations(): readonly SearchIterationRow[] {
    return listIterations(this.rows, workspaceId, SEARCH_ID);
  }

  get purse() {
    return searchBudgets.get(this.rows, workspaceId, SEARCH_ID);
  }

  stopReplay(id: string): void {
    this.send(replayRef(workspaceId, id), { type: "replay.stop", caller, client: null } as Message);
  }

  #take(to: Address, message: Message): void {
    const key = `${to.kind}/${to.id}`;
    if (ELSEWHERE.has(to.kind)) return this.#takeElsewhere(message);
    const { stepping } = this.#actors.get(key) ?? { stepping: this.#make(to) };
    this.#actors.set(key, { at: to, stepping });
    this.now += 1;
    this.turns += 1;
    stepping.now = this.now;
    const taken = stepping.take(message);
    // A run that has ended ignores messages from its runner and its owner. So an unhandled message to a run is not a
    // fault.
    if (!taken.taken && to.kind !== "run")
      this.complaints.push(`${key} did not take ${JSON.stringify(message).slice(0, 200)}`);
    if (taken.replied) this.#answer = taken.answer;
    this.#apply(key, to, taken);
    this.onTurn?.();
  }

  #make(at: Address): Stepping {
    const type = types.get(at.kind);
    if (type === undefined) throw new Error(`nobody steps ${at.kind}`);
    // Ids derive from the time and the number of turns, so that they are unique and increase.
    return stepByHand(type, at, { rows: directedRows(this.rows), now: this.now, seed: this.turns });
  }

  #apply(key: string, self: Address, taken: TurnTaken): void {
    for (const intent of taken.intents) {
      if (intent.kind === "send") this.send(intent.to, intent.message);
      if (intent.kind === "wake") {
        this.#timers.set(`${key} ${intent.name}`, { to: self, name: intent.name, dueMs: intent.dueMs });
      }
      if (intent.kind === "cancel-wake") this.#timers.delete(`${key} ${intent.name}`);
    }
    if (!taken.stopped) return;
    this.#actors.delete(key);
    for (const [timer, { to }] of this.#timers)
      if (to.kind === self.kind && to.id === self.id) this.#timers.delete(timer);
  }

  /** Handles messages to the dispatcher and to other actors that are not stepped. */
  #takeElsewhere(message: Message): void {
    if (message.type === "run.queue") {
      const { run } = message as QueueRun;
      this.queued.set(run.runId, { runId: run.runId, lane: run.lane ?? "work", begun: false });
    }
    if (message.type === "run.unqueue") this.queued.delete((message as UnqueueRun).run.runId);
    if (message.type === "claim.release") this.claimed.delete((message as unknown as { runId: string }).runId);
    if (message.type === "lane.limit") {
      const { lane, maxClaims } = message as LimitLane;
      if (maxClaims === null) this.#limits.delete(lane);
      else this.#limits.set(lane, maxClaims);
    }
  }
}
