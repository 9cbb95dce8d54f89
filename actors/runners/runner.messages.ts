import type { Message } from "../../runtime/turn.js";
import type { RunnerMessage } from "./protocol.js";
import type { OutboxMessage } from "./runner.table.js";

/** What runs and runners' actors say to each other. */

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

/** To a run: what its runner said about it. */
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
