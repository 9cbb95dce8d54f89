import { compare, decimal, type Fraction, mean, subtract, toNumber, toNumberOrNull } from "../fraction.js";
import { boundAmount } from "../money.js";
import { compareText, groupByTask, successShare } from "./copy.js";
import { areSettled, hasRegressed, inRunOrder, shareGained } from "./regression.js";
import type { PricedCopy } from "./spending.js";

/** The result of a pairwise judgment of a task or a copy, from this replay's side. */
export type PairOutcome = "win" | "loss" | "tie";

/** A copy with all measures that a comparison uses. */
export interface MeasuredCopy extends PricedCopy {
  /** Run time in milliseconds, and number of agent steps; null if unknown. */
  readonly ms: number | null;
  readonly steps: number | null;
  /** The judge's result of this copy against the other replay's copy; null if the judge did not compare them. */
  readonly pairOutcome: PairOutcome | null;
}

/** One task in a replay and in the replay that it is compared with (document 2, "Replay (read)": `comparison[]`). */
export interface ComparisonRow<Each extends MeasuredCopy> {
  readonly taskId: string;
  /** The copies of each side, ordered by run in the set's order, then by copy. */
  readonly candidate: readonly Each[];
  readonly baseline: readonly Each[];
  /** Shares of the scored copies that succeeded, from 0 to 1; null if none is scored. */
  readonly candidateSuccess: number | null;
  readonly baselineSuccess: number | null;
  /**
   * The mean over this replay's copies minus the mean over the other replay's copies: of the cost in the copies'
   * currency, of the time in milliseconds, and of the number of steps. Null until every copy of both sides has settled,
   * and if a copy lacks the measure. `costDelta` is also null if the copies have different currencies.
   */
  readonly costDelta: number | null;
  readonly msDelta: number | null;
  readonly stepsDelta: number | null;
  readonly regressed: boolean;
  readonly pair: PairOutcome | null;
}

/**
 * Returns a row for each task of the candidate. `runs` has the set's runs in order. Sorts the rows by these criteria:
 * 1. Regressed tasks come before other tasks.
 * 2. By pair: losses, then ties and tasks without a pair, then wins.
 * 3. By gain in success: the largest loss first, unknown gains last.
 * 4. By task id.
 */
export function compareTasks<Each extends MeasuredCopy>(
  candidate: readonly Each[],
  baseline: readonly Each[],
  runs: readonly string[],
): readonly ComparisonRow<Each>[] {
  const before = groupByTask(inRunOrder(baseline, runs));
  const rows = [...groupByTask(inRunOrder(candidate, runs))].map(([taskId, own]) => {
    const other = before.get(taskId) ?? [];
    return { row: compareTask(taskId, own, other), gained: shareGained(own, other) };
  });
  return rows.sort(byConcern).map(({ row }) => row);
}

function compareTask<Each extends MeasuredCopy>(
  taskId: string,
  own: readonly Each[],
  other: readonly Each[],
): ComparisonRow<Each> {
  const hasOneCurrency = new Set([...own, ...other].flatMap(({ spent }) => spent?.currency ?? [])).size <= 1;
  return {
    taskId,
    candidate: own,
    baseline: other,
    candidateSuccess: toNumberOrNull(successShare(own)),
    baselineSuccess: toNumberOrNull(successShare(other)),
    costDelta: hasOneCurrency ? meanDelta(own, other, findCost) : null,
    msDelta: meanDelta(own, other, ({ ms }) => ms),
    stepsDelta: meanDelta(own, other, ({ steps }) => steps),
    regressed: hasRegressed(own, other),
    pair: pairOfTask(own),
  };
}

/** Returns a copy's cost; null if the cost is unknown. A copy whose agent never started cost nothing. */
function findCost({ spent, priced }: MeasuredCopy): number | null {
  if (!priced) return null;
  return spent === null ? 0 : boundAmount(spent.amount);
}

type Measure = (copy: MeasuredCopy) => number | null;

function meanDelta(own: readonly MeasuredCopy[], other: readonly MeasuredCopy[], measure: Measure): number | null {
  const [mine, theirs] = [findMean(own, measure), findMean(other, measure)];
  return mine === null || theirs === null ? null : toNumber(subtract(mine, theirs));
}

function findMean(copies: readonly MeasuredCopy[], measure: Measure): Fraction | null {
  const measures = copies.map(measure).filter((value) => value !== null);
  return areSettled(copies) && measures.length === copies.length ? mean(measures.map(decimal)) : null;
}

/**
 * Returns the outcome of more than half of the compared copies, otherwise a tie. Returns null if no copy is compared.
 */
export function pairOfTask(copies: readonly MeasuredCopy[]): PairOutcome | null {
  const outcomes = copies.map(({ pairOutcome }) => pairOutcome).filter((outcome) => outcome !== null);
  if (outcomes.length === 0) return null;
  const isMajority = (wanted: PairOutcome): boolean =>
    2 * outcomes.filter((each) => each === wanted).length > outcomes.length;
  return isMajority("win") ? "win" : isMajority("loss") ? "loss" : "tie";
}

/**
 * The number of tasks by pair outcome (document 2, "Side by side": `pairsAgainstBaseline`, `searchedPairs`,
 * `heldOutPairs`).
 */
export interface PairTally {
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export function tallyPairs(copies: readonly MeasuredCopy[]): PairTally {
  const pairs = [...groupByTask(copies).values()].map(pairOfTask);
  const count = (wanted: PairOutcome): number => pairs.filter((pair) => pair === wanted).length;
  return { wins: count("win"), losses: count("loss"), ties: count("tie") };
}

interface Ranked {
  readonly row: ComparisonRow<MeasuredCopy>;
  readonly gained: Fraction | null;
}

const PAIR_RANKS: Readonly<Record<PairOutcome, number>> = { loss: 0, tie: 1, win: 2 };

function byConcern(a: Ranked, b: Ranked): number {
  return (
    Number(b.row.regressed) - Number(a.row.regressed) ||
    PAIR_RANKS[a.row.pair ?? "tie"] - PAIR_RANKS[b.row.pair ?? "tie"] ||
    worstFirst(a.gained, b.gained) ||
    compareText(a.row.taskId, b.row.taskId)
  );
}

function worstFirst(a: Fraction | null, b: Fraction | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}
