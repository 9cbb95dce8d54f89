import type { Turn } from "../../runtime/turns/turn.js";
import { archiveRef } from "../archives/archive.messages.js";
import { findArchive } from "../archives/archive.queries.js";
import type { WorkFact } from "../events/catalogue.js";
import { recordWorkEvent } from "../events/event-task.js";
import { boundMoney } from "../money.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import { dispatcherRef, type ReleaseClaim, type UnqueueRun } from "../runners/dispatcher.messages.js";
import type { RunFailure, RunnerMessage } from "../runners/protocol.js";
import { type ClaimEnded, type RunReported, runnerRef } from "../runners/runner.messages.js";
import type { OutboxMessage } from "../runners/runner.table.js";
import { storeText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { closeApprovals } from "./approvals.js";
import { carryUndelivered } from "./conversation.js";
import { mayHandOver } from "./hand-over.js";
import type { RunContext, RunOutcome, RunRow } from "./run.js";
import { runCheckouts, runs, toQueuedRun } from "./run.table.js";
import { getRunRow, sendToOwner, sendToRunner } from "./run.transitions.js";
import { recordRunFact } from "./run-fact.js";
import { recordBases } from "./run-input.js";
import { getRunInput } from "./run-input.table.js";
import type { RunOwner } from "./run-owner.js";
import { holdEnd, losePushes, recordUnmet } from "./run-pushes.js";
import { reportEnded } from "./run-report.js";
import { endToolCalls } from "./tool-calls.js";

/** The transition functions that end a run. `run.machine.ts` defines when they apply. */

/** The runner's report of the end of a run. */
export type EndReport = Extract<RunnerMessage, { type: "run.ended" }>;

/** Ends the run with the reported outcome. A reported handover that was not accepted makes the outcome a failure. */
export function endByReport(turn: Turn, context: RunContext, report: EndReport, owner: RunOwner): void {
  const { outcome, failure } = recordReport(turn, report);
  const { partition, id: runId } = turn.self;
  const ended: ClaimEnded = { type: "claim.ended", runId };
  // A runner that may be asked to push keeps its folder until it receives `run.drop`, so send `run.drop`.
  if (getRunInput(turn, partition, runId).beginning?.push === true) dropClaim(turn, context);
  else if (context.runnerId !== null) turn.send(runnerRef(partition, context.runnerId), ended);
  finish(turn, context, { outcome, reason: failure?.message ?? null }, owner);
}

/** Records the runner's end report. Returns the outcome to end the run with. */
function recordReport(
  turn: Turn,
  report: Omit<EndReport, "type" | "runId" | "fence">,
): Pick<EndReport, "outcome" | "failure"> {
  const row = getRunRow(turn);
  recordCheckouts(turn, report.checkouts);
  for (const [index, text] of (report.remarks ?? []).entries()) {
    sendToOwner(turn, { type: "note", from: "service", text, key: `remark ${row.id} ${index}` });
  }
  if (report.failure?.code === "checkout-failed") lookForCommits(turn);
  const { outcome, failure } = acceptedOutcome(row, report);
  const spent = report.spent ?? row.spent;
  const { ending, check, model } = report;
  const reported = { ending, failure, check, spent, ...(model !== undefined && { reportedModel: model }) };
  runs.put(turn, turn.self.partition, row, { ...row, ...reported });
  return { outcome, failure };
}

/**
 * Asks the archives that store the run's starting commits to check whether the branches still contain these commits.
 */
function lookForCommits(turn: Turn): void {
  const { partition, id } = turn.self;
  for (const { repository, base } of getRunInput(turn, partition, id).beginning?.checkouts ?? []) {
    const of = base === null ? undefined : findArchive(turn, partition, { repository, commit: base });
    if (of?.standing === "served") turn.send(archiveRef(partition, of.id), { type: "archive.look" });
  }
}

/**
 * Holds the run's end until its changes are pushed. Records the runner's report, closes the run's approvals and tool
 * calls, and asks to push the first repository. The runner keeps its claim until the last push has a result.
 */
export function holdForPushes(
  turn: Turn,
  context: RunContext,
  { repositories, ...report }: Omit<EndReport, "type"> & { readonly repositories: readonly string[] },
): RunContext {
  recordReport(turn, report);
  closeApprovals(turn, context, "The run is over.");
  endToolCalls(turn, context, { reason: "The run is over.", ended: true });
  return holdEnd(turn, context, repositories);
}

/** Ends a run after its last push. The runner deletes the folder that it kept for the pushes. */
export function endAfterPushes(turn: Turn, context: RunContext, owner: RunOwner): void {
  dropClaim(turn, context);
  finish(turn, context, { outcome: "completed", reason: null }, owner);
}

function dropClaim(turn: Turn, context: RunContext): void {
  sendToRunner(turn, context, { type: "run.drop", runId: turn.self.id, fence: context.fence });
}

/** Ends a run whose push reports are lost. The run's work is done and stored, so the run ends as completed. */
export function endWithLostPushes(turn: Turn, context: RunContext, why: string, owner: RunOwner): void {
  losePushes(turn, context, why);
  const wished = context.pushes.flatMap(({ wish, repository }) => (wish === null ? [] : [[repository, why] as const]));
  const unmet = { ...context.unmet, ...Object.fromEntries(wished) };
  endAfterPushes(turn, { ...context, pushes: [], held: [], unmet }, owner);
}

function recordCheckouts(turn: Turn, checkouts: EndReport["checkouts"]): void {
  const { partition, id: runId } = turn.self;
  // The runner usually reports the starting commits earlier. Runners of earlier releases, and runners whose setup
  // failed, only report them here.
  recordBases(turn, checkouts);
  const { repositories } = getRunInput(turn, partition, runId).config;
  // If a repository is reported twice, the last report applies. Reports about repositories outside the run's config are
  // ignored.
  const last = new Map(checkouts.map((checkout) => [checkout.repository, checkout]));
  for (const { repository, base, diff, own } of last.values()) {
    if (!repositories.some(({ name }) => name === repository)) continue;
    const bodies = {
      digest: storeText(turn, partition, diff),
      ...(own !== undefined && { own: storeText(turn, partition, own) }),
    };
    runCheckouts.insert(turn, partition, { runId, repository, base, ...bodies });
  }
}

/**
 * Returns the outcome to end the run with. If the runner reports a handover that was not accepted before, the outcome
 * is a failure. So no runner can skip a gate.
 */
export function acceptedOutcome(
  row: RunRow,
  report: Pick<EndReport, "outcome" | "ending" | "failure">,
): Pick<EndReport, "outcome" | "failure"> {
  const { outcome, ending, failure } = report;
  if (outcome !== "completed" || ending?.kind !== "handover" || mayHandOver(row, ending.to))
    return { outcome, failure };
  const message = `The runner reported a handover to ${ending.to}, which this run is not allowed to make.`;
  return { outcome: "failed", failure: { code: "runner-error", message, output: "" } };
}

/** Ends a run whose job cannot be sent to its runner. */
export function endUndeliverable(turn: Turn, context: RunContext, why: string, owner: RunOwner): void {
  const failure: RunFailure = { code: "not-supported", message: why, output: "" };
  const row = getRunRow(turn);
  runs.put(turn, turn.self.partition, row, { ...row, failure });
  endRun(turn, context, { outcome: "failed", reason: why }, owner);
}

/** Ends a run whose runner did not report the stop in time. */
export function endUnanswered(turn: Turn, context: RunContext, owner: RunOwner): void {
  const end = { outcome: "stopped", reason: "The run was stopped; its runner did not answer." } as const;
  endRun(turn, context, end, owner);
}

/**
 * Ends a run whose runner is lost. The outcome is `stopped` if the service asked the runner to stop the run, otherwise
 * `abandoned`.
 */
export function endLost(turn: Turn, context: RunContext, owner: RunOwner): void {
  const lost = context.stopping
    ? ({ outcome: "stopped", reason: "The run was stopped; its runner was lost in the meantime." } as const)
    : ({ outcome: "abandoned", reason: "The runner was lost." } as const);
  endRun(turn, context, lost, owner);
}

/** Ends the run by decision of the service. The runner that holds the claim drops the run. */
export function endRun(
  turn: Turn,
  context: RunContext,
  end: { readonly outcome: RunOutcome; readonly reason: string },
  owner: RunOwner,
): void {
  dropClaim(turn, context);
  if (context.runnerId === null) {
    const unqueue: UnqueueRun = { type: "run.unqueue", run: toQueuedRun(getRunRow(turn)) };
    turn.send(dispatcherRef(turn.self.partition), unqueue);
  }
  finish(turn, context, end, owner);
}

function finish(
  turn: Turn,
  context: RunContext,
  { outcome, reason }: { readonly outcome: RunOutcome; readonly reason: string | null },
  owner: RunOwner,
): void {
  const at = timeText(turn.now);
  losePushes(turn, context);
  if (outcome === "completed") recordUnmet(turn, context);
  const before = getRunRow(turn);
  const row: RunRow = { ...before, state: "ended", outcome, reason, spent: boundMoney(before.spent), endedAt: at };
  closeApprovals(turn, context, "The run is over.");
  endToolCalls(turn, context, { reason: "The run is over.", ended: true });
  turn.cancelWake("stop");
  runs.put(turn, turn.self.partition, before, row);
  recordRunFact(turn, row, outcome, owner);
  turn.report(reportEnded(row, outcome, turn.now));
  if (context.runnerId !== null) releaseClaim(turn, context.runnerId);
  if (owner.hasHooks) publishEnded(turn, row, { at, outcome }, owner);
  carryUndelivered(turn, context, row);
  sendToOwner(turn, { type: "run.over", runId: row.id, outcome });
}

function publishEnded(
  turn: Turn,
  row: RunRow,
  event: { readonly at: string; readonly outcome: RunOutcome },
  owner: RunOwner,
): void {
  const workspaceId = turn.self.partition;
  const subject = owner.eventSubject(turn, workspaceId, row);
  // A closed workspace publishes no facts.
  if (subject === null || !isWorkspaceOpen(turn, workspaceId)) return;
  const on = "run.ended";
  const of = { on, occurrence: turn.newId("occ"), run: { id: row.id }, event } as const;
  const fact: WorkFact = { name: on, work: recordWorkEvent(turn, workspaceId, subject, of) };
  turn.publish(fact);
}

/** Frees the runner's slot. */
export function releaseClaim(turn: Turn, runnerId: string): void {
  const release: ReleaseClaim = { type: "claim.release", runnerId, runId: turn.self.id };
  turn.send(dispatcherRef(turn.self.partition), release);
}

/**
 * Answers a runner's message about an ended claim with `run.drop`, so that the runner kills the programs of that claim.
 * Does not answer an end report.
 */
export function dropStale(turn: Turn, { runnerId, said }: Pick<RunReported, "runnerId" | "said">): void {
  const drop: OutboxMessage = { type: "run.drop", runId: turn.self.id, fence: said.fence };
  if (said.type !== "run.ended") sendToRunner(turn, { runnerId }, drop);
}
