import type { Delivered, Turn, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { toTaskMarks, whyNotOpened } from "./raised-values.js";
import { isOpen } from "./task.js";
import { taskRef } from "./task.messages.js";
import { tasks } from "./task.table.js";
import type { RaiseRefused, RaiseTaken, RaiseTask, RetakeMarks, SetMarks, TaskMark } from "./team-marks.messages.js";
import {
  findMarkedTask,
  raiseAges,
  type TaskMarkRow,
  type TaskRaiseRow,
  taskMarks,
  taskRaises,
} from "./team-marks.table.js";

/** The transition functions of a team's marks. `team-marks.machine.ts` defines when they apply. */

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long the result of an event's key is stored, in milliseconds. */
const RAISE_KNOWN_MS = 7 * DAY_MS;
/** Maximum number of keys to delete in one turn. */
const FORGOTTEN_AT_ONCE = 500;
/** Maximum number of marks of a task. */
const MAX_MARKS = 100;
/**
 * Name of the wake-up that deletes the old keys beyond {@link FORGOTTEN_AT_ONCE}. The keys of each day also have their
 * own wake-up.
 */
const FORGET = "forget";

/** Assigns an event to a task. An event whose key was used before gets the answer of the first event with that key. */
export function raise(turn: Turn, message: RaiseTask): void {
  const before = taskRaises.get(turn, turn.self.partition, turn.self.id, message.key);
  if (before === undefined) return settle(turn, message, null);
  if (before.waiting === null) return answer(turn, before, message);
  const { deliveryId, answerTo } = message;
  put(turn, before, { ...before, waiting: [...before.waiting, { deliveryId, answerTo }] });
}

/**
 * Decides which task the event is about. `before` is the row of an earlier decision whose task does not exist; null for
 * a new event.
 */
function settle(turn: Turn, message: RaiseTask, before: TaskRaiseRow | null): void {
  const { partition: workspaceId, id: teamId } = turn.self;
  const { key, opens, deliveryId, answerTo } = message;
  const marks = toTaskMarks(message.marks);
  const waiting = before?.waiting ?? [{ deliveryId, answerTo }];
  const row = { teamId, key, atMs: before?.atMs ?? turn.now, reason: null };
  const found = marks
    .map((mark) => findMarkedTask(turn, workspaceId, { teamId, ...mark }))
    .find((id) => id !== undefined);
  if (found !== undefined) {
    put(turn, before, { ...row, outcome: "said", taskId: found, waiting });
    const taken = takeMarks(turn, found, marks, { opening: false });
    return turn.send(taskRef(workspaceId, found), { type: "raise.tell", teamId, raise: message, marks: taken });
  }
  const reason = opens === null ? null : whyNotOpened(turn, opens);
  if (opens === null || reason !== null) {
    return finish(turn, before, {
      ...row,
      outcome: reason === null ? "unmatched" : "failed",
      taskId: null,
      waiting,
      reason,
    });
  }
  const taskId = turn.newId("task");
  put(turn, before, { ...row, outcome: "opened", taskId, waiting });
  const taken = takeMarks(turn, taskId, marks, { opening: true });
  turn.send(taskRef(workspaceId, taskId), { type: "raise.open", teamId, raise: message, marks: taken });
}

/** Confirms that the task has processed the event, and answers all waiting senders. */
export function confirmRaise({ turn, key, marks }: Delivered<RaiseTaken>): void {
  const { partition, id: teamId } = turn.self;
  const row = taskRaises.get(turn, partition, teamId, key);
  if (row === undefined) return;
  if (row.outcome === "opened") markAsOpened(turn, row.taskId, marks);
  finish(turn, row, row);
}

/**
 * Records in the rows of the marks that the task is open. `opened` lists the marks; if it is undefined, uses all marks
 * of the task.
 */
function markAsOpened(turn: Turn, taskId: string | null, opened: RaiseTaken["marks"]): void {
  const { partition, id: teamId } = turn.self;
  const rows = opened?.map(({ kind, value }) => taskMarks.get(turn, partition, teamId, kind, value));
  for (const mark of rows ?? listMarks(turn, taskId)) {
    if (mark?.opening && mark.taskId === taskId)
      taskMarks.put(turn, turn.self.partition, mark, { ...mark, opening: false });
  }
}

/**
 * Handles a task's refusal of an event. If the task could not be opened, answers the senders with `failed`. If the task
 * does not exist, assigns the event again.
 */
export function reviseRaise({ turn, raise: message, reason }: Delivered<RaiseRefused>): void {
  const { partition, id: teamId } = turn.self;
  const row = taskRaises.get(turn, partition, teamId, message.key);
  if (row === undefined) return;
  freeMarks(turn, row.taskId);
  if (reason === "task-gone") return settle(turn, message, row);
  finish(turn, row, { ...row, outcome: "failed", taskId: null, reason });
}

/** Sets marks on a task. An open task does not get the marks of other open tasks. */
export function setMarks({ turn, taskId, marks }: Delivered<SetMarks>): void {
  const { partition, id: teamId } = turn.self;
  const task = tasks.get(turn, partition, taskId);
  if (task === undefined || task.teamId !== teamId) return;
  const wanted = toTaskMarks(marks);
  const taken = isOpen(task) ? takeMarks(turn, taskId, wanted, { opening: false }) : wanted;
  if (taken.length > 0) turn.send(taskRef(partition, taskId), { type: "task.mark", marks: taken, replaces: false });
}

/**
 * Assigns the task's own marks to it again, after the task was reopened. Leaves out marks that other tasks have now.
 */
export function retakeMarks({ turn, taskId }: Delivered<RetakeMarks>): void {
  const { partition } = turn.self;
  const task = tasks.get(turn, partition, taskId);
  if (task === undefined || !isOpen(task)) return;
  const wanted = Object.entries(task.marks).map(([kind, value]) => ({ kind, value }));
  const taken = takeMarks(turn, taskId, wanted, { opening: false });
  if (taken.length === wanted.length) return;
  turn.send(taskRef(partition, taskId), { type: "task.mark", marks: taken, replaces: true });
}

/** Removes all marks that point to the task. */
export function freeMarks(turn: Turn, taskId: string | null): void {
  for (const mark of listMarks(turn, taskId)) taskMarks.remove(turn, turn.self.partition, mark);
}

/** Deletes the keys that are older than {@link RAISE_KNOWN_MS}. The actor ends when nothing is left. */
export function forgetRaises({ turn }: Delivered<Woken>): void {
  const { partition, id: teamId } = turn.self;
  const oldest = raiseAges.entries(turn, partition, [teamId], { limit: FORGOTTEN_AT_ONCE + 1 });
  for (const [index, { key }] of oldest.entries()) {
    const [atMs, raised] = [Number(key.at(-2)), String(key.at(-1))];
    if (index === FORGOTTEN_AT_ONCE) return turn.wake(FORGET, turn.now);
    if (atMs + RAISE_KNOWN_MS > turn.now) return;
    const row = taskRaises.get(turn, partition, teamId, raised);
    if (row !== undefined) taskRaises.remove(turn, partition, row);
  }
  turn.stop();
}

/**
 * Assigns to the task the marks that no other open task has, and returns the assigned marks. A task has at most one
 * mark of each kind, and at most {@link MAX_MARKS} marks.
 */
function takeMarks(
  turn: Turn,
  taskId: string,
  marks: readonly TaskMark[],
  { opening }: { readonly opening: boolean },
): readonly TaskMark[] {
  const { partition, id: teamId } = turn.self;
  // A task that is being opened has no marks yet.
  const had = new Map((opening ? [] : listMarks(turn, taskId)).map((row) => [row.kind, row]));
  return marks.filter(({ kind, value }) => {
    const holder = findMarkedTask(turn, partition, { teamId, kind, value });
    const ofKind = had.get(kind);
    if ((holder !== undefined && holder !== taskId) || (ofKind === undefined && had.size >= MAX_MARKS)) return false;
    if (ofKind?.value === value) return true;
    if (ofKind !== undefined) taskMarks.remove(turn, partition, ofKind);
    const row: TaskMarkRow = { teamId, kind, value, taskId, opening };
    taskMarks.put(turn, partition, taskMarks.get(turn, partition, teamId, kind, value) ?? null, row);
    had.set(kind, row);
    return true;
  });
}

function listMarks(turn: TurnReading, taskId: string | null): readonly TaskMarkRow[] {
  const { partition, id: teamId } = turn.self;
  return taskId === null ? [] : taskMarks.all(turn, partition, { teamId, taskId });
}

/** Stores the result, and answers all waiting senders. */
function finish(turn: Turn, before: TaskRaiseRow | null, row: TaskRaiseRow): void {
  put(turn, before, { ...row, waiting: null });
  for (const waiting of row.waiting ?? []) answer(turn, row, waiting);
}

function put(turn: Turn, before: TaskRaiseRow | null, row: TaskRaiseRow): void {
  taskRaises.put(turn, turn.self.partition, before, row);
  if (before !== null) return;
  const day = Math.ceil((turn.now + 1) / DAY_MS);
  turn.wake(`${FORGET} ${day}`, day * DAY_MS + RAISE_KNOWN_MS);
}

function answer(
  turn: Turn,
  { key, outcome, taskId, reason }: TaskRaiseRow,
  { deliveryId, answerTo }: Pick<RaiseTask, "deliveryId" | "answerTo">,
): void {
  turn.send(answerTo, { type: "task.raised", deliveryId, key, outcome, taskId, reason });
}
