import type { InTurn } from "../../runtime/cells/chart.js";
import type { Delivered, Turn, TurnReading } from "../../runtime/turns/turn.js";
import { nameToken } from "../access/tokens/workspace-token.queries.js";
import { isOnTeam } from "../access/visibility/visibility.js";
import type { WorkFact } from "../events/catalogue.js";
import { recordWorkEvent, toEventTask } from "../events/event-task.js";
import type { TaskHappened, TaskHappening } from "../events/task-happening.js";
import type { LineFields } from "../lines/line.js";
import { findLine, findStation, laterStations } from "../lines/line.queries.js";
import type { Opener } from "../opener.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import { invalid, type Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import { recordStay } from "../run-facts/stay.table.js";
import { reassignApprovals } from "../runs/approvals.js";
import { refuseNonAssignee } from "../runs/assignee.js";
import type { RunRow } from "../runs/run.js";
import { type EndRun, type RunOver, runRef } from "../runs/run.messages.js";
import { runCheckouts } from "../runs/run.table.js";
import { toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { acceptChanges, addRunEnd, recordAct, sendBackChanges, toRunEnd } from "./ended-runs.js";
import { queueNextRun } from "./next-run.js";
import { addMarks } from "./raised-values.js";
import { beginReviewing, reportReview } from "./reviewing.js";
import {
  type EndedRun,
  type EndedTaskWait,
  isOpen,
  type NextStation,
  type TaskContext,
  type TaskRow,
  type TaskWait,
} from "./task.js";
import type {
  AddNote,
  AssignTask,
  CloseTask,
  MarkTask,
  NoteTask,
  OpenTask,
  StopTask,
  TaskAnswer,
  UnassignTask,
  WithdrawTask,
} from "./task.messages.js";
import { recordTaskRequest } from "./task.retention.js";
import {
  noteKeys,
  taskCauses,
  taskCheckouts,
  taskEntry,
  taskNotes,
  tasks,
  taskTopic,
  toEventSubject,
} from "./task.table.js";
import { endedTaskCounters } from "./task-counters.js";
import { hasOpenPullRequest, settlePullRequests, showPullRequest } from "./task-pull-requests.js";
import { teamMarksRef } from "./team-marks.messages.js";

/** The transition functions of a task. `task.machine.ts` defines when they apply. */

/** The task's run has ended. `decided` says where the task goes. */
interface RunIsOver extends Pick<RunOver, "runId" | "outcome"> {
  readonly turn: Turn;
  readonly run: RunRow | undefined;
  readonly decided: NextStation;
}

/** Returns the task's row, which exists once the task is opened. */
export function taskRow(turn: TurnReading): TaskRow {
  const row = tasks.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a task without its row");
  return row;
}

/**
 * Stores the row in place of its latest version `before`. If the state or the station changes, also records the stay
 * that ends.
 */
export function putTask(turn: Turn, before: TaskRow | null, row: TaskRow): TaskRow {
  const isSame = before !== null && before.state === row.state && before.station === row.station;
  if (before !== null && !isSame) recordStayIn(turn, before);
  const stored = isSame ? row : { ...row, partSinceMs: turn.now };
  tasks.put(turn, turn.self.partition, before, stored);
  if (before !== null) reportMarks(turn, before, row);
  const { state } = row;
  if (before?.state !== state && (state === "done" || state === "closed")) turn.count(endedTaskCounters[state]);
  return stored;
}

/** Notifies the team's marks actor that the task has ended or is open again. */
function reportMarks(turn: Turn, before: TaskRow, { id: taskId, teamId, marks, ...row }: TaskRow): void {
  if (isOpen(before) === isOpen(row) || Object.keys(marks).length === 0) return;
  turn.send(teamMarksRef(turn.self.partition, teamId), { type: isOpen(row) ? "marks.retake" : "marks.free", taskId });
}

function recordStayIn(turn: Turn, task: TaskRow): void {
  if (!isOpen(task) || task.partSinceMs === undefined) return;
  const { id: taskId, teamId, lineId, station, state: part, partSinceMs: fromMs } = task;
  recordStay(turn, { teamId, taskId, lineId, station, part, fromMs });
}

/**
 * Refuses with a 422 if the line or the station no longer exists, or if the assignee is not on the team. Returns null
 * otherwise. Called in the turn that opens the task.
 */
export function refuseUnlessOpens(turn: TurnReading, { teamId, lineId, station, assignee }: OpenTask): Refusal | null {
  const line = findLine(turn, turn.self.partition, lineId);
  if (line === undefined) return invalid("line", "the line no longer exists");
  return station === null || findStation(line, station) !== undefined
    ? refuseUnlessOnTeam(turn, assignee, teamId)
    : invalid("station", `there is no station ${station}`);
}

export function openTask(event: Delivered<OpenTask>): TaskContext {
  const { turn, teamId, lineId, title, description, url, station, assignee, by } = event;
  const openedBy: Opener =
    event.token === undefined ? { kind: "person", userId: by } : { kind: "token", ...nameToken(turn, event.token) };
  recordTaskRequest(turn, event, turn.self.id);
  const openedContext = beginTask(turn, {
    teamId,
    lineId,
    station,
    title,
    url,
    assignee,
    openedBy,
    marks: {},
    description,
    causes: event.causes,
    ...(event.reviews && { reviews: event.reviews }),
  });
  answer(turn, taskRow(turn));
  return openedContext;
}

/** The initial values of a task. */
export interface TaskBeginning
  extends Pick<TaskRow, "teamId" | "lineId" | "title" | "url" | "assignee" | "openedBy" | "marks">,
    Pick<TaskRow, "branch" | "channels" | "reviews"> {
  /** Key of the station where the task starts; null for the first station of the line. */
  readonly station: string | null;
  readonly description: string;
  readonly causes?: readonly string[] | undefined;
}

/** Stores the task and queues its first run. */
export function beginTask(turn: Turn, { station: wanted, description, causes, ...of }: TaskBeginning): TaskContext {
  const workspaceId = turn.self.partition;
  const station = wanted ?? findLine(turn, workspaceId, of.lineId)?.stations[0]?.key;
  if (station === undefined) throw new Error("a task on a line without stations");
  const at = timeText(turn.now);
  const row = putTask(turn, null, {
    id: turn.self.id,
    ...of,
    station,
    description: toStoredText(turn, workspaceId, description),
    state: "queued",
    pullRequest: null,
    runId: null,
    asks: null,
    failure: null,
    openedAt: at,
    movedAt: at,
  });
  turn.direct(taskEntry(workspaceId, row.id));
  recordCauses(turn, { causes });
  beginReviewing(turn, row);
  publish(turn, row, "task.opened", {});
  return { runId: startRun(turn, row, row), abandoned: 0, ended: [], opening: [] };
}

export function markRunning({ turn }: InTurn): void {
  const row = taskRow(turn);
  putTask(turn, row, { ...row, state: "running" });
}

/** Continues the task after its run has ended. `event.decided` says where the task goes. */
export function advance(event: RunIsOver, context: TaskContext): TaskContext {
  const { turn, run, decided } = event;
  const row = taskRow(turn);
  if (event.outcome === "completed") carryDiffs(turn, event.runId);
  const ending = run?.ending ?? null;
  if (ending?.kind === "handover" && ending.note !== "") appendNote(turn, row, `station ${row.station}`, ending.note);
  if (ending?.kind === "ask") appendNote(turn, row, `station ${row.station}`, ending.question);
  const abandoned = event.outcome === "abandoned" ? context.abandoned + 1 : 0;
  const ended = endRun(event, row, context.ended);
  if (decided.next === "queued") {
    const moved = decided.to === undefined ? row : moveTo(turn, row, decided.to);
    return { runId: startRun(turn, row, moved), abandoned, ended, opening: [] };
  }
  const { asks = null, opening = [] } = decided;
  const state: TaskRow["state"] = decided.next === "opening" ? "running" : decided.next;
  const after = { ...row, state, asks, failure: run?.failure ?? null };
  const kind = event.outcome === "completed" ? "question" : "failure";
  const next = putTask(turn, row, state === "inbox" ? enterInbox(turn, after, kind) : after);
  if (next.state === "done") {
    publishHappening(turn, next, "task.finished");
    reportReview(turn, next, event.runId, ending);
  } else if (asks !== null) publishHappening(turn, next, "task.asked", { body: asks, isApproval: false });
  return { runId: null, abandoned, ended, opening };
}

/**
 * Shows the pull request's current state in the task. When the task's last open pull request ends, settles the outcomes
 * of the task's ended runs.
 */
export function takePullRequest(
  { turn, ...message }: Delivered<TaskPullRequestChanged>,
  context: TaskContext,
): TaskContext {
  const row = taskRow(turn);
  putTask(turn, row, showPullRequest(turn, row));
  return { ...context, ended: settlePullRequests(turn, context, message) };
}

/**
 * Ends the task's wait for its pull requests. `asks` is null if all pull requests are open. If a pull request failed to
 * open, `asks` explains the failure to the assignee.
 */
export function endOpening(
  { turn, asks }: { readonly turn: Turn; readonly asks: string | null },
  context: TaskContext,
): TaskContext {
  const row = taskRow(turn);
  const state = asks === null ? "done" : "inbox";
  const after = { ...showPullRequest(turn, row), state, asks } as const;
  const next = putTask(turn, row, state === "inbox" ? enterInbox(turn, after, "failure") : after);
  if (asks === null) publishHappening(turn, next, "task.finished");
  else publishHappening(turn, next, "task.asked", { body: asks, isApproval: false });
  const isSettled = state === "done" && !hasOpenPullRequest(turn);
  return { ...context, opening: [], ended: isSettled ? acceptChanges(turn, context.ended) : context.ended };
}

/**
 * Records the outcome of the run that ended, and the outcomes of earlier runs that this end settles. Returns the runs
 * that the task remembers.
 */
function endRun(event: RunIsOver, row: TaskRow, before: readonly EndedRun[]): readonly EndedRun[] {
  const { turn, run, decided } = event;
  const { to, next } = decided;
  const line = to === undefined ? undefined : findLine(turn, turn.self.partition, row.lineId);
  const isBack = to !== undefined && isEarlier(line, to, row.station);
  const ended = isBack ? sendBackChanges(turn, before, { line, to }) : before;
  // The changes of the task's runs are not accepted while a pull request is open.
  const isOpen = next === "done" && hasOpenPullRequest(turn);
  const end = toRunEnd(event, run, { station: row.station, next: isOpen ? "opening" : next, isBack });
  if (next !== "done" || isOpen) return addRunEnd(turn, ended, end);
  addRunEnd(turn, acceptChanges(turn, ended), end);
  return [];
}

/**
 * Moves the task to the inbox. `asks` is a sentence about what the run needs from the assignee. If `asks` is null, the
 * run needs nothing, and the task is `running` again.
 */
export function setAsks(turn: Turn, asks: string | null): void {
  const row = taskRow(turn);
  const next = putTask(turn, row, { ...row, state: asks === null ? "running" : "inbox", asks });
  if (asks !== null && asks !== row.asks) publishHappening(turn, next, "task.asked", { body: asks, isApproval: true });
}

/** The 409 for commands that are not possible while a run waits for an approval. */
export const refusedWhileAsked: Refusal = {
  refused: "conflict",
  detail: "The task's run waits for approval of a call: approve, edit or dismiss it, or stop the run.",
};

/** A person's command that queues a new run. */
interface Resumption {
  readonly by: string;
  /** The answer to the task's question; absent for a retry and a move. */
  readonly note?: string | null;
  /** The station to move to; absent for an answer and a retry. */
  readonly to?: string | null;
}

/** Queues a new run after an answer, a retry or a manual move. An active run ends as superseded. */
export function resume(
  turn: Turn<TaskAnswer>,
  context: TaskContext,
  { by, note = null, to: wanted = null }: Resumption,
): TaskContext {
  const row = withoutGoneAssignee(turn, taskRow(turn));
  const line = wanted === null ? undefined : findLine(turn, turn.self.partition, row.lineId);
  const to = wanted !== null && isEarlier(line, wanted, row.station) ? wanted : null;
  const sentBack = to === null ? context.ended : sendBackChanges(turn, context.ended, { line, to });
  const act = note !== null ? "answered" : to === null ? "started" : "sent-back";
  const left = { ...context, ended: recordAct(turn, sentBack, act) };
  const ended = abandonRun(turn, left, { outcome: "superseded", reason: "The task was moved by hand." });
  if (note !== null) appendNote(turn, row, `person ${by}`, note);
  const moved = wanted === null || wanted === row.station ? row : moveTo(turn, row, wanted);
  const what = note !== null ? "answered" : wanted === null ? "retried" : "moved";
  const runId = startRun(turn, row, leaveInbox(turn, moved, { by, what }));
  answer(turn, taskRow(turn));
  return { runId, abandoned: 0, ended, opening: [] };
}

/**
 * Removes the assignee from an ended task if that person is no longer on the team. Otherwise the next run would wait
 * for a person who cannot answer. Returns the task's row.
 */
function withoutGoneAssignee(turn: Turn, row: TaskRow): TaskRow {
  if (isOpen(row) || refuseUnlessOnTeam(turn, row.assignee, row.teamId) === null) return row;
  const unassigned = putTask(turn, row, { ...row, assignee: null });
  appendNote(turn, unassigned, "service", "Its assignee left the team: the task now has no assignee.");
  return unassigned;
}

/** Stops the active run. */
export function stop({ turn }: Delivered<StopTask>, context: TaskContext): TaskContext {
  endRunUnderWay(turn, context, { outcome: "stopped", reason: "The assignee stopped it." });
  answer(turn, taskRow(turn));
  return { ...context, ended: recordAct(turn, context.ended, "parked") };
}

/** Ends the active run, if there is one. */
function endRunUnderWay(turn: Turn, context: TaskContext, end: Omit<EndRun, "type">): void {
  if (context.runId === null) return;
  const message: EndRun = { type: "run.end", ...end };
  turn.send(runRef(turn.self.partition, context.runId), message);
}

/**
 * Asks the active run, if there is one, to end, and records the run as ended now. Returns the ended runs that the task
 * remembers.
 */
function abandonRun(turn: Turn, context: TaskContext, end: Omit<EndRun, "type">): readonly EndedRun[] {
  endRunUnderWay(turn, context, end);
  const { runId, ended } = context;
  if (runId === null) return ended;
  return addRunEnd(turn, ended, { runId, station: taskRow(turn).station, outcome: "other", stands: false });
}

export function close(event: Delivered<CloseTask | WithdrawTask>, context: TaskContext): TaskContext {
  const { turn } = event;
  if (event.type === "task.close" && event.token === undefined) recordAct(turn, context.ended, "closed");
  abandonRun(turn, context, { outcome: "withdrawn", reason: "The task was closed." });
  const row = taskRow(turn);
  const by = event.type === "task.close" && event.token === undefined ? event.by : null;
  const left = leaveInbox(turn, row, { by, what: "closed" });
  const closed = putTask(turn, row, { ...left, state: "closed", asks: null });
  if (event.type === "task.close") publishHappening(turn, closed, "task.closed");
  answer(turn, closed);
  return { ...context, runId: null, ended: [], opening: [] };
}

export function reassign(event: Delivered<AssignTask>): void {
  const { turn, assignee } = event;
  recordTaskRequest(turn, event, turn.self.id);
  const row = taskRow(turn);
  answer(turn, putTask(turn, row, { ...row, assignee, asks: reassignAsks(turn, row, assignee) }));
}

/** Assigns the run's open approvals to the new assignee. Returns the new text of the task's `asks`. */
function reassignAsks(turn: Turn, { runId, asks }: TaskRow, assignee: string | null): string | null {
  return (runId === null ? null : reassignApprovals(turn, { runId, assignee })) ?? asks;
}

/** Unassigns the task if its assignee is the person who left. */
export function unassign({ turn, userId, left }: Delivered<UnassignTask>): void {
  const row = taskRow(turn);
  if (row.assignee !== userId) return;
  const unassigned = putTask(turn, row, { ...row, assignee: null, asks: reassignAsks(turn, row, null) });
  appendNote(turn, unassigned, "service", `Its assignee left the ${left}: the task now has no assignee.`);
}

/** Refuses with a 422 an assignee who is not on the task's team. Returns null for a member, and for no assignee. */
export function refuseUnlessOnTeam(turn: TurnReading, assignee: string | null, teamId: string): Refusal | null {
  return assignee === null || isOnTeam(turn, assignee, turn.self.partition, teamId)
    ? null
    : invalid("assignee", "is not a member of this team");
}

export function addNote(turn: Turn, note: NoteTask): void {
  if (tasks.get(turn, turn.self.partition, turn.self.id) === undefined) return;
  if (note.key !== null) {
    if (noteKeys.get(turn, turn.self.partition, turn.self.id, note.key) !== undefined) return;
    noteKeys.put(turn, turn.self.partition, [turn.self.id, note.key], true);
  }
  appendNote(turn, taskRow(turn), note.from, note.text);
}

/** Sets marks on the task. */
export function markTask({ turn, marks, replaces }: Delivered<MarkTask>): void {
  const row = taskRow(turn);
  putTask(turn, row, { ...row, marks: addMarks(replaces ? {} : row.marks, marks) });
}

/** Adds the note of a person or a token. */
export function addCallersNote(event: Delivered<AddNote>): void {
  const { turn, text } = event;
  const row = taskRow(turn);
  recordTaskRequest(turn, event, row.id);
  appendNote(turn, row, toNoteSender(turn, event), text);
  answer(turn, row);
}

/** Returns the sender of a note: `person <id>`, `token <name>`, or `trust <key>` for a minted token. */
function toNoteSender(turn: Turn, { by, token }: Pick<AddNote, "by" | "token">): string {
  if (token === undefined) return `person ${by}`;
  const { name, trust } = nameToken(turn, token);
  return `${trust === null ? "token" : "trust"} ${name}`;
}

/** Refuses everyone but the assignee with a 403; null for the assignee. */
export function refuseUnlessAssignee(turn: TurnReading, by: string): Refusal | null {
  return refuseNonAssignee(taskRow(turn), by);
}

/** Refuses with a 422 a station that the line does not have. Returns null otherwise. */
export function refuseUnlessStation(turn: TurnReading, to: string): Refusal | null {
  const line = findLine(turn, turn.self.partition, taskRow(turn).lineId);
  return findStation(line, to) === undefined ? invalid("to", `there is no station ${to}`) : null;
}

/** Records the key and the causes of a command. */
export function recordCommand(event: Keyed & { readonly turn: Turn; readonly causes?: readonly string[] }): void {
  recordCauses(event.turn, event);
  recordTaskRequest(event.turn, event, event.turn.self.id);
}

/** Records the causes of this message as the causes of the task's changes from now on. */
function recordCauses(turn: Turn, { causes = [] }: { readonly causes?: readonly string[] | undefined }): void {
  const { partition, id } = turn.self;
  if (causes.length > 0) taskCauses.put(turn, partition, id, causes);
  else if (taskCauses.get(turn, partition, id) !== undefined) taskCauses.remove(turn, partition, id);
}

function answer(turn: Turn<TaskAnswer>, task: TaskRow): void {
  turn.reply({ task, replayed: false });
}

/** Queues a run at the station of `row`, and stores `row` in place of `before`. */
function startRun(turn: Turn, before: TaskRow, row: TaskRow): string {
  const runId = queueNextRun(turn, row);
  putTask(turn, before, { ...row, state: "queued", runId, asks: null, failure: null });
  return runId;
}

/** Returns the row with a wait of this kind, which starts now. */
function enterInbox(turn: Turn, row: TaskRow, kind: TaskWait["kind"]): TaskRow {
  return { ...row, waits: { kind, sinceMs: turn.now } };
}

/** Returns the row without its wait for a person. The new row records what ended the wait. */
function leaveInbox(turn: Turn, row: TaskRow, { by, what }: Pick<EndedTaskWait, "by" | "what">): TaskRow {
  const { waits, ...left } = row;
  if (waits === undefined) return row;
  const { runId, asks, failure } = row;
  return { ...left, lastWait: { ...waits, runId, asks, failure, what, by, atMs: turn.now } };
}

/** Whether the station `to` comes before `station` in the line. */
function isEarlier(line: LineFields | undefined, to: string, station: string): boolean {
  return line !== undefined && laterStations(line, to, [station]).length > 0;
}

/** Returns the task's row at the station `to`. The caller stores the row together with the task's next run. */
function moveTo(turn: Turn, row: TaskRow, to: string): TaskRow {
  const moved = { ...row, station: to, movedAt: timeText(turn.now) };
  publish(turn, moved, "task.moved", { from: row.station, to });
  return moved;
}

/** Copies the diffs of a completed run to the task. The task's next run starts from these diffs. */
function carryDiffs(turn: Turn, runId: string): void {
  const { partition, id: taskId } = turn.self;
  for (const { repository, base, digest } of runCheckouts.list(turn, partition, [runId])) {
    const before = taskCheckouts.get(turn, partition, taskId, repository) ?? null;
    taskCheckouts.put(turn, partition, before, { taskId, repository, base, digest });
  }
}

/** Appends a note to the task. */
export function appendNote(turn: Turn, row: TaskRow, from: string, text: string): void {
  const last = taskNotes.list(turn, turn.self.partition, [row.id], { reverse: true, limit: 1 })[0];
  const note = { seq: (last?.seq ?? 0) + 1, at: timeText(turn.now), from, text };
  taskNotes.put(turn, turn.self.partition, [row.id, note.seq], note);
  turn.publishChange(taskTopic(row.id), { type: "note", note });
}

/** Publishes a task event for integration bindings. Not called when a closed workspace withdraws its tasks. */
function publishHappening(turn: Turn, row: TaskRow, on: TaskHappening["on"], ask: TaskHappening["ask"] = null): void {
  const workspaceId = turn.self.partition;
  const { task, causes } = toEventSubject(turn, workspaceId, row);
  const { teamId, lineId } = row;
  const fact: TaskHappened = {
    name: on,
    happening: {
      on,
      occurrence: turn.newId("occ"),
      workspaceId,
      teamId,
      lineId,
      task: toEventTask(task, findLine(turn, workspaceId, lineId)),
      ask,
      at: timeText(turn.now),
      causes,
    },
  };
  turn.publish(fact);
}

function publish(
  turn: Turn,
  row: TaskRow,
  name: "task.opened" | "task.moved",
  fields: Readonly<Record<string, unknown>>,
): void {
  const { partition } = turn.self;
  const event = { at: timeText(turn.now), ...fields };
  const of = { on: name, occurrence: turn.newId("occ"), run: null, event } as const;
  const fact: WorkFact = { name, work: recordWorkEvent(turn, partition, toEventSubject(turn, partition, row), of) };
  turn.publish(fact);
}
