import type { Turn } from "../../runtime/turns/turn.js";
import { tallyCall, tallyRefusal } from "../run-facts/call-tally.js";
import { findRunFact, runFacts } from "../run-facts/run-fact.table.js";
import { MAX_OPEN_TOOL_CALLS, type ToolCalled } from "../runners/run-tools.js";
import { findCallOfAsk, listOpenCalls, openCalls } from "./open-call.table.js";
import type { RunContext } from "./run.js";
import type { ToolCallOver } from "./run.messages.js";
import { runs } from "./run.table.js";
import { getRunRow, sendToRunner } from "./run.transitions.js";
import { toolCallRef } from "./tool-call.messages.js";

/**
 * How a run handles its tool calls. The run passes each call to a separate actor, and counts the calls. It notifies the
 * actors when it ends or is asked to stop.
 */

/**
 * Passes the agent's call to a new actor. Refuses the call at once if the run is stopping or has too many open calls.
 */
export function askToolCall(turn: Turn, before: RunContext, asked: ToolCalled): RunContext {
  const context: RunContext = { ...before, hasAsked: true };
  const { partition, id: runId } = turn.self;
  const { id: askId, server, tool, inputs, fence } = asked;
  const { runnerId } = context;
  const open = listOpenCalls(turn, partition, runId);
  // A repeated request is about an open call. It gets no answer here: the outcome of that call answers it.
  if (open.some(({ asks }) => asks.includes(askId))) return context;
  const refused = whyRefused(context, open.length);
  if (refused !== null || runnerId === null) {
    const answer = { type: "run.tool-answered", runId, fence, id: askId, outcome: "refused", callId: null } as const;
    sendToRunner(turn, context, { ...answer, text: refused ?? "The run has no runner." });
    return context;
  }
  const callId = turn.newId("call");
  openCalls.put(turn, partition, [runId, callId], { asks: [askId], cancelled: [] });
  const ask = { type: "call.ask", runId, runnerId, fence, askId, server, tool, inputs } as const;
  turn.send(toolCallRef(partition, callId), ask);
  return context;
}

function whyRefused({ stopping }: RunContext, open: number): string | null {
  if (stopping) return "The run is being stopped.";
  return open < MAX_OPEN_TOOL_CALLS ? null : `${MAX_OPEN_TOOL_CALLS} calls of this run are already open.`;
}

/** Tells the call that the runner no longer wants an outcome under this id. */
export function cancelToolCall(turn: Turn, { id: askId }: { readonly id: string }): void {
  const { partition, id: runId } = turn.self;
  const callId = findCallOfAsk(turn, partition, { runId, askId });
  if (callId === undefined) return;
  turn.send(toolCallRef(partition, callId), { type: "call.cancel", runId, askId });
}

/** Tells the open calls that the run has ended or is asked to stop. */
export function endToolCalls(
  turn: Turn,
  { hasAsked }: RunContext,
  over: { readonly reason: string; readonly ended: boolean },
): void {
  if (hasAsked === false) return;
  const { partition, id } = turn.self;
  for (const { callId } of listOpenCalls(turn, partition, id)) {
    turn.send(toolCallRef(partition, callId), { type: "call.run-over", ...over });
  }
}

/** Counts an ended call. Also updates the run's fact if the run has already ended. */
export function countToolCall(turn: Turn, { call, isRecorded = false }: Omit<ToolCallOver, "type">): void {
  const { partition } = turn.self;
  const row = getRunRow(turn);
  const { server, tool, refusedBy: by } = call;
  const calls = isRecorded && by !== null ? tallyRefusal(row.calls, { server, tool, by }) : tallyCall(row.calls, call);
  if (calls === undefined || calls === row.calls) return;
  runs.put(turn, partition, row, { ...row, calls });
  const fact = findRunFact(turn, partition, row);
  if (fact !== undefined) runFacts.put(turn, partition, fact, { ...fact, ...calls });
}
