import type { EventWith } from "../../runtime/cells/chart.js";
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import type { Refusal } from "../refusal.js";
import { recordRequest } from "../resources/repeated-request.js";
import { tallyRefusal } from "../run-facts/call-tally.js";
import { MAX_OPEN_PERMISSIONS, type RunnerMessage } from "../runners/protocol.js";
import { timeText } from "../time-text.js";
import type { ApprovalRow } from "./approval.js";
import { approvals, listOpenApprovals } from "./approval.table.js";
import { refuseNonAssignee } from "./assignee.js";
import type { RunContext } from "./run.js";
import type { AnswerApproval } from "./run.messages.js";
import { retainForRequests } from "./run.retention.js";
import { runs } from "./run.table.js";
import { getRunRow, sendToOwner, sendToRunner } from "./run.transitions.js";
import type { RunOwner } from "./run-owner.js";

/**
 * Approvals that a run's agent asks for. An approval is open until the assignee answers it, or until the run ends or
 * receives a stop request. The batch that records the answer also sends it to the runner, once.
 */

/** The runner's request for an approval. */
type PermissionWish = Extract<RunnerMessage, { type: "run.permission" }>;

/** The reason given for refused requests, closed approvals and withdrawn calls of a stopping run. */
export const STOPPING = "The run is being stopped.";

/**
 * Records an approval and notifies the owner. Dismisses the request at once, without recording it, in these cases:
 *
 * - The owner has no approvals.
 * - The run is stopping.
 * - The run has the maximum number of open permissions.
 */
export function askPermission(turn: Turn, before: RunContext, wish: PermissionWish, owner: RunOwner): RunContext {
  const context: RunContext = { ...before, hasAsked: true };
  const { id: request, tool, inputs, reason } = wish;
  const { partition, id: runId } = turn.self;
  const open = listOpenApprovals(turn, partition, runId).filter(({ kind }) => kind === "permission");
  const refused = whyDismissed(context, owner, open.length);
  if (refused !== null) {
    sendAnswer(turn, context, request, { verdict: "dismissed", edited: null, note: refused });
    return context;
  }
  approvals.insert(turn, partition, {
    id: turn.newId("apr"),
    runId,
    teamId: getRunRow(turn).teamId,
    kind: "permission",
    request,
    tool,
    inputs,
    reason,
    state: "open",
    edited: null,
    note: null,
    answeredAt: null,
    answeredBy: null,
    approver: owner.assignee(turn, partition, getRunRow(turn)) ?? null,
    askedAt: timeText(turn.now),
  });
  notifyOwner(turn, owner);
  return context;
}

function whyDismissed({ stopping }: RunContext, { hasApprovals }: RunOwner, open: number): string | null {
  if (!hasApprovals) return "Nobody can approve calls in this run.";
  if (stopping) return STOPPING;
  if (open < MAX_OPEN_PERMISSIONS) return null;
  return `${MAX_OPEN_PERMISSIONS} approvals of this run are already pending.`;
}

/** Returns the approval if the person `by` may answer it; otherwise a refusal. Reads only. */
export function findAnswerable(
  turn: TurnReading,
  { by, approvalId }: AnswerApproval,
  owner: RunOwner,
): ApprovalRow | Refusal {
  const { partition, id } = turn.self;
  const assignee = owner.assignee(turn, partition, getRunRow(turn));
  const approval = approvals.get(turn, partition, id, approvalId);
  if (assignee === undefined || approval?.kind !== "permission") return { refused: "not-found" };
  return refuseNonAssignee({ assignee }, by) ?? refuseUnlessOpen(approval, by) ?? approval;
}

/** Refuses an answer to an approval that is no longer open. Returns null if the approval is open. */
export function refuseUnlessOpen({ state, note, answeredBy }: ApprovalRow, by: string): Refusal | null {
  if (state === "open") return null;
  const detail =
    state === "closed"
      ? `The agent no longer waits for the answer: ${note}`
      : `It was ${state} by ${answeredBy === by ? "you" : answeredBy} already.`;
  return { refused: "conflict", detail };
}

