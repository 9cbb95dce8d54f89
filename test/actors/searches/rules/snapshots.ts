import { decimal, toText, ZERO } from "../../../../actors/fraction.js";
import type { Money } from "../../../../actors/money.js";
import type { Allotments, CostedEntry } from "../../../../actors/searches/rules/allotments.js";
import {
  type HeldOutFigures,
  measureHeldOut,
  measureSearched,
  type SearchedFigures,
} from "../../../../actors/searches/rules/candidate-figures.js";
import type {
  SearchSnapshot,
  SnapshotCandidate,
  SnapshotIteration,
} from "../../../../actors/searches/rules/decide-next.js";
import { type Split, splitBy } from "../../../../actors/searches/rules/split.js";
import type { MeasuredCopy } from "../../../../actors/statistics/comparison.js";
import type { Gain, Verdict } from "../../../../actors/statistics/gain.js";

export const euro = (amount: number): Money => ({ amount, currency: "EUR" });

/** Returns a run with this cost. The run's task has the same name. */
export function costed(name: string, cost: number | null): CostedEntry {
  return { runId: `run-${name}`, taskId: name, spent: cost === null ? null : euro(cost) };
}

export function toSplit<Entry extends CostedEntry>(
  searched: readonly Entry[],
  heldOut: readonly Entry[],
): Split<Entry> {
  return splitBy([...searched, ...heldOut], new Set(heldOut.map(({ taskId }) => taskId)));
}

const NOTHING: SearchedFigures = measureSearched([], { seed: null, minGain: 0.05, currency: "EUR" });
const NOT_HELD_OUT: HeldOutFigures = measureHeldOut([], {
  seed: null,
  minGain: 0.05,
  currency: "EUR",
  bothFinished: false,
});

/** Returns a gain with a verdict, over this many tasks. */
export function toGain(verdict: Verdict, tasks = 8): Gain {
  const gain = { better: 0.2, worse: -0.2, "within-noise": 0 }[verdict];
  return { gain, low: gain - 0.1, high: gain + 0.1, verdict, minGain: 0.05, tasks, few: tasks < 5 };
}

/** The parameters of a contender; `null` for an unknown score or cost. */
export interface Told {
  readonly score?: number | null;
  readonly cost?: number | null;
  readonly searched?: Verdict | null;
  /** The verdict on the held-out tasks; null if unknown, `undefined` if the candidate was not held out. */
  readonly heldOut?: Verdict | null;
  readonly heldOutTasks?: number;
  /** Whether the candidate costs less on the held-out tasks, beyond chance; true by default. */
  readonly cheaper?: boolean;
  readonly state?: SnapshotCandidate["replayState"];
  readonly heldOutState?: SnapshotCandidate["heldOutReplayState"];
  readonly iteration?: number | null;
  readonly tasks?: SearchedFigures["tasks"];
}

/** Returns a candidate of a search, finished by default. */
export function contender(candidateId: string, told: Told = {}): SnapshotCandidate {
  const { score = 0.5, cost = 1, searched = "within-noise", heldOut, heldOutTasks, state = "finished" } = told;
  const seed = candidateId === "seed";
  const exact = (value: number | null) => (value === null ? null : toText(decimal(value)));
  return {
    candidateId,
    seed,
    replayState: state,
    iteration: told.iteration ?? (seed ? null : 1),
    heldOutReplayState: told.heldOutState ?? (heldOut === undefined ? null : "finished"),
    searched:
      state === "finished"
        ? {
            ...NOTHING,
            searchedGain: seed || searched === null ? null : toGain(searched),
            score: exact(score),
            cost: exact(cost),
            tasks: told.tasks ?? [],
          }
        : null,
    heldOut:
      heldOut === undefined
        ? null
        : {
            ...NOT_HELD_OUT,
            heldOutGain: heldOut === null ? null : toGain(heldOut, heldOutTasks),
            heldOutCost: heldOut === null ? null : { tasks: 8, chance: 0.001, cheaper: told.cheaper ?? true },
          },
  };
}

export const allotments: Allotments = {
  seed: euro(5),
  searchReplay: euro(3),
  heldOutReplay: euro(2),
  agentRun: euro(1),
};

/** Returns a search in progress with a finished seed, 4 iterations of 2 candidates each, and its whole budget left. */
export function toPicture(parts: Partial<SearchSnapshot> = {}): SearchSnapshot {
  return {
    state: "searching",
    ending: null,
    objective: "success",
    live: "unchanged",
    allotments,
    budget: { iterations: 4, perIteration: 2, repeats: 1, ceiling: euro(39) },
    spending: { ceiling: euro(39), counted: toText(ZERO), underWay: [] },
    candidates: [contender("seed")],
    iterations: [],
    ...parts,
  };
}

/**
 * Parses the iterations of a search, separated by spaces. An iteration is `P` (propose) or `R` (reflect), the number of
 * admitted candidates, and `!` if it failed or `~` if it is running.
 */
export function listIterations(text: string): readonly SnapshotIteration[] {
  return text.split(" ").map((each, index) => ({
    number: index + 1,
    kind: each.startsWith("R") ? "reflect" : "propose",
    state: each.endsWith("!") ? "failed" : each.endsWith("~") ? "running" : "ended",
    admitted: Number(/\d+/.exec(each)?.[0] ?? 0),
    outcome: each.startsWith("R") && !each.endsWith("~") ? "went-on" : null,
  }));
}

/** Returns the copies with this cost each. */
export function pricedCopies(copies: readonly MeasuredCopy[], cost: number): readonly MeasuredCopy[] {
  return copies.map((copy) => ({ ...copy, spent: euro(cost) }));
}
