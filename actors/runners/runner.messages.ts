import { reference } from "../../runtime/cells/reference.js";
import { topic } from "../../runtime/feeds/topic.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { RunnerFrame, RunnerMessage } from "./protocol.js";
import type { OutboxMessage } from "./runner.table.js";

/** Messages from the edge to a runner's actor, and between runs and runner actors. */

/** A runner has connected and sent its `hello`. */
export interface RunnerHello extends Answered<Welcome> {
  readonly type: "runner.hello";
  /** An id that the edge generates for each socket. Messages from an older socket are refused. */
  readonly connection: string;
  readonly poolId: string;
  readonly leaseMs: number;
  readonly hello: Omit<Extract<RunnerFrame, { frame: "hello" }>, "frame" | "protocol" | "runnerId">;
}
export interface RunnerReported extends Answered<{ readonly received: number }> {
  readonly type: "runner.said";
  readonly connection: string;
  readonly n: number;
  readonly ack: number;
  /**
   * The number of the previous message on the same connection. If the actor has not processed that message yet, it
   * refuses this one. Absent for the first message.
   */
  readonly follows?: number;
  readonly message: RunnerMessage;
}
export interface RunnerBeat extends Message {
  readonly type: "runner.beat";
  readonly connection: string;
  readonly ack: number;
}
export interface RunnerLeft extends Message {
  readonly type: "runner.left";
  readonly connection: string;
}
/** From the service at its start: the socket of the previous process is gone. */
export interface RunnerDisconnected extends Message {
  readonly type: "runner.adrift";
}
/** The answer to {@link RunnerHello}. */
export interface Welcome {
  readonly received: number;
  readonly claims: readonly { readonly runId: string; readonly fence: number; readonly verdict: "keep" | "drop" }[];
}

/** From a run: a message to send to the runner. */
export interface SendToRunner extends Message {
  readonly type: "tell";
  readonly message: OutboxMessage;
}

/** From a run: the run has ended, so the runner's claim of the run ends too. */
export interface ClaimEnded extends Message {
  readonly type: "claim.ended";
  readonly runId: string;
}

/** A runner of a workspace. */
export const runnerRef = reference<
  RunnerHello | RunnerReported | RunnerBeat | RunnerLeft | RunnerDisconnected | SendToRunner | ClaimEnded
>("runner");

/** To a run: a message of its runner about the run. */
export interface RunReported extends Message {
  readonly type: "run.said";
  readonly runnerId: string;
  readonly said: Exclude<RunnerMessage, { type: "offer" }>;
}

/** To a run: the run's runner no longer holds the claim. */
export interface ClaimLost extends Message {
  readonly type: "claim.lost";
  readonly runnerId: string;
}

/** To a run: the dispatcher assigned a runner. The run decides whether it accepts the claim. */
export interface ClaimRun extends Message {
  readonly type: "run.claim";
  readonly runnerId: string;
}

/** A run of a workspace, as runners and the dispatcher address it. */
export const runRef = reference<RunReported | ClaimLost | ClaimRun>("run");

/** Published to the edge: the runner's current connection, or the number of a new message in its outbox. */
export const runnerTopic = topic<{ readonly connection: string } | { readonly n: number }>("runner");
