import type { AttemptRow } from "../hook-occurrence.table.js";

/** The result of a step's request or call; the actor numbers its attempt. */
export interface DeliveryResult extends Omit<AttemptRow, "n"> {
  /** Why the receiver or tool refuses a before event, read from its whole answer; absent where it does not. */
  readonly refuses?: string;
  /** A kill cut the request of a before event short: the event still waits, so the receiver is asked again. */
  readonly isAskedAgain?: true;
}
