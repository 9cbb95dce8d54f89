import { compare, fraction, toNumber } from "../fraction.js";
import { type Copy, groupByTask, isScored, successRate, taskShares } from "./copy.js";
import { bootstrapMean } from "./interval.js";

/**
 * A success rate and its 95 % interval. All three numbers are from 0 to 1 (document 2, "Replay (read)":
 * `totals.interval`).
 */
export interface Interval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The success of a replay's copies (document 2, "Replay (read)": `totals`). */
export interface SuccessTotals {
  /** The number of tasks with a copy, and of tasks with a scored copy. */
  readonly tasks: number;
  readonly tasksScored: number;
  /** The number of copies: all, settled, scored, and settled without a score. */
  readonly entries: number;
  readonly settled: number;
  readonly scored: number;
  readonly unscored: number;
  /** From 0 to 1. `successRate` and `interval` are null while no task is scored. */
  readonly successRate: number | null;
  readonly interval: Interval | null;
}

export function successTotals(copies: readonly Copy[]): SuccessTotals {
  const settled = copies.filter(({ result }) => result !== null).length;
  const scored = copies.filter(isScored).length;
  const interval = successInterval(copies);
  return {
    tasks: groupByTask(copies).size,
    tasksScored: taskShares(copies).size,
    entries: copies.length,
    settled,
    scored,
    unscored: settled - scored,
    successRate: interval?.rate ?? null,
    interval,
  };
}

/** Returns the success with its 95 % interval; null while no task is scored. */
export function successInterval(copies: readonly Copy[]): Interval | null {
  const rate = successRate(copies);
  const bounds = bootstrapMean([...taskShares(copies).values()]);
  if (rate === null || bounds === null) return null;
  return { rate: toNumber(rate), low: toNumber(bounds.low), high: toNumber(bounds.high) };
}

/**
 * Above this success a set has too little headroom to show a gain (document 2, "Set health": `saturated`, and a
 * search's `objective`).
 */
const SATURATED_ABOVE = fraction(95, 100);

/** Success of the live config over a whole set (document 2, "Set health": `saturation`). */
export interface Saturation {
  readonly rate: number;
  readonly interval: Interval;
  readonly saturated: boolean;
}

/** Measures the success of the live config; null while no task is scored. */
export function saturation(copies: readonly Copy[]): Saturation | null {
  const rate = successRate(copies);
  const interval = successInterval(copies);
  if (rate === null || interval === null) return null;
  return { rate: interval.rate, interval, saturated: compare(rate, SATURATED_ABOVE) > 0 };
}
