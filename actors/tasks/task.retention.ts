import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import { callEvents, events, oldestEventMs } from "../events/event-log.table.js";
import { listTaskPullRequests } from "../pull-requests/pull-request.table.js";
import { waitingReviews } from "../pull-requests/waiting-review.table.js";
import { IDEMPOTENCY_WINDOW_MS } from "../resources/idempotency.table.js";
import { type Keyed, recordRequest } from "../resources/repeated-request.js";
import type { RunRow } from "../runs/run.js";
import { type ForgetRun, runRef } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { taskBranches } from "../runs/task-branch.table.js";
import { indexedOwnedBy, type OwnedRows, ownedBy, releaseRows } from "../tables/owned-rows.js";
import { isPinned, pin, removePins } from "../tables/pins.js";
import { retain } from "../tables/retention.js";
import { isOpen, type TaskRow } from "./task.js";
import { taskRef } from "./task.messages.js";
import { noteKeys, taskAttachments, taskCauses, taskCheckouts, taskEntry, taskNotes, tasks } from "./task.table.js";

/** Maximum delay of a task's last events after its end, in milliseconds. */
const LAST_EVENTS_MS = 10 * 60 * 1_000;
/** Maximum number of a task's runs to remove in one turn. */
const RUNS_AT_ONCE = 200;

/**
 * Retention of ended tasks and their runs. If a task ended in a release that did not record the end time, the retention
 * period starts at the first retention pass. Retention does not remove a task in these cases:
 *
 * - An event about the task may be listed.
 * - One of its pull requests is open or being opened.
 * - The task or one of its runs is pinned, for example by a request that may be repeated.
 */
export const taskRetention = retain(tasks, {
  period: "work",
  after: [events.name, callEvents.name],
  // The cost includes the later turns that remove the task and its runs.
  cost: 12,
  startedAtMs: ({ openedAt }) => Date.parse(openedAt),
  endedAtMs: (task) => (isOpen(task) ? null : (task.partSinceMs ?? Date.parse(task.openedAt))),
  isRetained: (turn, task) => task.partSinceMs !== undefined && isRetained(turn, task, listRuns(turn, task)),
  remove: (turn, { id, partSinceMs }) => {
    turn.send(taskRef(turn.self.partition, id), { type: "task.forget" });
    return partSinceMs !== undefined;
  },
});

/** The rows that belong to a task and are removed with it. The task's runs are not among them. */
export const taskOwned: readonly OwnedRows[] = [
  ownedBy(tasks.name, taskNotes),
  ownedBy(tasks.name, noteKeys),
  indexedOwnedBy(tasks.name, taskCheckouts),
  indexedOwnedBy(tasks.name, taskAttachments),
  ownedBy(tasks.name, taskBranches),
  ownedBy(tasks.name, waitingReviews),
];

/** Retains a task while a request about it may be repeated, or a hook's receiver may call back. */
export function retainForRequests(turn: Turn, taskId: string): void {
  const of = { of: tasks.name, id: taskId, by: "requests" };
  pin(turn, turn.self.partition, { ...of, untilMs: turn.now + IDEMPOTENCY_WINDOW_MS });
}

/**
 * Records that a command with an idempotency key was about this task. Retains the task while the command may be
 * repeated.
 */
export function recordTaskRequest(turn: Turn, of: Keyed, taskId: string): void {
  recordRequest(turn, of, taskId);
  if (of.idempotency !== undefined) retainForRequests(turn, taskId);
}

/**
 * Returns what to do with the task of this turn: `due` to remove it now, `begun` to set its missing end time first, and
 * `kept` to keep it. Reads only.
 */
export function checkForget(turn: TurnReading): "due" | "begun" | "kept" {
  const task = tasks.get(turn, turn.self.partition, turn.self.id);
  if (task === undefined) return "due";
  if (isOpen(task)) return "kept";
  if (task.partSinceMs === undefined) return "begun";
  return isRetained(turn, task, listRuns(turn, task)) ? "kept" : "due";
}

/** Sets the missing end time of a task to now. The task ended in an earlier release. */
export function beginRetention(turn: Turn): void {
  const { partition, id } = turn.self;
  const task = tasks.get(turn, partition, id);
  if (task !== undefined) tasks.put(turn, partition, task, { ...task, partSinceMs: turn.now });
}

/**
 * Removes the task of this turn after the task's runs. If the task has {@link RUNS_AT_ONCE} runs or more, removes only
 * runs; a later retention pass removes the task.
 */
export function forgetTask(turn: Turn): void {
  const { partition, id } = turn.self;
  const task = tasks.get(turn, partition, id);
  const runsLeft = task === undefined ? [] : listRuns(turn, task);
  const forget: ForgetRun = { type: "run.forget" };
  for (const run of runsLeft) turn.send(runRef(partition, run.id), forget);
  if (runsLeft.length === RUNS_AT_ONCE) return;
  if (task !== undefined) {
    tasks.remove(turn, partition, task);
    taskCauses.remove(turn, partition, id);
    turn.undirect(taskEntry(partition, id));
    releaseRows(turn, tasks.name, id);
    removePins(turn, { of: tasks.name, id });
  }
  turn.stop();
}

function isRetained(turn: TurnReading, task: TaskRow, itsRuns: readonly RunRow[]): boolean {
  const { id, teamId, partSinceMs: endedMs = turn.now } = task;
  const oldestMs = oldestEventMs(turn, turn.self.partition, teamId);
  if (oldestMs !== null && oldestMs <= endedMs + LAST_EVENTS_MS) return true;
  if (isPinned(turn, { of: tasks.name, id }) || mayGoOn(turn, id)) return true;
  return itsRuns.some((run) => run.state !== "ended" || isPinned(turn, { of: runs.name, id: run.id }));
}

/** Whether a pull request of the task is open or being opened. Such a task may be moved back to a station. */
function mayGoOn(turn: TurnReading, id: string): boolean {
  const own = listTaskPullRequests(turn, turn.self.partition, id).filter(({ role }) => role === "own");
  return own.some(({ state }) => state !== "merged" && state !== "closed" && state !== "failed");
}

function listRuns(turn: TurnReading, { id }: TaskRow): readonly RunRow[] {
  return runs.all(turn, turn.self.partition, { taskId: id }, { limit: RUNS_AT_ONCE });
}
