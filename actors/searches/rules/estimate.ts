import { compare, decimal, type Fraction, fraction, multiply, roundUp, sum } from "../../fraction.js";
import type { Money } from "../../money.js";
import { compareText } from "../../statistics/copy.js";
import { AGENT_RUNS, type Allotments, allotBudget, type CostedEntry, expectCosts, sumCosts } from "./allotments.js";
import { heldOutReplays, type SearchBudget } from "./budget.js";
import type { Objective } from "./objective.js";
import { countHeldOut, type Split, splitBy } from "./split.js";
import { listWarnings, type SearchWarning, type WarningSources } from "./warnings.js";

/** A run of the set, with what it cost and how long it took; null where that is unknown. */
export interface EstimatedEntry extends CostedEntry {
  readonly ms: number | null;
}

/** The most runs that a search may start; those of replays with their copies. */
export interface RunCounts {
  readonly seed: number;
  readonly searchReplays: number;
  readonly heldOutReplays: number;
  readonly agent: number;
  readonly total: number;
}

/** What a search would do and spend at most (document 2, "Searches API": estimate). */
export interface Estimate {
  readonly searchedTasks: number;
  readonly heldOutTasks: number;
  readonly runs: RunCounts;
  readonly ceiling: Money;
  readonly perReplayAllotments: Allotments;
  /** In milliseconds; null when no run of the set was timed. */
  readonly estimatedDuration: number | null;
  readonly minGain: number;
  readonly objective: Objective;
  readonly warnings: readonly SearchWarning[];
}

export interface EstimateSources extends Pick<WarningSources, "health" | "lacksModel"> {
  readonly entries: readonly EstimatedEntry[];
  readonly budget: SearchBudget & { readonly concurrency: number };
  readonly minGain: number;
  readonly objective: Objective;
}

/** Null when the set has too few tasks to search. It supposes that the tasks are held out whose runs cost most. */
export function toEstimate({ entries, budget, minGain, objective, ...sources }: EstimateSources): Estimate | null {
  const split = splitDearest(entries, budget.ceiling.currency);
  if (split === null) return null;
  const { searchedTasks, heldOutTasks } = split;
  return {
    ...{ searchedTasks, heldOutTasks },
    runs: countRuns(budget, split),
    ceiling: budget.ceiling,
    perReplayAllotments: allotBudget(budget, split),
    estimatedDuration: estimateDuration(budget, split),
    ...{ minGain, objective },
    warnings: listWarnings({ ...sources, minGain, objective, budget, split }),
  };
}

/** The split that holds out the tasks whose runs cost most together; of equal ones, by the order of their ids. */
export function splitDearest<Entry extends CostedEntry>(
  entries: readonly Entry[],
  currency: string,
): Split<Entry> | null {
  const expected = expectCosts(entries, currency);
  const tasks = [...new Set(entries.map(({ taskId }) => taskId))].map((taskId) => {
    const ofTask = entries.filter((entry) => entry.taskId === taskId);
    return { taskId, cost: sumCosts(expected, ofTask) };
  });
  const heldOut = countHeldOut(tasks.length);
  if (heldOut === null) return null;
  tasks.sort((a, b) => compare(b.cost, a.cost) || compareText(a.taskId, b.taskId));
  return splitBy(entries, new Set(tasks.slice(0, heldOut).map(({ taskId }) => taskId)));
}

export function countRuns(budget: SearchBudget, split: Split<unknown>): RunCounts {
  const { iterations, perIteration, repeats } = budget;
  const [searched, heldOut] = [split.searched.length, split.heldOut.length];
  const runs = {
    seed: (searched + heldOut) * repeats,
    searchReplays: iterations * perIteration * searched * repeats,
    heldOutReplays: heldOutReplays(budget) * heldOut * repeats,
    agent: iterations,
  };
  return { ...runs, total: runs.seed + runs.searchReplays + runs.heldOutReplays + runs.agent };
}

/** Whether a ceiling is below 0.01 of its currency for each run of a replay, which is refused. */
export function isCeilingTooLow({ amount }: Money, runs: RunCounts): boolean {
  const ofReplays = runs.seed + runs.searchReplays + runs.heldOutReplays;
  return compare(decimal(amount), fraction(ofReplays, 100)) < 0;
}

/** No agent runs longer than an hour. */
const MAX_AGENT_MS = fraction(60 * 60 * 1_000);

/**
 * How long a search takes when every run takes as long as it did, a run that was not timed as long as the mean of the
 * others, and an agent's run as long as three: the seed; in each iteration the agent, then all its candidates at once;
 * then what is held out, at once. So many copies run at a time as the search's concurrency, and nothing waits for a
 * runner. Rounded up.
 */
function estimateDuration(budget: EstimateSources["budget"], split: Split<EstimatedEntry>): number | null {
  const { iterations, perIteration, repeats, concurrency } = budget;
  const all = [...split.searched, ...split.heldOut];
  const timed = all.flatMap(({ ms }) => (ms === null ? [] : [decimal(ms)]));
  if (timed.length === 0) return null;
  const average = multiply(sum(timed), fraction(1, timed.length));
  const take = (entries: readonly EstimatedEntry[], replays: number): Fraction => {
    const times = entries.map(({ ms }) => (ms === null ? average : decimal(ms)));
    const shared = multiply(sum(times), fraction(replays * repeats, concurrency));
    return times.reduce(larger, shared);
  };
  const agent = multiply(fraction(AGENT_RUNS), average);
  const iteration = sum([compare(agent, MAX_AGENT_MS) > 0 ? MAX_AGENT_MS : agent, take(split.searched, perIteration)]);
  const parts = [take(all, 1), multiply(fraction(iterations), iteration), take(split.heldOut, heldOutReplays(budget))];
  return Number(roundUp(sum(parts)));
}

function larger(a: Fraction, b: Fraction): Fraction {
  return compare(b, a) > 0 ? b : a;
}
