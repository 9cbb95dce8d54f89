import type { Address } from "../../runtime/address.js";
import { table } from "../../storage/table.js";
import type { ReviewInput } from "./review.effects.js";

/** What a run found in a pull request, until it is written there. */
export interface WaitingReview extends ReviewInput {
  /** Where the task is told. */
  readonly taskAddress: Address;
  /** The address of the pull request. */
  readonly url: string;
  /** Attempts so far; a wait for the code host's limits counts as none. */
  readonly attempts: number;
  /** Whether the task was told that the code host takes no more for now. */
  readonly isLimited: boolean;
}

/** `[task, run]` */
export const waitingReviews = table<WaitingReview>("waiting-review");
