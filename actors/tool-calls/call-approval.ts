import type { Turn } from "../../runtime/turns/turn.js";
import { recordRequest } from "../resources/repeated-request.js";
import type { ApprovalRow } from "../runs/approval.js";
import { approvals } from "../runs/approval.table.js";
import { runRef } from "../runs/run.messages.js";
import { retainForRequests } from "../runs/run.retention.js";
import { timeText } from "../time-text.js";
import { getCall } from "./call-row.js";
import { endWait } from "./call-use.js";
import type { CallEvent } from "./classify-tool-call.js";
import { listAskIds, sendWaiting } from "./tell-runner.js";
import type { ToolCallContext } from "./tool-call.js";

type Answer = CallEvent<"answer.approved" | "answer.in-vain" | "answer.edited" | "answer.dismissed">;

/** Records a person's answer, and replies to the person. */
export function recordAnswer(event: Answer, change: Pick<ApprovalRow, "state" | "edited" | "note">): void {
  const { turn, by, approval, runId } = event;
  const answered = { ...approval, ...change, answeredAt: timeText(turn.now), answeredBy: by };
  approvals.put(turn, turn.self.partition, approval, answered);
  recordRequest(turn, event, approval.id);
  if (event.idempotency !== undefined) retainForRequests(turn, runId);
  turn.reply({ approval: answered, replayed: false });
}

/** Closes the call's approval if it is open. */
export function closeApproval(turn: Turn, { runId }: ToolCallContext, note: string): void {
  const { partition } = turn.self;
  const { approvalId } = getCall(turn, { runId });
  const approval = approvalId === null ? undefined : approvals.get(turn, partition, runId, approvalId);
  if (approval?.state !== "open") return;
  approvals.put(turn, partition, approval, { ...approval, state: "closed", note, answeredAt: timeText(turn.now) });
}

/**
 * Ends the call's wait for a person and stops the timer. Also notifies the run, which updates its request to the
 * assignee. Does not notify the run in two cases:
 *
 * - The run has ended.
 * - A person's own rule required the approval, so the assignee was not asked.
 */
export function endWaiting(turn: Turn, context: ToolCallContext): void {
  const { partition } = turn.self;
  const { runId } = context;
  turn.cancelWake("unanswered");
  endWait(turn, runId);
  if (!context.runEnded && getCall(turn, context).rule !== "person")
    turn.send(runRef(partition, runId), { type: "call.waits" });
}

/** Tells the runner that the call continues. */
export function sendContinues(turn: Turn, context: ToolCallContext): void {
  sendWaiting(turn, { ...context, callId: turn.self.id, asks: listAskIds(turn, context.runId) }, null);
}
