import { add, compare, decimal, type Fraction, subtract, sum, toText, ZERO } from "../../../../actors/fraction.js";
import type { Money } from "../../../../actors/money.js";
import { taskOutcomes } from "../../../../actors/run-facts/run-outcome.table.js";
import { type Allotments, allotBudget } from "../../../../actors/searches/rules/allotments.js";
import { chooseBest } from "../../../../actors/searches/rules/best.js";
import type { SearchBudget } from "../../../../actors/searches/rules/budget.js";
import { measureHeldOut, measureSearched } from "../../../../actors/searches/rules/candidate-figures.js";
import {
  canPropose,
  decideNext,
  type NextStep,
  type SearchSnapshot,
  type SnapshotCandidate,
  type SnapshotIteration,
} from "../../../../actors/searches/rules/decide-next.js";
import type { SearchEnding } from "../../../../actors/searches/rules/ending.js";
import type { Objective } from "../../../../actors/searches/rules/objective.js";
import { onlyOnSeenTasks } from "../../../../actors/searches/rules/ranking.js";
import { findFailedTasks, reflectionOutcome } from "../../../../actors/searches/rules/reflection.js";
import { type Split, splitTasks } from "../../../../actors/searches/rules/split.js";
import type { MeasuredCopy } from "../../../../actors/statistics/comparison.js";
import type { Chance } from "../../../simulation/chance.js";

/** A config's true properties: its success rate at each task, and the cost of its runs relative to the seed's. */
export interface TrueConfig {
  readonly rates: readonly number[];
  readonly costFactor: number;
}

/** The world of a simulated search. The set has one task, with one run, for each success rate of the seed. */
export interface World {
  readonly setId: string;
  readonly seed: TrueConfig;
  readonly budget: SearchBudget;
  readonly objective: Objective;
  readonly minGain: number;
  /** Returns the candidates that an agent's run proposes, given the search so far. */
  readonly propose: (shown: readonly SimulatedCandidate[]) => readonly TrueConfig[];
  /** Faults to inject; none by default. */
  readonly faults?: Faults;
  /** Fixed results of copies and agents, instead of random ones. */
  readonly draws?: Draws;
  /** Overrides the ids of a run and its task, and the task's outcome, by index in the set. */
  readonly nameRun?: (task: number) => Pick<Entry, "runId" | "taskId" | "outcome">;
}

/** Results of copies and agents that follow a rule of the test, instead of random results. */
export interface Draws {
  copy(copy: { readonly candidate: string; readonly task: number; readonly repeat: number }): {
    readonly succeeded: boolean;
    readonly amount: number;
  };
  agentAmount(iteration: number): number;
}

/** How rare each fault is: a value of 10 means that the fault occurs in one of ten opportunities on average. */
export interface Faults {
  readonly agentFails: number;
  readonly replayStops: number;
  readonly copyUnscored: number;
  readonly configChanges: number;
  readonly stationLeaves: number;
  /** Average cost of a run, relative to the expected cost. `agentCosts` is the same ratio for an agent's run. */
  readonly costs: number;
  readonly agentCosts: number;
  readonly noConfigCause: number;
}

export interface SimulatedCandidate extends SnapshotCandidate {
  readonly config: TrueConfig;
}

/** An ended simulated search. */
export interface SimulatedSearch {
  readonly ending: SearchEnding;
  readonly state: "finished" | "stopped";
  readonly candidates: readonly SimulatedCandidate[];
  readonly iterations: readonly SnapshotIteration[];
  readonly best: SimulatedCandidate | null;
  /** The mark of the best candidate. */
  readonly mark: ReturnType<typeof onlyOnSeenTasks>;
  readonly spent: Fraction;
  /** The total by which parts cost more than their allotments. */
  readonly overrun: Fraction;
  readonly steps: number;
}

interface Entry {
  readonly runId: string;
  readonly taskId: string;
  readonly task: number;
  readonly outcome: (typeof taskOutcomes)[number];
  readonly spent: Money;
}

