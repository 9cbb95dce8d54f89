import { compare, decimal, type Fraction, fromText, toNumber, ZERO } from "../../actors/fraction.js";
import { isRefusal } from "../../actors/refusal.js";
import { findCopyOfRun } from "../../actors/replays/copies/replay-copy.table.js";
import { isUnderWay, replays } from "../../actors/replays/replay/replay.table.js";
import { resources } from "../../actors/resources/resource.table.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runs } from "../../actors/runs/run.table.js";
import { searchIterationRef } from "../../actors/searches/iterations/search-iteration.messages.js";
import { toBlock } from "../../actors/searches/search/search.js";
import { searchRef } from "../../actors/searches/search/search.messages.js";
import { getSearchInput } from "../../actors/searches/search/search.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { type Chance, createChance } from "../simulation/chance.js";
import { SEARCH_ID, type SteppedRun, SteppedSearch } from "./stepped-search.js";
import { line, lineId, workspaceId } from "./work.js";

/** The outcome of a simulated search, and the invariants that it violated. */
export interface RandomSearch {
  readonly ending: string;
  readonly turns: number;
  readonly complaints: readonly string[];
  /** By how much the counted amount exceeded the ceiling at the end, as a fraction of the ceiling. */
  readonly over: number;
}

const MAX_STEPS = 20_000;

/** Simulates a search with random costs and faults, until nothing can happen any more. */
export function simulateSearch(seed: number): RandomSearch {
  return new Simulation(seed).run();
}

class Simulation {
  readonly #chance: Chance;
  readonly #scene: SteppedSearch;
  readonly #complaints: string[] = [];
  /**
   * The counted amount when the ceiling was reached, and the runs in progress at that time. Null until the ceiling is
   * reached.
   */
  #reached: { readonly counted: Fraction; readonly running: ReadonlySet<string> } | null = null;
  /**
   * All costs are multiplied by this factor. The factor changes at random, so later runs may cost more than the seed's
   * runs.
   */
  #dearness = 5;
  /** Runs that never find a runner. */
  readonly #unclaimed = new Set<string>();
  #proposals = 0;
  #reachedMs = 0;

  constructor(seed: number) {
    this.#chance = createChance(seed);
    this.#scene = new SteppedSearch(this.#chance.between(5, 7), 2);
    this.#scene.onTurn = () => this.#watch();
  }

  run(): RandomSearch {
    const chance = this.#chance;
    const ceiling = chance.onceIn(4) ? chance.between(1, 40) : chance.between(40, 400);
    const budget = {
      iterations: chance.between(1, 4),
      perIteration: chance.between(1, 3),
      repeats: chance.between(1, 2),
      ceiling: { amount: ceiling, currency: "EUR" },
      concurrency: chance.between(1, 4),
    };
    const agent = { harness: "command", model: null, effort: null };
    const answer = this.#scene.start({ budget, agent, objective: chance.pick(["success", "cost", null]) });
    if (isRefusal(answer)) return { ending: `refused: ${JSON.stringify(answer)}`, turns: 0, complaints: [], over: 0 };
    let steps = 0;
    while (this.#step()) {
      steps += 1;
      if (steps === MAX_STEPS) return this.#over(["it never ends"]);
    }
    return this.#over([]);
  }

  /** Performs one random step; returns false when no step is possible. */
  #step(): boolean {
    const scene = this.#scene;
    const chance = this.#chance;
    if (chance.onceIn(2_000)) this.#interfere();
    if (chance.onceIn(100)) scene.restart();
    scene.wakeDue();
    const mail = scene.mailboxes();
    const open = scene.claimable().filter(({ runId }) => !this.#unclaimed.has(runId));
    const held = [...scene.claimed.values()].filter(({ runId }) => isHeld(scene, runId));
    const total = mail.length * 4 + open.length + held.length;
    if (total === 0) return scene.wakeNext();
    const choice = chance.between(0, total - 1);
    const [box] = [mail[Math.floor(choice / 4)]];
    if (box !== undefined) scene.deliver(box);
    else if (choice - mail.length * 4 < open.length) this.#claim(open[choice - mail.length * 4]);
    else this.#work(held[choice - mail.length * 4 - open.length]);
    return true;
  }

