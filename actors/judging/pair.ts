import type { PairOutcome } from "../statistics/comparison.js";
import { type CheckoutDiff, isEmptyChange, readChange } from "./change.js";
import type { PairReading } from "./pair-question.js";
import type { Judge } from "./scales.js";

/** Why a copy was not compared. */
export type Unpaired =
  /** The station has no judge, or the model gave no verdict on a reading. */
  | "not-judged"
  /** The two sides' judges differ in rubric or claims. */
  | "other-rubric"
  /** No model is set up. */
  | "not-set-up"
  /** One of the two copies did not settle before its replay ended. */
  | "unsettled"
  /** The change of one of the two was not kept, since its run did not come so far. */
  | "no-change"
  /** The ceiling has no room for the readings. */
  | "budget";

/** One side of a pair, as its replay knows it. */
export interface PairSide {
  readonly judge: Judge | null;
  readonly isSettled: boolean;
  /** Null when the run left none; a change of nothing is one. */
  readonly change: readonly CheckoutDiff[] | null;
}

/** What is known of a pair before it is read. */
export type PairPlan =
  | { readonly state: "unpaired"; readonly unpaired: Unpaired }
  /** Two changes of nothing: nobody needs to read them. */
  | { readonly state: "judged"; readonly outcome: "tie" }
  /** To be read in both orders. */
  | { readonly state: "asked" };

/** Whether a pair is read. What no wait could change is said first. */
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

/** The outcome of a pair: that of both readings when they agree, else a tie. */
export function toPairOutcome(readings: readonly [PairedReading, PairedReading]): PairOutcome {
  const [first, second] = readings;
  return first.outcome === second.outcome ? first.outcome : "tie";
}

/** Which copy of the other side a copy is set beside: both count from 1, over copies of the same original run. */
export function opponentOf(repeat: number, theirRepeats: number): number {
  return ((repeat - 1) % theirRepeats) + 1;
}
