import { reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";

/** From a run to a new call: its agent calls a tool. */
export interface AskToolCall extends Message {
  readonly type: "call.ask";
  readonly runId: string;
  /** The runner that holds the run, and its claim: where the outcome is sent. */
  readonly runnerId: string;
  readonly fence: number;
  /** The runner's id of the call. */
  readonly askId: string;
  readonly server: string;
  readonly tool: string;
  /** The JSON text of an object, as the agent gave it. */
  readonly inputs: string;
}

/** From a run: whoever asked under this id wants no outcome any more. */
export interface CancelToolCall extends Message {
  readonly type: "call.cancel";
  readonly runId: string;
  readonly askId: string;
}

/** From a run that ends or is told to stop: what has not begun does not begin. */
interface ToolCallRunOver extends Message {
  readonly type: "call.run-over";
  readonly reason: string;
  /** Whether the run has ended, so that nobody waits for outcomes any more. */
  readonly ended: boolean;
}

/** A call of a run's tool, as the run addresses it. */
export const toolCallRef = reference<AskToolCall | CancelToolCall | ToolCallRunOver>("tool-call");
