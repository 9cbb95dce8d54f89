import type { Address } from "../../runtime/address.js";
import type { Answered, EffectEnded, GateAnswer, Message, Woken } from "../../runtime/turn.js";
import type { CodeHostConnection } from "../code-host/connection.js";
import type { EventSubject } from "../events/event-task.js";
import type { HostedReview } from "../outbound/hosted-pull-request.js";
import type { Refusal } from "../refusal.js";
import type { AskPullRequest, BranchNotPushed, BranchPushed, PushLimited } from "../runs/pull-request.messages.js";
import type { CommentResult } from "./comment.effects.js";
import type { PullRequestRow } from "./pull-request.js";
import type * as messages from "./pull-request.messages.js";
import type { PullRequestAnswer } from "./pull-request.messages.js";

/** The context of a pull request, the messages it gets, and the events of its machine: what each message means. */

/** Small on purpose: readers use its row. */
export interface PullRequestContext {
  /** The run that waits to be told; null for none. */
  readonly run: AskingRun | null;
  /** Where its task is told. */
  readonly taskAddress: Address | null;
  /** What it was when a run asked: where it goes back to when nothing is pushed. */
  readonly was: "none" | "open" | "failed";
  /** Pushes of what the run asked that were not made. */
  readonly rejected: number;
  /** Attempts to open it. */
  readonly attempts: number;
  /** When the first of them was, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The tag of the code host's last answer about it. */
  readonly etag: string | null;
  /** The number of the last look; the result of an earlier one is not used. */
  readonly look: number;
  /** Looks in a row that the code host did not answer; absent for none. */
  readonly unanswered?: number;
  /** Attempts to read its paths after the merge. */
  readonly reads: number;
  /** What a run at its end asks once it is opened, or failed to be; null or absent for nothing. */
  readonly later?: AskPullRequest | null;
}

/** A run that asked. */
export interface AskingRun {
  readonly id: string;
  readonly wish: string | null;
  /** The id of the gate's question, and of the push that is allowed. */
  readonly push: string;
  /** What the run calls the repository; absent in what earlier releases stored. */
  readonly repository?: string;
  /** Whether that push changes workflows of the code host; absent for no. */
  readonly workflows?: boolean;
  /** When the code host makes a token for it again, in milliseconds since 1970; absent while it may make one. */
  readonly limitedUntilMs?: number;
}

export type PullRequestMessage =
  | AskPullRequest
  | BranchPushed
  | BranchNotPushed
  | PushLimited
  | messages.RetryPullRequest
  | messages.RefreshPullRequest
  | messages.PullRequestSeen
  | messages.PullRequestReverted
  | messages.KeepComment
  | messages.ForgetPullRequest
  | GateAnswer
  | EffectEnded
  | Woken;

/** A run asks, and hooks are asked about what it changed. */
export interface AskVetted extends Message {
  readonly type: "ask.vet";
  readonly ask: AskPullRequest;
  readonly connection: CodeHostConnection;
  readonly subject: EventSubject;
}
/** A run asks to push paths that hooks were asked about before. */
export interface AskAllowed extends Message {
  readonly type: "ask.push";
  readonly ask: AskPullRequest;
  readonly connection: CodeHostConnection;
}
/** A run asks for what cannot be. */
export interface AskRefused extends Message {
  readonly type: "ask.refused" | "ask.refused-none";
  readonly ask: AskPullRequest;
  readonly why: string;
}
/** A run at its end asks while it is being opened. */
export interface AskLater extends Message {
  readonly type: "ask.later";
  readonly ask: AskPullRequest;
}
/** The run that asked so is over. */
interface LaterLost extends Message {
  readonly type: "later.lost";
}
interface VetAllowed extends Message {
  readonly type: "vet.allowed";
}
interface PushedFirst extends Message {
  readonly type: "pushed.first" | "pushed.again";
  readonly head: string;
}
/** The runner had no token, since the code host makes none until then. */
interface PushWaits extends Message {
  readonly type: "push.waits";
  readonly untilMs: number;
  readonly why: string;
}
interface PushDue extends Message {
  readonly type: "push.due";
}
/** It was closed or merged while the runner pushed; `head` is null where nothing was pushed. */
export interface PushedOver extends Message {
  readonly type: "pushed.over";
  readonly head: string | null;
}
/** The first push was not made: hooks are asked again. */
interface PushRetried extends Message {
  readonly type: "push.retried";
  readonly subject: EventSubject;
}
/** Nothing is pushed: it is again what it was, or it failed. */
export interface Left extends Message {
  readonly type: "left.none" | "left.open" | "left.failed";
  /** For the agent, or for people. */
  readonly why: string;
  /** Where the branch is, which what was to be pushed conflicts with: later runs begin there. */
  readonly head?: string;
}
interface OpeningDue extends Message {
  readonly type: "opening.due";
}
interface OpeningWaits extends Message {
  readonly type: "opening.again" | "opening.limited";
  readonly untilMs: number;
  readonly why: string;
}
interface OpeningFailed extends Message {
  readonly type: "opening.failed";
  readonly why: string;
}
/** Its row is to become this one, in that state. */
export interface Became extends Message {
  readonly type: "became.open" | "became.closed" | "became.merged" | "became.same";
  readonly row: PullRequestRow;
  /** The reviews that were told with it. */
  readonly reviews: readonly HostedReview[];
  /** Whether the code host has to be asked what is so. */
  readonly asks: boolean;
  /** The tag of the answer that it was read from; undefined where it was not read. */
  readonly etag?: string | null;
}
interface LookDue extends Message {
  readonly type: "look.due";
}
interface LookAnswered extends Message {
  readonly type: "look.same" | "look.gone" | "look.later";
  readonly untilMs: number | null;
}
interface FilesDue extends Message {
  readonly type: "files.due";
}
interface FilesRead extends Message {
  readonly type: "files.read";
  readonly files: readonly string[];
  /** Null when the task is gone. */
  readonly subject: EventSubject | null;
}
interface FilesLater extends Message {
  readonly type: "files.later";
  readonly untilMs: number;
}
interface CommentDue extends Message {
  readonly type: "comment.due";
}
export interface CommentEnded extends Message {
  readonly type: "comment.ended";
  /** The id of the effect. */
  readonly id: string;
  readonly result: EffectEnded<CommentResult>["result"];
}
interface RequestTaken extends Answered<PullRequestAnswer> {
  readonly type: "refresh.taken" | "request.repeated";
}
interface RequestRefused extends Answered<Refusal> {
  readonly type: "request.refused";
  readonly refusal: Refusal;
}
interface Reverted extends Message {
  readonly type: "reverted";
  readonly by: string;
}
/** A message that means nothing now. No state takes it. */
interface MeansNothing extends Message {
  readonly type: "nothing";
}

/** A message classified by its effect, with what was read to classify it. */
export type PullRequestEvent =
  | AskVetted
  | AskAllowed
  | AskRefused
  | AskLater
  | LaterLost
  | VetAllowed
  | PushedFirst
  | PushLimited
  | PushWaits
  | PushDue
  | PushedOver
  | PushRetried
  | Left
  | OpeningDue
  | OpeningWaits
  | OpeningFailed
  | Became
  | LookDue
  | LookAnswered
  | FilesDue
  | FilesRead
  | FilesLater
  | CommentDue
  | CommentEnded
  | messages.KeepComment
  | messages.RetryPullRequest
  | RequestTaken
  | RequestRefused
  | Reverted
  | messages.ForgetPullRequest
  | MeansNothing;
