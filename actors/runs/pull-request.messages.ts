import type { Address } from "../../runtime/address.js";
import { reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";
import type { PushProblem } from "../runners/push.js";

/** What runs and the pull requests of their tasks tell each other. The runner talks to its run alone. */

/**
 * From a run: what it has changed in a repository is to be in the pull request of its task, which is opened if there is
 * none. Answered by {@link PushAllowed} and later {@link PullRequestTold}, or by the latter alone.
 */
export interface AskPullRequest extends Message {
  readonly type: "pull-request.ask";
  readonly runId: string;
  readonly taskId: string;
  /** Where the task is told of its pull request. */
  readonly taskAddress: Address;
  readonly teamId: string;
  readonly lineId: string;
  /** `owner/name` */
  readonly repository: string;
  /** The id of the agent's wish; null at the end of the run. */
  readonly wish: string | null;
  /** Null for the task's own title. */
  readonly title: string | null;
  readonly body: string;
  /** The paths that a push would change. */
  readonly changed: readonly string[];
}

/** From the run that was allowed to: its runner has pushed. */
export interface BranchPushed extends Message {
  readonly type: "pull-request.pushed";
  readonly runId: string;
  /** The commit that the branch is at. */
  readonly head: string;
}

/** The same: its runner could not push, or `lost`: nobody knows, the runner is gone or the run was ended. */
export interface BranchNotPushed extends Message {
  readonly type: "pull-request.not-pushed";
  readonly runId: string;
  readonly problem: PushProblem | "lost";
  /** One sentence for a person. */
  readonly why: string;
  /** The branch's head, where what was to be pushed conflicts with it. */
  readonly head?: string;
}

/**
 * From the edge, before it sends the order of a push without a token: the code host makes none for now. What the runner
 * then says of that push is no failure.
 */
export interface PushLimited extends Message {
  readonly type: "pull-request.limited";
  /** The id of the push. */
  readonly push: string;
  /** When it makes one again, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** A pull request of a task, by its id. */
export const pullRequestRef = reference<AskPullRequest | BranchPushed | BranchNotPushed | PushLimited>("pull-request");

/** To a run: its runner may push. */
export interface PushAllowed extends Message {
  readonly type: "pull-request.allowed";
  readonly pullRequestId: string;
  /** The id of this push; a later one has another. */
  readonly push: string;
  readonly repository: string;
  readonly host: string;
  readonly installationId: number;
  readonly branch: string;
  /** The branch to merge into; null for the default branch. */
  readonly base: string | null;
  readonly title: string;
  /** Whether the push changes workflows of the code host. */
  readonly workflows: boolean;
}

/** To a run: what became of what it asked. At most one of `url` and `refused` is not null. */
export interface PullRequestTold extends Message {
  readonly type: "pull-request.told";
  readonly pullRequestId: string;
  readonly repository: string;
  readonly wish: string | null;
  /** Null while it is not open. */
  readonly url: string | null;
  /** Why nothing was pushed or opened, for the agent and for people. */
  readonly refused: string | null;
}
