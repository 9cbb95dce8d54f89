import t from "tap";
import { type Stay, stays } from "../../../actors/run-facts/stay.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { taskItemView } from "../../../actors/tasks/task-item.view.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, stepByHand } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const texts = { title: "Do it", description: "", url: "", station: null };
const open = { type: "task.open", teamId, lineId, ...texts, assignee: by, by } as Message;
const began = { type: "run.began" };

/** Steps a task; each message arrives this many seconds after the previous one. */
function stepped(messages: readonly (readonly [afterSeconds: number, message: Message])[]) {
  const rows = memoryRows();
  putLine(rows);
  const task = stepByHand(taskActor, address(workspaceId, "task", "task_1"), { rows });
  for (const [afterSeconds, message] of messages) {
    task.now += afterSeconds * 1_000;
    const runId = tasks.get(rows, workspaceId, "task_1")?.runId ?? null;
    task.take({ runId, ...message } as Message);
  }
  return { rows, task };
}

/** Ends the current run. `row` has its outcome and ending. */
function over(rows: ReturnType<typeof memoryRows>, task: ReturnType<typeof stepped>["task"], row: object): void {
  const { runId, station } = tasks.get(rows, workspaceId, "task_1") ?? {};
  const all = {
    id: runId,
    lineId,
    stationKey: station,
    passesTo: ["review", "work"],
    failure: null,
    reason: null,
    endedAt: null,
  };
  rows.put(runs.key(workspaceId, runId ?? ""), { ...all, ending: null, ...row });
  task.take({ type: "run.over", runId, ...row } as Message);
}

const shown = ({ station, part, fromMs, toMs }: Stay): string => `${(toMs - fromMs) / 1_000} s ${part} at ${station}`;
const listStays = (rows: ReturnType<typeof memoryRows>): string[] => stays.list(rows, workspaceId, [teamId]).map(shown);

t.test("each time that a task spends in the queue, with a runner or in the inbox is recorded at its end", async (t) => {
  const { rows, task } = stepped([
    [0, open],
    [10, began],
    [20, { type: "run.asking", asks: "May it?" } as Message],
    [30, { type: "run.asking", asks: null } as Message],
  ]);
  t.same(listStays(rows), ["10 s queued at work", "20 s running at work", "30 s inbox at work"]);
  task.now += 5_000;
  over(rows, task, { outcome: "completed", ending: { kind: "handover", to: "review", note: "" } });
  task.now += 6_000;
  task.take({ ...began, runId: tasks.get(rows, workspaceId, "task_1")?.runId } as Message);
  task.now += 7_000;
  over(rows, task, { outcome: "failed" });
  task.now += 8_000;
  task.take({ type: "task.close", by } as Message);
  task.now += 9_000;
  task.take({ type: "task.note", by, text: "late" } as Message);
  t.same(listStays(rows).slice(3), [
    "5 s running at work",
    "6 s queued at review",
    "7 s running at review",
    "8 s inbox at review",
  ]);
  const all = stays.list(rows, workspaceId, [teamId]);
  t.equal(all[0]?.fromMs, Date.parse(tasks.get(rows, workspaceId, "task_1")?.openedAt ?? ""));
  for (const [index, stay] of all.slice(1).entries()) t.equal(stay.fromMs, all[index]?.toMs, "without a gap");
  t.match(all[0], { teamId, taskId: "task_1", lineId });
});

t.test("another attempt in the queue, an assignment and a note end no stay; a move does", async (t) => {
  const { rows, task } = stepped([
    [0, open],
    [1, { type: "task.assign", by, assignee: "usr_2" } as Message],
    [1, { type: "task.note", by, text: "Hm." } as Message],
  ]);
  task.now += 1_000;
  over(rows, task, { outcome: "abandoned" });
  t.same(listStays(rows), []);
  task.now += 1_000;
  task.take({ type: "task.move", by, to: "review" } as Message);
  t.same(listStays(rows), ["4 s queued at work"]);
});

t.test("stays are found by the day of their end; two that end at once are two", async (t) => {
  const { rows, task } = stepped([
    [0, open],
    [86_400, began],
  ]);
  over(rows, task, { outcome: "failed" });
  t.same(stays.list(rows, workspaceId, [teamId, "2026-01-02"]).map(shown), [
    "86400 s queued at work",
    "0 s running at work",
  ]);
  t.same(stays.list(rows, workspaceId, [teamId, "2026-01-01"]), []);
});

t.test("a task of an earlier release has no stay until its next change; what is shown does not name it", async (t) => {
  const { rows, task } = stepped([[0, open]]);
  const row = tasks.get(rows, workspaceId, "task_1");
  if (row === undefined) throw new Error("there is no task");
  t.notOk("partSinceMs" in taskItemView(rows, workspaceId, row));
  const { partSinceMs: _since, ...earlier } = row;
  rows.put(tasks.key(workspaceId, "task_1"), earlier);
  task.now += 1_000;
  task.take({ ...began, runId: row.runId } as Message);
  t.same(listStays(rows), []);
  task.now += 2_000;
  over(rows, task, { outcome: "failed" });
  t.same(listStays(rows), ["2 s running at work"]);
});
