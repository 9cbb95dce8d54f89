import {
  compare,
  decimal,
  divide,
  type Fraction,
  fraction,
  mean,
  multiply,
  sum,
  toNumber,
  ZERO,
} from "../../fraction.js";
import { amountIn, type Money } from "../../money.js";
import { heldOutReplays, type SearchBudget } from "./budget.js";
import type { Split } from "./split.js";

/** A run of the set, with what it cost when it ran. */
export interface CostedEntry {
  readonly runId: string;
  readonly taskId: string;
  readonly spent: Money | null;
}

/** What each part of a search may spend (document 2, "Estimate": `perReplayAllotments`). */
export interface Allotments {
  readonly seed: Money;
  readonly searchReplay: Money;
  readonly heldOutReplay: Money;
  readonly agentRun: Money;
}

/** What is expected of each run of a set. */
export interface ExpectedCosts {
  /** By run. */
  readonly costs: ReadonlyMap<string, Fraction>;
  /** Whether any run's cost is known: else they are weights only. */
  readonly isKnown: boolean;
}

/** An agent's run weighs as much as so many runs of the set. */
export const AGENT_RUNS = 3;

/**
 * What each run is expected to cost: what it did. Where that is unknown, nothing or in another currency, the mean of
 * the others; when none is known, 1 each.
 */
export function expectCosts(entries: readonly CostedEntry[], currency: string): ExpectedCosts {
  const costs = entries.map(({ runId, spent }) => ({ runId, cost: amountIn(spent, currency) }));
  const average = mean(costs.map(({ cost }) => cost).filter((cost) => compare(cost, ZERO) > 0));
  const costOf = (cost: Fraction): Fraction => (compare(cost, ZERO) > 0 ? cost : (average ?? fraction(1)));
  return { costs: new Map(costs.map(({ runId, cost }) => [runId, costOf(cost)])), isKnown: average !== null };
}

/** What runs cost together; those that are not of the set cost nothing. */
export function sumCosts({ costs }: ExpectedCosts, entries: readonly Pick<CostedEntry, "runId">[]): Fraction {
  return sum(entries.map(({ runId }) => costs.get(runId) ?? ZERO));
}

/**
 * Divides a search's ceiling among its parts, by what each is expected to cost: one replay of the seed over all runs,
 * one over the searched runs of each candidate that may be proposed, up to three over the held-out runs, and the agent's
 * runs, which are taken to cost as much as three runs each. All of them together are never above the ceiling.
 */
export function allotBudget(budget: SearchBudget, split: Split<CostedEntry>): Allotments {
  const { iterations, perIteration, repeats, ceiling } = budget;
  const all = [...split.searched, ...split.heldOut];
  const expected = expectCosts(all, ceiling.currency);
  const replayOf = (entries: readonly CostedEntry[]) => multiply(fraction(repeats), sumCosts(expected, entries));
  const [seed, searchReplay, heldOutReplay] = [all, split.searched, split.heldOut].map(replayOf);
  const agentRun = multiply(fraction(AGENT_RUNS), mean([...expected.costs.values()]) ?? ZERO);
  const parts = { seed: seed ?? ZERO, searchReplay: searchReplay ?? ZERO, heldOutReplay: heldOutReplay ?? ZERO };
  const whole = sum([
    parts.seed,
    multiply(fraction(iterations * perIteration), parts.searchReplay),
    multiply(fraction(heldOutReplays(budget)), parts.heldOutReplay),
    multiply(fraction(iterations), agentRun),
  ]);
  const allot = (weight: Fraction): Money =>
    roundDown(divide(multiply(decimal(ceiling.amount), weight), whole), ceiling.currency);
  return {
    seed: allot(parts.seed),
    searchReplay: allot(parts.searchReplay),
    heldOutReplay: allot(parts.heldOutReplay),
    agentRun: allot(agentRun),
  };
}

/** The least part of a currency's unit that is allotted. */
const FINEST = 1_000_000_000n;

/** An amount that is not above the exact one, in billionths, so that it is written as it counts; at least one of them. */
export function roundDown({ numerator, denominator }: Fraction, currency: string): Money {
  const billionths = (numerator * FINEST) / denominator;
  return { amount: toNumber(fraction(billionths > 1n ? billionths : 1n, FINEST)), currency };
}
