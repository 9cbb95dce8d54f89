import {
  add,
  compare,
  decimal,
  divide,
  type Fraction,
  fraction,
  fromText,
  multiply,
  subtract,
  sum,
  ZERO,
} from "../../fraction.js";
import type { Money } from "../../money.js";
import { type Allotments, roundDown } from "./allotments.js";

/** A search's replay or agent run that is in progress. */
export interface UnderWay {
  /** The allotment at the start of the replay or agent run. */
  readonly allotted: Money;
  /**
   * The amount that counts against the ceiling so far, as a fraction (`toText`). For an agent run, this is the amount
   * for earlier runs of the same iteration.
   */
  readonly counted: string;
}

/** The spending of a search against its ceiling. */
export interface SearchSpending {
  readonly ceiling: Money;
  /**
   * The amount that counts against the ceiling so far, for all replays and agent runs of the search, including those in
   * progress. A fraction (`toText`).
   */
  readonly counted: string;
  readonly underWay: readonly UnderWay[];
}

/** How many parts of each kind a search may still start. */
export interface PartsToCome {
  readonly searchReplay: number;
  readonly heldOutReplay: number;
  readonly agentRun: number;
}

/**
 * Returns the free amount: the ceiling minus the counted amount and the reserves. The reserve of a part in progress is
 * the unspent rest of its allotment. The result can be negative, because replays in progress may spend more than their
 * allotments.
 */
export function freeAmount({ ceiling, counted, underWay }: SearchSpending): Fraction {
  const reserved = underWay.map((part) => {
    const left = subtract(decimal(part.allotted.amount), fromText(part.counted));
    return compare(left, ZERO) > 0 ? left : ZERO;
  });
  return subtract(decimal(ceiling.amount), add(fromText(counted), sum(reserved)));
}

/**
 * Returns the budget of a part that starts now; null if the free amount does not cover the part's allotment.
 * - If earlier parts spent less than their allotments or never started, all parts to come share the free amount in
 *   proportion to their allotments.
 * - If earlier parts spent more, each part gets its own allotment as long as the free amount covers that allotment.
 *   The held-out replays come last, so they are the first parts to get nothing.
 */
export function grantPart(
  kind: keyof PartsToCome,
  { allotments, spending, toCome }: { allotments: Allotments; spending: SearchSpending; toCome: PartsToCome },
): Money | null {
  const free = freeAmount(spending);
  const own = decimal(allotments[kind].amount);
  if (compare(free, own) < 0) return null;
  const wanted = sumParts(allotments, { ...toCome, [kind]: Math.max(1, toCome[kind]) });
  const granted = compare(free, wanted) > 0 ? divide(multiply(free, own), wanted) : own;
  return roundDown(granted, spending.ceiling.currency);
}

/** Whether the free amount covers all these parts. */
export function paysParts(allotments: Allotments, spending: SearchSpending, parts: PartsToCome): boolean {
  return compare(freeAmount(spending), sumParts(allotments, parts)) >= 0;
}

function sumParts(allotments: Allotments, parts: PartsToCome): Fraction {
  const kinds = ["searchReplay", "heldOutReplay", "agentRun"] as const;
  return sum(kinds.map((kind) => multiply(fraction(parts[kind]), decimal(allotments[kind].amount))));
}
