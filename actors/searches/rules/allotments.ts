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

/** A run of the set, with its original cost. */
export interface CostedEntry {
  readonly runId: string;
  readonly taskId: string;
  readonly spent: Money | null;
}

/** The budget of each part of a search (document 2, "Estimate": `perReplayAllotments`). */
export interface Allotments {
  readonly seed: Money;
  readonly searchReplay: Money;
  readonly heldOutReplay: Money;
  readonly agentRun: Money;
}

/** The expected costs of a set's runs. */
export interface ExpectedCosts {
  /** Cost by run. */
  readonly costs: ReadonlyMap<string, Fraction>;
  /** Whether any run's cost is known. If not, the costs are only weights. */
  readonly isKnown: boolean;
}

/** The weight of an agent run, in runs of the set. */
export const AGENT_RUNS = 3;

/**
 * Returns the expected cost of each run: the run's original cost, if that cost is known, above zero and in this
 * currency. Every other run gets the mean of these costs, or 1 if no run has such a cost.
 */
export function expectCosts(entries: readonly CostedEntry[], currency: string): ExpectedCosts {
  const costs = entries.map(({ runId, spent }) => ({ runId, cost: amountIn(spent, currency) }));
  const average = mean(costs.map(({ cost }) => cost).filter((cost) => compare(cost, ZERO) > 0));
  const toCost = (cost: Fraction): Fraction => (compare(cost, ZERO) > 0 ? cost : (average ?? fraction(1)));
  return { costs: new Map(costs.map(({ runId, cost }) => [runId, toCost(cost)])), isKnown: average !== null };
}

/** Sums the expected costs of runs. Runs outside the set cost nothing. */
export function sumCosts({ costs }: ExpectedCosts, entries: readonly Pick<CostedEntry, "runId">[]): Fraction {
  return sum(entries.map(({ runId }) => costs.get(runId) ?? ZERO));
}

/**
 * Divides a search's ceiling among its parts, in proportion to their expected costs. The sum never exceeds the ceiling.
 * The parts are:
 * - one replay of the seed over all runs;
 * - one replay over the searched runs for each candidate that may be proposed;
 * - up to three replays over the held-out runs;
 * - the agent's runs, each weighted as three runs of the set.
 */
export function allotBudget(budget: SearchBudget, split: Split<CostedEntry>): Allotments {
  const { iterations, perIteration, repeats, ceiling } = budget;
  const all = [...split.searched, ...split.heldOut];
  const expected = expectCosts(all, ceiling.currency);
  const toReplay = (entries: readonly CostedEntry[]) => multiply(fraction(repeats), sumCosts(expected, entries));
  const [seed, searchReplay, heldOutReplay] = [all, split.searched, split.heldOut].map(toReplay);
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

/** Number of parts that a unit of currency is divided into: the resolution of allotments. */
const FINEST = 1_000_000_000n;

/**
 * Rounds an amount down to billionths of the currency, so that the decimal form is exact. Returns at least one
 * billionth.
 */
export function roundDown({ numerator, denominator }: Fraction, currency: string): Money {
  const billionths = (numerator * FINEST) / denominator;
  return { amount: toNumber(fraction(billionths > 1n ? billionths : 1n, FINEST)), currency };
}
