import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import { hookOccurrenceRef } from "../../../actors/hooks/hook-occurrence.messages.js";
import { keepTaskForReceiver } from "../../../actors/hooks/hook-occurrence.retention.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { memoryRows, withTurn } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const HOUR_MS = 60 * 60 * 1_000;
const now = Date.parse("2026-01-02T00:00:00.000Z");

/** The tasks that are kept when a request about one begins. */
function keptFor(state: string | null, sinceEventMs: number): readonly unknown[] {
  const rows = memoryRows();
  if (state !== null) rows.put(tasks.key(workspaceId, "task_1"), { id: "task_1", state });
  const at = new Date(now - sinceEventMs).toISOString();
  const work = { event: { at }, task: { id: "task_1" } } as unknown as WorkEvent;
  withTurn(hookOccurrenceRef(workspaceId, "occ_1"), (turn) => keepTaskForReceiver(turn, work), { rows, now });
  return rows.range({ prefix: [workspaceId, "row", "pin"] }).map(({ key }) => key[4]);
}

t.test("an ended task is kept for a request long after its event: its receiver may call back", async (t) => {
  t.same(keptFor("done", HOUR_MS), ["task_1"]);
  t.same(keptFor("closed", 190 * 24 * HOUR_MS), ["task_1"], "sent again by hand");
  t.same(keptFor("done", HOUR_MS / 4), [], "one that ended since then is stored for an hour at least");
  t.same(keptFor("running", HOUR_MS), []);
  t.same(keptFor(null, HOUR_MS), [], "there is none");
});
