import type { Address } from "../../runtime/cells/address.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { HostedPullRequest, HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import { pullRequestRef as placedPullRequestRef } from "../runs/pull-request.messages.js";
import type { PullRequestRow } from "./pull-request.js";

/** The answer to a person's request. */
type PullRequestAnswer =
  | {
      readonly pullRequest: PullRequestRow;
      /** Whether an earlier request with the same key had this result. */
      readonly replayed: boolean;
    }
  | Refusal;

/** A person requests another attempt to open a failed pull request. */
export interface RetryPullRequest extends Answered<PullRequestAnswer>, Keyed {
  readonly type: "pull-request.retry";
}

/** A person requests that the service read the pull request from the code host again. */
export interface RefreshPullRequest extends Answered<PullRequestAnswer> {
  readonly type: "pull-request.refresh";
}

/** News from the code host about the pull request. */
interface PullRequestSeen extends Message {
  readonly type: "pull-request.seen";
  /** The description of the pull request. Null if the news has none; the service then reads the pull request. */
  readonly picture: HostedPullRequest | null;
  readonly reviews: readonly HostedReview[];
}

/** A merged pull request reverts this one. */
interface PullRequestReverted extends Message {
  readonly type: "pull-request.reverted";
  /** The URL of the reverting pull request. */
  readonly by: string;
}

/** Creates or updates a comment. */
export interface StoreComment extends Message {
  readonly type: "pull-request.comment";
  /** The purpose of the comment. A pull request has one comment for each purpose. */
  readonly purpose: string;
  /** The text of the comment. An empty text withdraws the comment. */
  readonly text: string;
}

/** A task starts to review a pull request of the log's repository. */
export interface ReviewStarted extends Message {
  readonly type: "review.begun";
  readonly teamId: string;
  readonly lineId: string;
  readonly taskId: string;
  /** `owner/name` */
  readonly repository: string;
  readonly number: number;
  /** The URL of the pull request. */
  readonly url: string;
}

/**
 * A run of the task has reviewed the pull request. The log posts the review to the pull request once, and reports the
 * result in notes on the task.
 */
export interface ReviewOver extends Message {
  readonly type: "review.over";
  readonly taskId: string;
  readonly taskAddress: Address;
  readonly runId: string;
  readonly repository: string;
  readonly number: number;
  readonly url: string;
  readonly text: string;
}

/** The retention period has passed, or the team or workspace is deleted. */
export interface ForgetPullRequest extends Message {
  readonly type: "pull-request.forget";
}

/** To the task: one of its pull requests changed. The row has the details. */
export interface TaskPullRequestChanged extends Message {
  readonly type: "pull-request.changed";
  readonly pullRequestId: string;
}

/** To the task: a note about the pull request. */
export interface PullRequestNote extends Message {
  readonly type: "note";
  readonly from: string;
  readonly text: string;
  readonly key: string;
}

/** A pull request of a task, addressed by its id. */
export const pullRequestRef = placedPullRequestRef.widen<
  RetryPullRequest | RefreshPullRequest | PullRequestSeen | PullRequestReverted | StoreComment | ForgetPullRequest
>();
