import type { PairOutcome } from "../statistics/comparison.js";
import { type CheckoutDiff, isEmptyChange, readChange } from "./change.js";
import type { PairReading } from "./pair-question.js";
import type { Judge } from "./scales.js";

/** Why a copy was not compared. */
export type Unpaired =
  /** One of the two configs has no judge, or the model gave no verdict in a reading. */
  | "not-judged"
  /** The two sides' judges differ in rubric or claims. */
  | "other-rubric"
  /** The deployment has no model. */
  | "not-set-up"
  /** One of the two copies does not exist, or did not settle before its replay ended. */
  | "unsettled"
  /** One of the two runs ended too early to store a change. */
  | "no-change"
  /** The rest of the ceiling is too small for the readings. */
  | "budget";

/** One side of a pair, as its replay describes it. */
export interface PairSide {
  readonly judge: Judge | null;
  readonly isSettled: boolean;
  /**
   * Null if the run stored no change, or if the change was not read. A run that succeeded without changes has an empty
   * change, not null.
   */
  readonly change: readonly CheckoutDiff[] | null;
}

/** The decision on a pair before any reading. */
export type PairPlan =
  | { readonly state: "unpaired"; readonly unpaired: Unpaired }
  /** Both changes are empty: a tie without a reading. */
  | { readonly state: "judged"; readonly outcome: "tie" }
  /** The model must read the pair in both orders. */
  | { readonly state: "asked" };

/** Decides what to do with a pair. If several reasons prevent the comparison, returns the first one found. */
export function planPair(
  own: PairSide,
  theirs: PairSide,
  { isSetUp, hasRoom }: { readonly isSetUp: boolean; readonly hasRoom: boolean },
): PairPlan {
  const unpaired = (reason: Unpaired): PairPlan => ({ state: "unpaired", unpaired: reason });
  if (own.judge === null || theirs.judge === null) return unpaired("not-judged");
  if (!isSameCriteria(own.judge, theirs.judge)) return unpaired("other-rubric");
  if (!isSetUp) return unpaired("not-set-up");
  if (!own.isSettled || !theirs.isSettled) return unpaired("unsettled");
  if (own.change === null || theirs.change === null) return unpaired("no-change");
  const areEmpty = [own.change, theirs.change].every((change) => isEmptyChange(readChange(change)));
  if (areEmpty) return { state: "judged", outcome: "tie" };
  return hasRoom ? { state: "asked" } : unpaired("budget");
}

function isSameCriteria(own: Judge, theirs: Judge): boolean {
  const { claims } = theirs;
  const isSame = own.claims.length === claims.length && own.claims.every((claim, at) => claim === claims[at]);
  return isSame && own.rubric === theirs.rubric;
}

type PairedReading = Pick<PairReading, "outcome">;

/** The outcome of a pair: the outcome of both readings if they agree, otherwise a tie. */
export function toPairOutcome(readings: readonly [PairedReading, PairedReading]): PairOutcome {
  const [first, second] = readings;
  return first.outcome === second.outcome ? first.outcome : "tie";
}

/**
 * Returns the number of the other side's copy to compare with copy `repeat`. On each side, the copies of one original
 * run are numbered from 1. If the other side has fewer copies, its copies are used several times.
 */
export function toOpponent(repeat: number, theirRepeats: number): number {
  return ((repeat - 1) % theirRepeats) + 1;
}
