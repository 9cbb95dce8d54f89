import type { Address } from "../../runtime/cells/address.js";
import { table } from "../../storage/table.js";
import type { ReviewInput } from "./review.effects.js";

/** A run's review that is not written at the code host yet. */
export interface WaitingReview extends ReviewInput {
  /** The address of the task, for notifications. */
  readonly taskAddress: Address;
  /** The URL of the pull request. */
  readonly url: string;
  /** Number of attempts. A wait for the rate limit does not count. */
  readonly attempts: number;
  /** Whether the task was notified about the code host's rate limit. */
  readonly isLimited: boolean;
}

/** Key: `[task, run]`. */
export const waitingReviews = table<WaitingReview>("waiting-review");
