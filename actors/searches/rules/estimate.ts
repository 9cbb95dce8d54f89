import { compare, decimal, type Fraction, fraction, multiply, roundUp, sum } from "../../fraction.js";
import type { Money } from "../../money.js";
import { compareText } from "../../statistics/copy.js";
import { AGENT_RUNS, type Allotments, allotBudget, type CostedEntry, expectCosts, sumCosts } from "./allotments.js";
import { heldOutReplays, type SearchBudget } from "./budget.js";
import type { Objective } from "./objective.js";
import { countHeldOut, type Split, splitBy } from "./split.js";
import { listWarnings, type SearchWarning, type WarningSources } from "./warnings.js";

/** A run of the set, with its original cost and duration in milliseconds; each null if unknown. */
export interface EstimatedEntry extends CostedEntry {
  readonly ms: number | null;
}

/** Maximum numbers of runs that a search may start. For replays, each copy counts as a run. */
export interface RunCounts {
  readonly seed: number;
  readonly searchReplays: number;
  readonly heldOutReplays: number;
  readonly agent: number;
  readonly total: number;
}

/** The most that a search would do and spend (document 2, "Searches API": estimate). */
export interface Estimate {
  readonly searchedTasks: number;
  readonly heldOutTasks: number;
  readonly runs: RunCounts;
  readonly ceiling: Money;
  readonly perReplayAllotments: Allotments;
  /** In milliseconds; null if no run of the set was timed. */
  readonly estimatedDuration: number | null;
  readonly minGain: number;
  readonly objective: Objective;
  readonly warnings: readonly SearchWarning[];
}

/** The data for an estimate. */
export interface EstimateSources extends Pick<WarningSources, "health" | "lacksModel"> {
  readonly entries: readonly EstimatedEntry[];
  readonly budget: SearchBudget & { readonly concurrency: number };
  readonly minGain: number;
  readonly objective: Objective;
}

/** Estimates a search; null if the set has too few tasks. Assumes that the most expensive tasks are held out. */
export function toEstimate({ entries, budget, minGain, objective, ...sources }: EstimateSources): Estimate | null {
  const split = splitDearest(entries, budget.ceiling.currency);
  if (split === null) return null;
  const { searchedTasks, heldOutTasks } = split;
  return {
    searchedTasks,
    heldOutTasks,
    runs: countRuns(budget, split),
    ceiling: budget.ceiling,
    perReplayAllotments: allotBudget(budget, split),
    estimatedDuration: estimateDuration(budget, split),
    minGain,
    objective,
    warnings: listWarnings({ ...sources, minGain, objective, budget, split }),
  };
}

/**
 * Splits a set so that the most expensive tasks are held out; ties are ordered by task id. Returns null if the set has
 * too few tasks.
 */
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

/** Counts the runs that a search may start, at most. */
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

/** Whether a ceiling is refused because it is below 0.01 of its currency per replay run. */
export function isCeilingTooLow({ amount }: Money, runs: RunCounts): boolean {
  const ofReplays = runs.seed + runs.searchReplays + runs.heldOutReplays;
  return compare(decimal(amount), fraction(ofReplays, 100)) < 0;
}

/** The timeout of an agent run: one hour, in milliseconds. */
const MAX_AGENT_MS = fraction(60 * 60 * 1_000);

/**
 * Estimates the duration of a search in milliseconds, rounded up; null if no run was timed. Adds the durations of these
 * parts:
 * - the seed's replay;
 * - for each iteration, the agent run, and then the replays of all its candidates at the same time;
 * - all held-out replays at the same time.
 *
 * Each run takes its original time, or the mean of the timed runs if its own time is unknown. An agent run takes three
 * times the mean, at most an hour. The estimate assumes that the search always runs as many copies as its concurrency
 * allows, and that no run waits for a runner.
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
