import type { AttemptRow } from "../hook-occurrence.js";

/** The result of a step's request or call. The actor adds the attempt's number. */
export interface DeliveryResult extends Omit<AttemptRow, "n"> {
  /**
   * Why the receiver or tool refuses a `before` event, read from its complete response; absent if it does not refuse.
   */
  readonly refuses?: string;
  /**
   * Set if a process kill interrupted a request on a `before` event. The service then sends the request again, because
   * the event still waits.
   */
  readonly isAskedAgain?: true;
}
