import type { Turn } from "../../runtime/turns/turn.js";
import type { ToolAnswered } from "../runners/run-tools.js";
import { runnerRef } from "../runners/runner.messages.js";
import { openCalls } from "../runs/open-call.table.js";

/**
 * The recipient of messages about a call: the runner, its claim (`fence`), and the ids under which the runner requested
 * the call.
 */
interface CallRecipient {
  readonly runId: string;
  readonly runnerId: string;
  readonly fence: number;
  readonly asks: readonly string[];
}

/** Returns the ids under which the runner requested this turn's call. */
export function listAskIds(turn: Turn, runId: string): readonly string[] {
  return openCalls.get(turn, turn.self.partition, runId, turn.self.id)?.asks ?? [];
}

/** Tells the runner whom the call waits for. `waitsFor` is null if the call continues. */
export function sendWaiting(
  turn: Turn,
  { runId, runnerId, fence, asks, callId }: CallRecipient & { readonly callId: string },
  waitsFor: string | null,
): void {
  const runner = runnerRef(turn.self.partition, runnerId);
  for (const id of asks) {
    turn.send(runner, {
      type: "tell",
      message: { type: "run.tool-waiting", runId, fence, id, callId, for: waitsFor },
    });
  }
}

/** Tells the runner the outcome of a call. */
export function sendAnswer(
  turn: Turn,
  { runId, runnerId, fence, asks }: CallRecipient,
  { outcome, text, note, callId }: Pick<ToolAnswered, "outcome" | "text" | "note" | "callId">,
): void {
  const runner = runnerRef(turn.self.partition, runnerId);
  for (const id of asks) {
    turn.send(runner, {
      type: "tell",
      message: {
        type: "run.tool-answered",
        runId,
        fence,
        id,
        outcome,
        text,
        ...(note !== undefined && { note }),
        callId,
      },
    });
  }
}