/** Records the answer and sends it to the runner. */
export function answerApproval(
  event: EventWith<AnswerApproval, { readonly approval: ApprovalRow }>,
  context: RunContext,
  owner: RunOwner,
): void {
  const { turn, by, approval, verdict, edited, note } = event;
  const answeredAt = timeText(turn.now);
  const answered: ApprovalRow = { ...approval, state: verdict, edited, note, answeredAt, answeredBy: by };
  approvals.put(turn, turn.self.partition, approval, answered);
  if (verdict === "dismissed") recordRefusal(turn, approval);
  sendAnswer(turn, context, approval.request, { verdict, edited, note });
  notifyOwner(turn, owner);
  recordRequest(turn, event, approval.id);
  if (event.idempotency !== undefined) retainForRequests(turn);
  turn.reply({ approval: answered, replayed: false });
}

function recordRefusal(turn: Turn, { tool }: ApprovalRow): void {
  const row = getRunRow(turn);
  const calls = tallyRefusal(row.calls, { server: null, tool, by: "person" });
  if (calls !== row.calls) runs.put(turn, turn.self.partition, row, { ...row, calls });
}

/** Closes the open approvals because the run is stopping. */
export function closeApprovalsOnStop(turn: Turn, context: RunContext, owner: RunOwner): void {
  if (closeApprovals(turn, context, STOPPING) > 0) notifyOwner(turn, owner);
}

/** Closes the open approvals and returns their number. */
export function closeApprovals(turn: Turn, { hasAsked }: RunContext, note: string): number {
  if (hasAsked === false) return 0;
  const { partition, id } = turn.self;
  const open = listOpenApprovals(turn, partition, id);
  const answeredAt = timeText(turn.now);
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

/** Tells the owner which approvals the run needs from its assignee now. */
export function notifyOwner(turn: Turn, owner: RunOwner): void {
  const { partition, id: runId } = turn.self;
  const assignee = owner.assignee(turn, partition, getRunRow(turn)) ?? null;
  sendToOwner(turn, { type: "run.asking", runId, asks: findAsks(turn, partition, { runId, assignee }) });
}

/** The run, and the assignee of its approvals. */
interface AskedOf {
  readonly runId: string;
  readonly assignee: string | null;
}

/**
 * Describes in a sentence what the run asks of its assignee; null for nothing. Ignores approvals that another person
 * answers.
 */
function findAsks(reading: Reading, workspaceId: string, { runId, assignee }: AskedOf): string | null {
  const [first, ...others] = listAssigneesApprovals(reading, workspaceId, runId);
  return first === undefined ? null : asksText(first, others.length, assignee);
}

/** Lists the open approvals of a run that its assignee may answer, oldest first. */
export function listAssigneesApprovals(reading: Reading, workspaceId: string, runId: string): ApprovalRow[] {
  return listOpenApprovals(reading, workspaceId, runId).filter(({ rule }) => rule !== "person");
}

/**
 * Assigns the open approvals of a run to its new assignee, in a turn of the run's owner. Returns a sentence about what
 * the run asks of the assignee; null if it asks nothing.
 */
export function reassignApprovals(turn: Turn, asked: AskedOf): string | null {
  const { partition } = turn.self;
  for (const approval of listAssigneesApprovals(turn, partition, asked.runId)) {
    approvals.put(turn, partition, approval, { ...approval, approver: asked.assignee });
  }
  return findAsks(turn, partition, asked);
}

function asksText({ kind, tool, reason }: ApprovalRow, others: number, assignee: string | null): string {
  const why = reason === "" ? "." : `: ${reason}`;
  const wanted =
    kind === "permission"
      ? `The agent asks for approval to use ${tool}${why}`
      : `A call of ${tool} waits for approval.`;
  const asks = assignee === null ? `${wanted} The task has no assignee to approve it: assign the task first.` : wanted;
  return others === 0 ? asks : `${asks} (${others} more pending)`;
}
