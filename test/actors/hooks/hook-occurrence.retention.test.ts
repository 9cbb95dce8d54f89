import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import type { HookOccurrence } from "../../../actors/hooks/hook-occurrence.js";
import { hookOccurrenceRef } from "../../../actors/hooks/hook-occurrence.messages.js";
import {
  hookOccurrenceRetention,
  mayBePruned,
  retainTaskForReceiver,
} from "../../../actors/hooks/hook-occurrence.retention.js";
import { hookOccurrences } from "../../../actors/hooks/hook-occurrence.table.js";
import { latestCaused } from "../../../actors/hooks/loop-guard.js";
import { SliceBudget } from "../../../actors/tables/slice-budget.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { memoryRows, withTurn } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const HOUR_MS = 60 * 60 * 1_000;
const now = Date.parse("2026-01-02T00:00:00.000Z");

/**
 * Starts a hook request about a task in this state (null: the task does not exist). Returns the ids of the tasks that
 * retention must keep because of the request.
 */
function keptFor(state: string | null, sinceEventMs: number): readonly unknown[] {
  const rows = memoryRows();
  if (state !== null) rows.put(tasks.key(workspaceId, "task_1"), { id: "task_1", state });
  const at = new Date(now - sinceEventMs).toISOString();
  const work = { event: { at }, task: { id: "task_1" } } as unknown as WorkEvent;
  withTurn(hookOccurrenceRef(workspaceId, "occ_1"), (turn) => retainTaskForReceiver(turn, work), { rows, now });
  return rows.range({ prefix: [workspaceId, "row", "pin"] }).map(({ key }) => key[4]);
}

t.test("an ended task is kept for a request long after its event: its receiver may call back", async (t) => {
  t.same(keptFor("done", HOUR_MS), ["task_1"]);
  t.same(keptFor("closed", 190 * 24 * HOUR_MS), ["task_1"], "sent again by hand");
  t.same(keptFor("done", HOUR_MS / 4), [], "one that ended since then is stored for an hour at least");
  t.same(keptFor("running", HOUR_MS), []);
  t.same(keptFor(null, HOUR_MS), [], "there is none");
});

t.test("firings of the future that were removed leave later events known, once the clock is right", async (t) => {
  const rows = memoryRows();
  const text = (ms: number) => new Date(ms).toISOString();
  const toEvent = (ms: number) =>
    ({ workspaceId, teamId: "team_1", event: { at: text(ms) }, task: { id: "task_1" } }) as unknown as WorkEvent;
  const ahead = now + 120 * HOUR_MS;
  const times = { firedAt: text(ahead), endedAt: text(ahead) };
  const firing = { id: "occ_1", ...times, work: toEvent(ahead) } as unknown as HookOccurrence;
  rows.put(hookOccurrences.key(workspaceId, "team_1", "occ_1"), firing);
  rows.put(latestCaused.key(workspaceId, "occ_1"), "occ_2");
  const sweep = (nowMs: number) => {
    const slice = { cutoffMs: nowMs - HOUR_MS, from: null, budget: new SliceBudget({ rows: 100, bytes: 1e6 }) };
    withTurn(hookOccurrenceRef(workspaceId, "any"), (turn) => hookOccurrenceRetention.sweep(turn, slice), {
      rows,
      now: nowMs,
    });
  };
  sweep(ahead + 2 * HOUR_MS);
  t.same(hookOccurrences.entries(rows, workspaceId), [], "it is removed while the clock is ahead");
  t.same(latestCaused.entries(rows, workspaceId), [], "and so is what it caused");
  t.ok(mayBePruned(rows, toEvent(now - HOUR_MS)));
  sweep(now);
  t.ok(mayBePruned(rows, toEvent(now - HOUR_MS)), "what fired before may be gone");
  t.notOk(mayBePruned(rows, toEvent(now + 1)), "what fires from now on is there");
});
