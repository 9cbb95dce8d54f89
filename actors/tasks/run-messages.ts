import type { Message } from "../../runtime/turn.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { QueuedRun } from "../runners/runner-rows.js";
import type { RunOutcome } from "./run-rows.js";

/** From a task: the run to queue. */
export interface StartRun extends Message {
  readonly type: "run.start";
  readonly taskId: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly passesTo: readonly string[];
  readonly config: RunConfig;
  readonly fingerprint: string;
  readonly needs: Pick<QueuedRun, "poolId" | "labels" | "harness">;
}

/** From a task: end the run so, whatever it does. `stopped` lets the runner end it and report. */
export interface EndRun extends Message {
  readonly type: "run.end";
  readonly outcome: "stopped" | "withdrawn" | "superseded";
  readonly reason: string;
}

/** To the task, once: the run is over; what it left is in its rows. */
export interface RunOver extends Message {
  readonly type: "run.over";
  readonly runId: string;
  readonly outcome: RunOutcome;
}

/** To the task: the runner has begun. */
export interface RunBegan extends Message {
  readonly type: "run.began";
  readonly runId: string;
}
