import type { Delivered, Turn, TurnReading } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import { recordRequest } from "../resources/repeated-request.js";
import { tallyRefusal } from "../run-facts/call-tally.js";
import { MAX_OPEN_PERMISSIONS, type RunnerMessage } from "../runners/protocol.js";
import type { ApprovalRow } from "./approval.js";
import { approvals, listOpenApprovals } from "./approval.table.js";
import { refuseUnlessAssigneeOf } from "./assignee.js";
import type { AnswerApproval } from "./run.messages.js";
import { keepForRequests } from "./run.retention.js";
import { runs } from "./run.table.js";
import { getRunRow, sendToOwner, sendToRunner } from "./run.transitions.js";
import type { ApprovalAnswered, RunContext } from "./run-events.js";
import type { RunOwner } from "./run-owner.js";

/**
 * Approvals that a run's agent asks for. An approval is open until the assignee of the run's owner answers it, or the
 * run ends or is told to stop. The runner gets the answer once, in the batch of the answer.
 */

type PermissionWish = Extract<RunnerMessage, { type: "run.permission" }>;

/**
 * Records the approval and notifies the owner. Dismisses it at once when there is nobody to ask, or when the run has as
 * many open approvals as it may.
 */
export function askPermission(turn: Turn, context: RunContext, wish: PermissionWish, owner: RunOwner): void {
  const { id: request, tool, inputs, reason } = wish;
  const open = listOpenApprovals(turn, turn.self.partition, turn.self.id);
  const refused = whyDismissed(context, owner, open.length);
  if (refused !== null)
    return sendAnswer(turn, context, request, { verdict: "dismissed", edited: null, note: refused });
  approvals.insert(turn, turn.self.partition, {
    ...{ id: turn.newId("apr"), runId: turn.self.id, kind: "permission", request, tool, inputs, reason },
    ...{ state: "open", edited: null, note: null, answeredAt: null, answeredBy: null },
    askedAt: new Date(turn.now).toISOString(),
  });
  notifyOwner(turn);
}

function whyDismissed({ stopping }: RunContext, { hasApprovals }: RunOwner, open: number): string | null {
  if (!hasApprovals) return "There is nobody who could give leave in this run.";
  if (stopping) return "The run is being stopped.";
  if (open < MAX_OPEN_PERMISSIONS) return null;
  return `${MAX_OPEN_PERMISSIONS} permissions of this run wait for an answer already.`;
}

/** The approval if the person may answer it, else the refusal. Reads only. */
export function findAnswerable(
  turn: TurnReading,
  { by, approvalId }: AnswerApproval,
  owner: RunOwner,
): ApprovalRow | Refusal {
  const { partition, id } = turn.self;
  const assignee = owner.assignee(turn, partition, getRunRow(turn));
  const approval = approvals.get(turn, partition, id, approvalId);
  if (assignee === undefined || approval === undefined) return { refused: "not-found" };
  const notAssignee = refuseUnlessAssigneeOf({ assignee }, by);
  if (notAssignee !== null) return notAssignee;
  if (approval.state === "open") return approval;
  const detail =
    approval.state === "closed"
      ? `Nobody waits for the answer any more: ${approval.note}`
      : `It was ${approval.state} by ${approval.answeredBy === by ? "you" : approval.answeredBy} already.`;
  return { refused: "conflict", detail };
}

/** Records the answer and sends it to the runner. */
export function answerApproval(event: Delivered<ApprovalAnswered>, context: RunContext): void {
  const { turn, by, approval, verdict, edited, note } = event;
  const answeredAt = new Date(turn.now).toISOString();
  const answered: ApprovalRow = { ...approval, state: verdict, edited, note, answeredAt, answeredBy: by };
  approvals.put(turn, turn.self.partition, approval, answered);
  if (verdict === "dismissed") recordRefusal(turn, approval);
  sendAnswer(turn, context, approval.request, { verdict, edited, note });
  notifyOwner(turn);
  recordRequest(turn, event, approval.id);
  if (event.idempotency !== undefined) keepForRequests(turn);
  turn.reply({ approval: answered, replayed: false });
}

function recordRefusal(turn: Turn, { tool }: ApprovalRow): void {
  const row = getRunRow(turn);
  const calls = tallyRefusal(row.calls, { server: null, tool, by: "person" });
  if (calls !== row.calls) runs.put(turn, turn.self.partition, row, { ...row, calls });
}

/** Closes the open approvals because the run is stopping. */
export function closeApprovalsOnStop(turn: Turn): void {
  if (closeApprovals(turn, "The run is being stopped.") > 0) notifyOwner(turn);
}

/** Closes the open approvals, which nobody waits for any more; returns how many there were. */
export function closeApprovals(turn: Turn, note: string): number {
  const { partition, id } = turn.self;
  const open = listOpenApprovals(turn, partition, id);
  const answeredAt = new Date(turn.now).toISOString();
  for (const approval of open)
    approvals.put(turn, partition, approval, { ...approval, state: "closed", note, answeredAt });
  return open.length;
}

function sendAnswer(
  turn: Turn,
  context: RunContext,
  request: string,
  { verdict, edited, note }: Pick<AnswerApproval, "verdict" | "edited" | "note">,
): void {
  const { fence } = context;
  const answer = { type: "run.permission-answered", runId: turn.self.id, fence, id: request } as const;
  sendToRunner(turn, context, { ...answer, verdict, inputs: edited, reason: note });
}

/** Sends the owner what the run waits for now. */
function notifyOwner(turn: Turn): void {
  const { id: runId } = turn.self;
  const [first, ...others] = listOpenApprovals(turn, turn.self.partition, runId);
  sendToOwner(turn, { type: "run.asking", runId, asks: first === undefined ? null : asksText(first, others) });
}

function asksText({ tool, reason }: ApprovalRow, others: readonly ApprovalRow[]): string {
  const why = reason === "" ? "." : `: ${reason}`;
  const more = others.length === 0 ? "" : ` (${others.length} more wait)`;
  return `The agent asks for leave to use ${tool}${why}${more}`;
}
