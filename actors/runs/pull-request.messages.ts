import type { Address } from "../../runtime/cells/address.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";
import type { PushProblem } from "../runners/push.js";

/**
 * Messages between runs and the pull requests of their tasks. The runner does not talk to the pull request: the run
 * passes the messages on.
 */

/**
 * From a run: asks to add the run's changes in a repository to the task's pull request. If the task has no pull request
 * in this repository, the service opens one. If the push is allowed, the answers are {@link PushAllowed} and later
 * {@link PullRequestReported}. Otherwise the only answer is {@link PullRequestReported}.
 */
export interface AskPullRequest extends Message {
  readonly type: "pull-request.ask";
  readonly runId: string;
  readonly taskId: string;
  /** The address that the pull request reports to: the task. */
  readonly taskAddress: Address;
  readonly teamId: string;
  readonly lineId: string;
  /** `owner/name` */
  readonly repository: string;
  /** The id of the agent's request; null for a push at the run's end. */
  readonly wish: string | null;
  /** The title of the pull request; null to use the task's title. */
  readonly title: string | null;
  readonly body: string;
  /** The paths that a push would change. */
  readonly changed: readonly string[];
}

/** From the run whose push was allowed: the runner has pushed. */
export interface BranchPushed extends Message {
  readonly type: "pull-request.pushed";
  readonly runId: string;
  /** The new head commit of the branch. */
  readonly head: string;
}

/**
 * From the run whose push was allowed: the runner could not push. With the problem `lost`, the outcome is unknown,
 * because the runner is lost or the run has ended.
 */
export interface BranchNotPushed extends Message {
  readonly type: "pull-request.not-pushed";
  readonly runId: string;
  readonly problem: PushProblem | "lost";
  /** One sentence for a person. */
  readonly why: string;
  /** The branch's current head at the code host, if the run's changes conflict with that head. */
  readonly head?: string;
}

/**
 * From the edge, before it sends a push order without a token: the code host issues no tokens for now. If the push is
 * at the run's end, the runner's next report about this push does not count as a failure.
 */
export interface PushLimited extends Message {
  readonly type: "pull-request.limited";
  /** The id of the push. */
  readonly push: string;
  /** When the code host issues tokens again, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** A pull request of a task, addressed by its id. */
export const pullRequestRef = reference<AskPullRequest | BranchPushed | BranchNotPushed | PushLimited>("pull-request");

/** To a run: its runner may push. */
export interface PushAllowed extends Message {
  readonly type: "pull-request.allowed";
  readonly pullRequestId: string;
  /** The id of this push. Each push has a new id. */
  readonly push: string;
  readonly repository: string;
  readonly host: string;
  readonly installationId: number;
  readonly branch: string;
  /** The branch to merge into; null for the default branch. */
  readonly base: string | null;
  readonly title: string;
  /** Whether the push changes CI workflow files of the code host. */
  readonly workflows: boolean;
}

/** To a run: the result of the run's request for a pull request. At most one of `url` and `refused` is not null. */
export interface PullRequestReported extends Message {
  readonly type: "pull-request.told";
  readonly pullRequestId: string;
  readonly repository: string;
  readonly wish: string | null;
  /** The URL of the pull request; null while the pull request is not open. */
  readonly url: string | null;
  /** The reason why nothing was pushed or opened, for the agent and for people. */
  readonly refused: string | null;
}
