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

/** A replay or an agent's run of a search that is under way. */
export interface UnderWay {
  /** What it was allotted when it started. */
  readonly allotted: Money;
  /** What it counts so far (a fraction, `toText`): of an agent's run nothing, until it ended. */
  readonly counted: string;
}

/** What a search has spent of its ceiling. */
export interface SearchSpending {
  readonly ceiling: Money;
  /** What all its replays and agent runs count so far (a fraction, `toText`), those under way included. */
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
 * The ceiling less what is spent and what is reserved for what is under way: so much of its allotment as it has not
 * spent. Below 0 when copies under way spent more than their replays were allotted.
 */
export function freeAmount({ ceiling, counted, underWay }: SearchSpending): Fraction {
  const reserved = underWay.map((part) => {
    const left = subtract(decimal(part.allotted.amount), fromText(part.counted));
    return compare(left, ZERO) > 0 ? left : ZERO;
  });
  return subtract(decimal(ceiling.amount), add(fromText(counted), sum(reserved)));
}

/**
 * What a part may spend that starts now; null when what is free does not pay its allotment. When more is free than all
 * parts to come are allotted, since earlier ones left some or never came, they share it by their allotments. When less
 * is free, since earlier ones spent more, each still has its own allotment, until the last ones do not start: those are
 * held out.
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

/** Whether all these parts can be paid with what is free. */
export function paysParts(allotments: Allotments, spending: SearchSpending, parts: PartsToCome): boolean {
  return compare(freeAmount(spending), sumParts(allotments, parts)) >= 0;
}

function sumParts(allotments: Allotments, parts: PartsToCome): Fraction {
  const kinds = ["searchReplay", "heldOutReplay", "agentRun"] as const;
  return sum(kinds.map((kind) => multiply(fraction(parts[kind]), decimal(allotments[kind].amount))));
}
