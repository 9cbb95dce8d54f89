import type { Address } from "../../runtime/address.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { HostedPullRequest, HostedReview } from "../outbound/hosted-pull-request.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import { pullRequestRef as placedPullRequestRef } from "../runs/pull-request.messages.js";
import type { PullRequestRow } from "./pull-request.js";

/** The answer to a person's request. */
type PullRequestAnswer =
  | {
      readonly pullRequest: PullRequestRow;
      /** Whether it was taken before, under the same key. */
      readonly replayed: boolean;
    }
  | Refusal;

/** A person has it opened again that failed. */
export interface RetryPullRequest extends Answered<PullRequestAnswer>, Keyed {
  readonly type: "pull-request.retry";
}

/** A person has the code host asked what became of it. */
export interface RefreshPullRequest extends Answered<PullRequestAnswer> {
  readonly type: "pull-request.refresh";
}

/** The code host told of it. */
interface PullRequestSeen extends Message {
  readonly type: "pull-request.seen";
  /** Null when only something happened to it, so that the code host has to be asked. */
  readonly picture: HostedPullRequest | null;
  readonly reviews: readonly HostedReview[];
}

/** A merged pull request reverts it. */
interface PullRequestReverted extends Message {
  readonly type: "pull-request.reverted";
  /** The address of that one. */
  readonly by: string;
}

/** Keeps a comment on it up to date. */
export interface KeepComment extends Message {
  readonly type: "pull-request.comment";
  /** What it is about: one comment for each. */
  readonly purpose: string;
  /** Empty to withdraw it. */
  readonly text: string;
}

/** A task reviews a pull request of the log's repository. */
export interface ReviewBegun extends Message {
  readonly type: "review.begun";
  readonly teamId: string;
  readonly lineId: string;
  readonly taskId: string;
  /** `owner/name` */
  readonly repository: string;
  readonly number: number;
  /** The address of the pull request. */
  readonly url: string;
}

/** A run of the task has reviewed it, which is written there once. The task is told by notes what became of it. */
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

/** It is stored too long, or its team or workspace is gone. */
export interface ForgetPullRequest extends Message {
  readonly type: "pull-request.forget";
}

/** To the task: what became of one of its pull requests; its row says the rest. */
export interface TaskPullRequestChanged extends Message {
  readonly type: "pull-request.changed";
  readonly pullRequestId: string;
}

/** To the task: a line about it. */
export interface PullRequestNote extends Message {
  readonly type: "note";
  readonly from: string;
  readonly text: string;
  readonly key: string;
}

/** A pull request of a task, by its id. */
export const pullRequestRef = placedPullRequestRef.widen<
  RetryPullRequest | RefreshPullRequest | PullRequestSeen | PullRequestReverted | KeepComment | ForgetPullRequest
>();
