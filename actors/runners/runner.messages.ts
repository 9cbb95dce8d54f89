import { reference } from "../../runtime/reference.js";
import { topic } from "../../runtime/topic.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { RunnerFrame, RunnerMessage } from "./protocol.js";
import type { OutboxMessage } from "./runner.table.js";

/** The messages of the edge to a runner's actor, and those between runs and runners' actors. */

export interface RunnerHello extends Answered<Welcome> {
  readonly type: "runner.hello";
  /** Made by the edge for each socket; messages of an older one are not taken. */
  readonly connection: string;
  readonly poolId: string;
  readonly leaseMs: number;
  readonly hello: Omit<Extract<RunnerFrame, { frame: "hello" }>, "frame" | "protocol" | "runnerId">;
}
export interface RunnerSaid extends Answered<{ readonly received: number }> {
  readonly type: "runner.said";
  readonly connection: string;
  readonly n: number;
  readonly ack: number;
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
/** From the service when it starts: the socket of the previous process is gone. */
export interface RunnerDisconnected extends Message {
  readonly type: "runner.adrift";
}
/** What the edge is answered after a hello. */
export interface Welcome {
  readonly received: number;
  readonly claims: readonly { readonly runId: string; readonly fence: number; readonly verdict: "keep" | "drop" }[];
}

/** From a run: something to send to the runner. */
export interface SendToRunner extends Message {
  readonly type: "tell";
  readonly message: OutboxMessage;
}

/** From a run: it is over, and its claim with it. */
export interface ClaimEnded extends Message {
  readonly type: "claim.ended";
  readonly runId: string;
}

/** A runner of a workspace. */
export const runnerRef = reference<
  RunnerHello | RunnerSaid | RunnerBeat | RunnerLeft | RunnerDisconnected | SendToRunner | ClaimEnded
>("runner");

/** To a run: a message of its runner about it. */
export interface RunSaid extends Message {
  readonly type: "run.said";
  readonly runnerId: string;
  readonly said: Exclude<RunnerMessage, { type: "offer" }>;
}

/** To a run: the runner does not hold the claim any more. */
export interface ClaimLost extends Message {
  readonly type: "claim.lost";
  readonly runnerId: string;
}

/** To a run: it is placed. The run decides whether it takes the claim. */
export interface ClaimRun extends Message {
  readonly type: "run.claim";
  readonly runnerId: string;
}

/** A run of a workspace, as its runner and the dispatcher know it. */
export const runRef = reference<RunSaid | ClaimLost | ClaimRun>("run");

/** What the edge hears of a runner: the socket that it is connected by now, or that its outbox has a message more. */
export const runnerTopic = topic<{ readonly connection: string } | { readonly n: number }>("runner");
