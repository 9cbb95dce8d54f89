/** How integration events open or update a task. `task.machine.ts` defines when. */
import type { Delivered, Turn } from "../../runtime/turns/turn.js";
import { findLine } from "../lines/line.queries.js";
import { cutText } from "../well-formed.js";
import {
  addMarks,
  findAssignee,
  toBranchName,
  toRaisedDescription,
  toRaisedNote,
  toRaisedTitle,
  toRaisedUrl,
} from "./raised-values.js";
import { findBranchReview } from "./reviewing.js";
import { isOpen, type TaskContext, type TaskRow } from "./task.js";
import { addNote, appendNote, beginTask, putTask, taskRow } from "./task.transitions.js";
import { taskAttachmentsRef } from "./task-attachments.messages.js";
import {
  type OpenRaised,
  type RaiseRefused,
  type RaiseTaken,
  type RaiseTask,
  type ReportRaised,
  teamMarksRef,
} from "./team-marks.messages.js";

/**
 * Opens the task for an event. The assignee's email address comes from the event's sender, who could name anybody. So
 * the task's opener is the integration, not a person.
 */
export function openRaised({ turn, raise, teamId, marks }: Delivered<OpenRaised>): TaskContext {
  const { opens, integration, branch, channel, causes } = raise;
  if (opens === null) throw new Error("an event that opens no task");
  const { lineId, station, title, description, url, assigneeEmail } = opens;
  const openedContext = beginTask(turn, {
    teamId,
    lineId,
    station,
    causes,
    ...toBeginning(turn, lineId, branch),
    title: toRaisedTitle(title),
    description: toRaisedDescription(description),
    url: toRaisedUrl(url),
    assignee: findAssignee(turn, turn.self.partition, teamId, assigneeEmail),
    openedBy: { kind: "integration", integration: integration.key, integrationId: integration.id },
    marks: addMarks({}, marks),
    ...(channel === null ? {} : { channels: { [integration.id]: channel } }),
  });
  noteUnusableBranch(turn, raise);
  takeRaise(turn, teamId, raise, { marks });
  return openedContext;
}

/** Adds the event's text to the task as a note, and sets the event's marks and branch. */
export function reportRaised({ turn, raise, teamId, marks }: Delivered<ReportRaised>): void {
  const row = taskRow(turn);
  putTask(turn, row, { ...row, marks: addMarks(row.marks, marks), ...toBranch(raise.branch) });
  if (raise.say !== "") appendNote(turn, row, `integration ${raise.integration.key}`, toRaisedNote(raise.say));
  noteUnusableBranch(turn, raise);
  // The task ended after the team's marks actor sent this message. In the meantime the marks actor assigned the event's
  // marks to the task, so free them.
  if (!isOpen(row)) turn.send(teamMarksRef(turn.self.partition, teamId), { type: "marks.free", taskId: row.id });
  takeRaise(turn, teamId, raise, {});
}

/**
 * Notifies the team's marks actor that the task did not process the event: the task could not be opened, or it does not
 * exist.
 */
export function refuseRaise({
  turn,
  teamId,
  raise,
  reason,
}: Omit<RaiseRefused, "type"> & { readonly turn: Turn; readonly teamId: string }): void {
  turn.send(teamMarksRef(turn.self.partition, teamId), { type: "raise.refused", raise, reason });
}

function takeRaise(
  turn: Turn,
  teamId: string,
  { key, integration, attaches }: RaiseTask,
  opened: Pick<RaiseTaken, "marks">,
): void {
  const { partition, id } = turn.self;
  turn.send(teamMarksRef(partition, teamId), { type: "raise.taken", key, ...opened });
  if (attaches === null || attaches.files.length === 0) return;
  const of = { key, teamId, integrationId: integration.id, attaches };
  turn.send(taskAttachmentsRef(partition, id), { type: "files.attach", ...of });
}

/**
 * Returns the starting point of the task's runs. If the branch is the head of an open pull request, the runs review
 * that pull request. Otherwise the runs work on the branch.
 */
function toBeginning(turn: Turn, lineId: string, text: string | null): Pick<TaskRow, "branch" | "reviews"> {
  const { branch } = toBranch(text);
  const line = findLine(turn, turn.self.partition, lineId);
  if (branch === undefined || line === undefined) return {};
  const reviews = findBranchReview(turn, turn.self.partition, line, branch);
  return reviews === null ? { branch } : { reviews };
}

function toBranch(text: string | null): Pick<TaskRow, "branch"> {
  const branch = text === null ? null : toBranchName(text);
  return branch === null ? {} : { branch };
}

/**
 * If the event names an invalid branch, adds a note to the task, once for each name. The task's branch stays unchanged.
 */
function noteUnusableBranch(turn: Turn, { branch, integration }: RaiseTask): void {
  if (branch === null || branch.trim() === "" || toBranchName(branch) !== null) return;
  const name = cutText(toRaisedTitle(branch), 100);
  const text = `The integration ${integration.key} named a branch that git does not allow: ${name}`;
  addNote(turn, { type: "note", from: "service", text, key: `${integration.id} branch ${name}` });
}