/**
 * A replay or an agent's run in progress. `end` ends it, and returns the amount that then counts against the ceiling.
 */
interface Part {
  readonly allotted: Money;
  readonly end: () => Fraction;
}

const COST = 0.1;
const FINEST = 1_000_000;
/** More steps than any simulated search takes. A search that reaches this number has a bug. */
const MAX_STEPS = 10_000;

/** The results of a replay's copies. */
interface Replayed {
  readonly copies: readonly MeasuredCopy[];
  readonly counted: Fraction;
  readonly state: "finished" | "stopped" | "over-budget";
}

/**
 * Simulates a search with the rules of `decide-next.ts`, without the actors' state machines. Whenever the search waits,
 * the simulation ends a random part that is in progress. Copies have random results and costs, unless the world sets
 * them.
 */
export class Simulation {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #split: Split<Entry>;
  readonly #allotments: Allotments;
  readonly #underWay: Part[] = [];
  readonly #copies = new Map<string, readonly MeasuredCopy[]>();
  #candidates: SimulatedCandidate[] = [];
  #iterations: SnapshotIteration[] = [];
  #ending: SearchEnding | null = null;
  #live: SearchSnapshot["live"] = "unchanged";
  #counted = ZERO;
  #overrun = ZERO;

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
    const split = splitTasks(world.setId, collectEntries(world));
    if (split === null) throw new Error("the set has too few tasks");
    this.#split = split;
    this.#allotments = allotBudget(world.budget, split);
  }

  run(): SimulatedSearch {
    this.#admit(this.#world.seed, null);
    this.#startReplay("seed", [...this.#split.searched, ...this.#split.heldOut], this.#allotments.seed, "replayState");
    for (let steps = 1; steps < MAX_STEPS; steps++) {
      const next = decideNext(this.#picture());
      if (next.step === "end") return this.#toResult(next, steps);
      if (next.step === "wait") this.#endOne();
      else this.#start(next);
    }
    throw new Error("the search does not end");
  }

  #picture(): SearchSnapshot {
    const { budget, objective } = this.#world;
    return {
      state: this.#ending !== null ? "holding-out" : this.#copies.has("seed") ? "searching" : "seeding",
      ending: this.#ending,
      budget,
      objective,
      allotments: this.#allotments,
      live: this.#live,
      candidates: this.#candidates,
      iterations: this.#iterations,
      spending: {
        ceiling: budget.ceiling,
        counted: toText(this.#counted),
        underWay: this.#underWay.map(({ allotted }) => ({ allotted, counted: toText(ZERO) })),
      },
    };
  }

  #start(next: Exclude<NextStep, { step: "wait" | "end" }>): void {
    switch (next.step) {
      case "replay":
        return this.#startReplay(next.candidateId, this.#split.searched, next.ceiling, "replayState");
      case "hold-out":
        this.#ending = next.ending;
        return this.#startReplay(next.candidateId, this.#split.heldOut, next.ceiling, "heldOutReplayState");
      case "propose":
        return this.#startAgent("propose", next.allotted);
      case "reflect":
        return this.#startAgent("reflect", next.allotted);
    }
  }

  #startReplay(
    candidateId: string,
    entries: readonly Entry[],
    ceiling: Money,
    of: "replayState" | "heldOutReplayState",
  ): void {
    this.#change(candidateId, { [of]: "running" });
    this.#underWay.push({
      allotted: ceiling,
      end: () => {
        const { copies, counted, state } = this.#replay(candidateId, entries, ceiling);
        this.#change(candidateId, { [of]: state });
        this.#copies.set(of === "replayState" ? candidateId : `${candidateId} held out`, copies);
        this.#measure(candidateId);
        return counted;
      },
    });
  }

  #startAgent(kind: SnapshotIteration["kind"], allotted: Money): void {
    const number = this.#iterations.length + 1;
    const tasks = findFailedTasks(this.#findCopies("seed", this.#split.searched), []).length;
    if (kind === "reflect" && tasks === 0) {
      this.#iterations = [...this.#iterations, { number, kind, state: "ended", admitted: 0, outcome: "no-failures" }];
      return;
    }
    this.#iterations = [...this.#iterations, { number, kind, state: "running", admitted: 0, outcome: null }];
    const proposals = kind === "propose" ? this.#world.propose(this.#candidates) : [];
    for (const config of proposals.slice(0, this.#world.budget.perIteration)) this.#admit(config, number);
    this.#underWay.push({
      allotted,
      end: () => {
        const ran = !this.#fails(this.#world.faults?.agentFails);
        const admitted = this.#candidates.filter(({ iteration }) => iteration === number).length;
        const isConfig = !this.#fails(this.#world.faults?.noConfigCause);
        const causes = ran
          ? [{ cause: isConfig ? ("config" as const) : ("task" as const), suggestion: "say more" }]
          : [];
        const canGoOn = canPropose(this.#picture());
        const outcome = kind === "reflect" ? reflectionOutcome({ tasks, ran, causes, canGoOn }) : null;
        const ended: SnapshotIteration = { number, kind, state: ran ? "ended" : "failed", admitted, outcome };
        this.#iterations = this.#iterations.map((each) => (each.number === number ? ended : each));
        return this.#drawAgent(number, allotted);
      },
    });
  }

  #admit(config: TrueConfig, iteration: number | null): void {
    const candidateId = iteration === null ? "seed" : `c${this.#candidates.length}`;
    this.#candidates = [
      ...this.#candidates,
      {
        candidateId,
        seed: iteration === null,
        iteration,
        config,
        searched: null,
        heldOut: null,
        replayState: null,
        heldOutReplayState: null,
      },
    ];
  }

  /** Ends a random part in progress. */
  #endOne(): void {
    const part = this.#chance.pick(this.#underWay);
    this.#underWay.splice(this.#underWay.indexOf(part), 1);
    const counted = part.end();
    this.#counted = add(this.#counted, counted);
    const over = subtract(counted, fromAmount(part.allotted));
    if (compare(over, ZERO) > 0) this.#overrun = add(this.#overrun, over);
    if (this.#fails(this.#world.faults?.configChanges)) this.#live = "changed";
    if (this.#fails(this.#world.faults?.stationLeaves)) this.#live = "gone";
  }

  #replay(candidateId: string, entries: readonly Entry[], ceiling: Money): Replayed {
    const { config } = this.#find(candidateId);
    const copies: MeasuredCopy[] = [];
    let counted = ZERO;
    const stopsAt = this.#fails(this.#world.faults?.replayStops) ? this.#chance.between(0, entries.length) : Infinity;
    for (let repeat = 1; repeat <= this.#world.budget.repeats; repeat++) {
      for (const { taskId, runId, task } of entries) {
        const isOver = compare(counted, fromAmount(ceiling)) >= 0;
        if (isOver || copies.length >= stopsAt) return { copies, counted, state: isOver ? "over-budget" : "stopped" };
        const { succeeded, amount } = this.#drawCopy(config, { candidate: candidateId, task, repeat });
        const result = this.#fails(this.#world.faults?.copyUnscored) ? "unscored" : succeeded ? "succeeded" : "failed";
        const spent = { amount, currency: "EUR" };
        counted = add(counted, fromAmount(spent));
        copies.push({
          taskId,
          originalRunId: runId,
          repeat,
          result,
          spent,
          priced: true,
          ms: null,
          steps: null,
          pairOutcome: null,
        });
      }
    }
    return { copies, counted, state: "finished" };
  }

  #drawCopy(config: TrueConfig, copy: Parameters<Draws["copy"]>[0]): ReturnType<Draws["copy"]> {
    const { draws, faults } = this.#world;
    if (draws !== undefined) return draws.copy(copy);
    const succeeded = this.#chance.between(1, FINEST) <= (config.rates[copy.task] ?? 0) * FINEST;
    return { succeeded, amount: this.#amount(config.costFactor * (faults?.costs ?? 1)) };
  }

  /**
   * Ends an agent's run, and returns the amount counted for it: the run's cost, or its allotment if the run reports no
   * amount.
   */
  #drawAgent(iteration: number, allotted: Money): Fraction {
    const { draws, faults } = this.#world;
    if (draws !== undefined) return decimal(draws.agentAmount(iteration));
    return this.#fails(5) ? fromAmount(allotted) : decimal(this.#amount(3 * (faults?.agentCosts ?? 1)));
  }

  /** Returns a random cost: between zero and twice the expected cost, so that the average is as expected. */
  #amount(factor: number): number {
    return Math.round(((2 * COST * factor * this.#chance.between(0, 1_000)) / 1_000) * 1e6) / 1e6;
  }

  #measure(candidateId: string): void {
    const { minGain, budget } = this.#world;
    const { seed: isSeed, heldOutReplayState } = this.#find(candidateId);
    const terms = (entries: readonly Entry[]) => ({
      minGain,
      currency: budget.ceiling.currency,
      seed: isSeed ? null : this.#findCopies("seed", entries),
    });
    const { searched, heldOut } = this.#split;
    const ofHeldOut = this.#findCopies(isSeed ? "seed" : `${candidateId} held out`, heldOut);
    const bothFinished = heldOutReplayState === "finished";
    this.#change(candidateId, {
      searched: measureSearched(this.#findCopies(candidateId, searched), terms(searched)),
      heldOut: ofHeldOut.length === 0 ? null : measureHeldOut(ofHeldOut, { ...terms(heldOut), bothFinished }),
    });
  }

  #findCopies(key: string, entries: readonly Entry[]) {
    const tasks = new Set(entries.map(({ taskId }) => taskId));
    const copies = (this.#copies.get(key) ?? []).filter(({ taskId }) => tasks.has(taskId));
    return copies.map((copy) => ({ ...copy, runId: `${key} ${copy.originalRunId} ${copy.repeat}` }));
  }

  #find(candidateId: string): SimulatedCandidate {
    const found = this.#candidates.find((each) => each.candidateId === candidateId);
    if (found === undefined) throw new Error(`there is no candidate ${candidateId}`);
    return found;
  }

  #change(candidateId: string, change: Partial<SimulatedCandidate>): void {
    this.#candidates = this.#candidates.map((each) =>
      each.candidateId === candidateId ? { ...each, ...change } : each,
    );
  }

  #fails(onceIn: number | undefined): boolean {
    return onceIn !== undefined && this.#chance.onceIn(onceIn);
  }

  #toResult({ ending, state }: Extract<NextStep, { step: "end" }>, steps: number): SimulatedSearch {
    const best = chooseBest(this.#candidates, this.#world.objective)?.contender ?? null;
    return {
      ending,
      state,
      best,
      steps,
      candidates: this.#candidates,
      iterations: this.#iterations,
      mark: best === null ? null : onlyOnSeenTasks(best),
      spent: this.#spentAtEnd(),
      overrun: this.#overrun,
    };
  }

  /** Returns the amount spent at the end. A stop ends the parts in progress, and their allotments count as spent. */
  #spentAtEnd(): Fraction {
    return sum([this.#counted, ...this.#underWay.map(({ allotted }) => fromAmount(allotted))]);
  }
}

function fromAmount({ amount }: Money): Fraction {
  return decimal(amount);
}

function collectEntries({ seed, nameRun = nameByPlace }: World): readonly Entry[] {
  const spent = { amount: COST, currency: "EUR" };
  return seed.rates.map((_, task) => ({ ...nameRun(task), task, spent }));
}

function nameByPlace(task: number): Pick<Entry, "runId" | "taskId" | "outcome"> {
  const outcome = taskOutcomes[task % taskOutcomes.length] ?? "other";
  return { runId: `r${task}`, taskId: `t${String(task).padStart(2, "0")}`, outcome };
}
