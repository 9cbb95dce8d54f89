import { reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";

/** From a run to a new call: its agent calls a tool. */
export interface AskToolCall extends Message {
  readonly type: "call.ask";
  readonly runId: string;
  /** The runner that holds the run, and the fence of its claim. The call's outcome goes to this runner. */
  readonly runnerId: string;
  readonly fence: number;
  /** The id that the runner gave to the call. */
  readonly askId: string;
  readonly server: string;
  readonly tool: string;
  /** The JSON text of an object, as the agent gave it. */
  readonly inputs: string;
}

/** From a run: the runner no longer wants an outcome under this id. */
export interface CancelToolCall extends Message {
  readonly type: "call.cancel";
  readonly runId: string;
  readonly askId: string;
}

/** From a run that ends or is asked to stop: calls that have not started do not start. */
interface ToolCallRunOver extends Message {
  readonly type: "call.run-over";
  readonly reason: string;
  /** Whether the run has ended, so that nobody waits for outcomes. */
  readonly ended: boolean;
}

/** A tool call of a run, as the run addresses it. */
export const toolCallRef = reference<AskToolCall | CancelToolCall | ToolCallRunOver>("tool-call");
