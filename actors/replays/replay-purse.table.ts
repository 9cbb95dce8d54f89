import { table } from "../../storage/table.js";
import type { Money } from "../money.js";

/** What all replays of a search and the runs of its agent may spend together, and what they did. */
export interface ReplayPurseRow {
  readonly searchId: string;
  readonly ceiling: Money;
  /** What counts against the ceiling, as a fraction in its currency (`fraction.ts`, `toText`). */
  readonly counted: string;
  /** Of that, what was reported: without shares for what reported no cost. With estimates of model calls under way. */
  readonly spent: string;
}

/** `[search]` */
export const replayPurses = table<ReplayPurseRow>("replay-purse");