  #interfere(): void {
    const scene = this.#scene;
    const { search } = scene;
    const isOver = search.endedAt !== null;
    switch (this.#chance.between(1, 5)) {
      case 1:
        if (!isOver) scene.stop();
        return;
      case 2: {
        const replay = replays.all(scene.rows, workspaceId, { searchId: SEARCH_ID }).find(isUnderWay);
        if (replay !== undefined) scene.stopReplay(replay.id);
        return;
      }
      case 3:
        return this.#changeLine([{ ...line.stations[0], prompt: "Another prompt" }, line.stations[1]]);
      case 4:
        return this.#changeLine([line.stations[1]]);
      default:
        // Send the message `station.left`, although the line has not changed.
        scene.send(searchRef(workspaceId, SEARCH_ID), { type: "station.left" });
    }
  }

  #changeLine(stations: readonly unknown[]): void {
    const { rows } = this.#scene;
    const row = resources.get(rows, workspaceId, "line", lineId);
    if (row === undefined) return;
    resources.put(rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations } });
    this.#scene.send(searchRef(workspaceId, SEARCH_ID), { type: "station.left" });
  }

  #claim(run: SteppedRun | undefined): void {
    if (run === undefined) return;
    if (this.#chance.onceIn(120)) this.#unclaimed.add(run.runId);
    else this.#scene.claim(run);
  }

  /** Lets the runner start, continue, end or lose a run. */
  #work(run: SteppedRun | undefined): void {
    if (run === undefined) return;
    const scene = this.#scene;
    if (this.#chance.onceIn(30)) return scene.lose(run);
    if (!run.begun) {
      run.begun = true;
      return scene.say(run, { type: "run.started" });
    }
    const iteration = scene.iterations.find(({ runId }) => runId === run.runId);
    if (iteration !== undefined && this.#chance.onceIn(2)) return this.#talk(run, iteration.id);
    if (this.#chance.onceIn(20)) this.#dearness = this.#chance.between(2, 40);
    const spent = this.#cost();
    const failure = { code: "harness-failed", message: "It failed.", output: "" };
    const failed = this.#chance.onceIn(3);
    const ending = failed ? null : { kind: "finish", note: "" };
    const report = { checkouts: [], check: null, spent, ending, failure: failed ? failure : null };
    scene.say(run, { type: "run.ended", outcome: failed ? "failed" : "completed", ...report });
  }

  #cost(): { readonly amount: number; readonly currency: string } | null {
    if (this.#chance.onceIn(12)) return null;
    const currency = this.#chance.onceIn(25) ? "USD" : "EUR";
    return { amount: (this.#chance.between(0, 300) * this.#dearness) / 1_000, currency };
  }

  /** Lets the agent propose something, valid or not, or record a cause. */
  #talk(run: SteppedRun, iterationId: string): void {
    const scene = this.#scene;
    const to = searchIterationRef(workspaceId, iterationId);
    const held = { runId: run.runId, runnerId: "runner_1", fence: scene.run(run.runId)?.fence ?? 0 };
    const { reflection } = scene.iterations.find(({ id }) => id === iterationId) ?? {};
    const cause = this.#chance.pick(["config", "task", "infra"]);
    const task = reflection?.tasks[0]?.taskId ?? "task_1";
    const said =
      reflection === null
        ? { type: "candidates.propose", proposed: this.#proposal() }
        : { type: "cause.record", taskId: task, cause, evidence: "So it is.", suggestion: "Do it." };
    scene.ask(to, { ...held, ...said } as Message);
  }

  #proposal() {
    const { config, block } = getSearchInput(this.#scene.rows, workspaceId, SEARCH_ID);
    const live = toBlock(config, block);
    this.#proposals += 1;
    const name = `try-${this.#proposals}`;
    const one = (changes: object) => ({ candidates: [{ name, hypothesis: null, station: { ...live, ...changes } }] });
    switch (this.#chance.between(1, 6)) {
      case 1:
        return { faults: [{ path: "[0]", message: "is no candidate" }] };
      case 2:
        return one({});
      case 3:
        return one({ check: "true" });
      default:
        return one({ prompt: `Prompt ${this.#proposals}` });
    }
  }

  /** When the counted amount first reaches the ceiling, records the amount, the time and the runs in progress. */
  #watch(): void {
    const { purse } = this.#scene;
    if (purse === undefined || this.#reached !== null) return;
    const counted = fromText(purse.counted);
    if (compare(counted, decimal(purse.ceiling.amount)) < 0) return;
    const { rows } = this.#scene;
    const running = runs
      .list(rows, workspaceId)
      .filter(({ owner, state }) => owner.kind !== "task" && state !== "ended");
    const copies = running.filter(({ state }) => state !== "queued").map(({ id }) => id);
    this.#reached = { counted, running: new Set(copies) };
    this.#reachedMs = this.#scene.now;
  }

  #over(complaints: readonly string[]): RandomSearch {
    const scene = this.#scene;
    const { search, purse } = scene;
    const under = runs
      .list(scene.rows, workspaceId)
      .filter(({ owner, state }) => owner.kind !== "task" && state !== "ended");
    const active = replays.all(scene.rows, workspaceId, { searchId: SEARCH_ID }).filter(isUnderWay);
    const isOver = search.state === "finished" || search.state === "stopped";
    const ceiling = decimal(search.budget.ceiling.amount);
    const counted = purse === undefined ? ZERO : fromText(purse.counted);
    return {
      ending: search.ending ?? "none",
      turns: scene.turns,
      over: Math.max(0, toNumber(counted) / toNumber(ceiling) - 1),
      complaints: [
        ...complaints,
        ...scene.complaints,
        ...this.#complaints,
        ...(isOver && search.ending !== null && search.endedAt !== null ? [] : [`it is ${search.state}`]),
        ...under.map(({ id, state, owner }) => `${id} of ${owner.kind} is ${state}`),
        ...active.map(({ id, state, counts }) => `${id} is ${state} ${JSON.stringify(counts)}`),
        ...[...scene.queued.keys()].map((id) => `${id} is queued`),
        ...this.#overspent(counted),
      ],
    };
  }

  /**
   * Returns the runs that started after the ceiling was reached. Excludes these runs:
   *
   * - A run that was in progress when the ceiling was reached.
   * - A copy that lost its runner. The copy counts its whole share of the ceiling, which may reach the ceiling. Then
   *   it may start again.
   */
  #overspent(counted: Fraction): readonly string[] {
    if (this.#reached === null) return [];
    const { rows } = this.#scene;
    const late = runs.list(rows, workspaceId).filter(({ id, owner, startedAt }) => {
      return owner.kind !== "task" && startedAt !== null && this.#reached?.running.has(id) === false;
    });
    const after = late.filter(({ startedAt }) => startedAt !== null && Date.parse(startedAt) > this.#reachedMs);
    const isAgain = ({ id, owner }: RunRow) => {
      const copy = findCopyOfRun(rows, workspaceId, { replayId: owner.id, runId: id });
      return copy !== undefined && copy.lostRunIds.length > 0 && !copy.priced;
    };
    return after
      .filter((run) => !isAgain(run))
      .map(({ id, owner }) => `${id} of ${owner.kind} began after the ceiling was reached (${toNumber(counted)})`);
  }
}

/** Whether a runner has claimed the run, so that the runner may report on it. */
function isHeld(scene: SteppedSearch, runId: string): boolean {
  const state = scene.run(runId)?.state;
  return state === "claimed" || state === "running";
}
