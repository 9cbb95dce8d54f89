import t from "tap";
import { resources } from "../../../actors/resources/resource.table.js";
import { type NextAct, runOutcomes } from "../../../actors/run-facts/run-outcome.table.js";
import type { RunEnding } from "../../../actors/runners/protocol.js";
import type { RunOutcome } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import type { TaskContext } from "../../../actors/tasks/task.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";
import { line, lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";

/** A task on a line of three stations; its runs are named by their order, from `1`. */
class Task {
  readonly rows = memoryRows();
  readonly #task: Stepping;
  readonly #names = new Map<string, number>();

  constructor() {
    putLine(this.rows);
    const [work, review] = line.stations;
    if (work === undefined || review === undefined) throw new Error("the line has two stations");
    const check = { ...work, id: "sta_check", key: "check", passesTo: ["review", "work"] };
    const stations = [{ ...work, passesTo: ["check"] }, check, { ...review, passesTo: ["work", "check"] }];
    const row = resources.get(this.rows, workspaceId, "line", lineId);
    if (row === undefined) throw new Error("there is no line");
    resources.put(this.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations } });
    this.#task = stepByHand(taskActor, address(workspaceId, "task", "task_1"), { rows: this.rows });
    const texts = { title: "Do it", description: "", url: "", station: null };
    this.say({ type: "task.open", teamId, lineId, ...texts, assignee: by, by });
  }

  say(message: object): this {
    this.#task.now += 1_000;
    this.#task.take(message as Message);
    const { runId } = this.row;
    if (runId !== null && !this.#names.has(runId)) this.#names.set(runId, this.#names.size + 1);
    return this;
  }

  get row() {
    const row = tasks.get(this.rows, workspaceId, "task_1");
    if (row === undefined) throw new Error("there is no task");
    return row;
  }

  get context(): TaskContext {
    return this.#task.context<TaskContext>();
  }

  get now(): string {
    return new Date(this.#task.now).toISOString();
  }

  /** Ends the current run. */
  over(outcome: RunOutcome, ending: RunEnding | null = null): this {
    const { runId, station } = this.row;
    const passesTo = { work: ["check"], check: ["review", "work"] }[station] ?? ["work", "check"];
    const row = {
      id: runId,
      taskId: "task_1",
      lineId,
      stationKey: station,
      passesTo,
      failure: null,
      reason: null,
      endedAt: null,
    };
    this.rows.put(runs.key(workspaceId, runId ?? ""), { ...row, outcome, ending });
    return this.say({ type: "run.over", runId, outcome });
  }

  handOver(to: string): this {
    return this.over("completed", { kind: "handover", to, note: "" });
  }

  finish(): this {
    return this.over("completed", { kind: "finish", note: "" });
  }

  /** The outcome of each run, as `outcome` or `outcome, next act`. */
  get outcomes(): readonly (string | undefined)[] {
    return [...this.#names.keys()].map((runId) => {
      const row = runOutcomes.get(this.rows, workspaceId, runId);
      return row?.next == null ? row?.outcome : `${row.outcome}, ${row.next.act}`;
    });
  }
}

t.test("a change that goes on until the task is done is accepted", async (t) => {
  const task = new Task();
  t.same(task.outcomes, [undefined], "a run under way has no outcome");
  t.same(task.handOver("check").outcomes, ["other", undefined]);
  t.same(task.handOver("review").outcomes, ["other", "other", undefined]);
  t.same(task.finish().outcomes, ["accepted", "accepted", "accepted"]);
  t.same(task.context.ended, [], "nothing may become of them any more");
});

t.test("a change that a later station sends back is sent back, from the station where it goes on", async (t) => {
  const task = new Task().handOver("check").handOver("review").handOver("check");
  t.same(task.outcomes, ["other", "sent-back", "other", undefined]);
  task.handOver("work");
  t.same(
    task.outcomes,
    ["sent-back", "sent-back", "other", "other", undefined],
    "the run that sends back has no change",
  );
  task.handOver("check").handOver("review").finish();
  t.same(task.outcomes.slice(4), ["accepted", "accepted", "accepted"]);
  t.same(task.outcomes.slice(0, 4), ["sent-back", "sent-back", "other", "other"]);
});

t.test("a run that asks has asked, one that fails has failed, whatever comes after; others are other", async (t) => {
  const task = new Task().over("completed", { kind: "ask", question: "Which?" });
  task.say({ type: "task.answer", by, text: "this" }).over("failed");
  task.say({ type: "task.retry", by }).over("abandoned").over("stopped");
  task.say({ type: "task.retry", by }).handOver("check").handOver("review").finish();
  const first = ["asked, answered", "failed, started", "other, started", "other, started"];
  t.same(task.outcomes, [...first, "accepted", "accepted", "accepted"]);
});

t.test("the change of a run gives way to that of a later run at its station", async (t) => {
  const task = new Task().finish();
  t.equal(task.row.state, "inbox", "it handed over to none");
  task.say({ type: "task.retry", by }).handOver("check").handOver("review").finish();
  t.same(task.outcomes, ["other, started", "accepted", "accepted", "accepted"]);
});

t.test("a person's way back sends back; a way forward starts, and the change goes on", async (t) => {
  const back = new Task().handOver("check").handOver("review");
  back.over("completed", { kind: "handover", to: "gone", note: "" }).say({ type: "task.move", by, to: "check" });
  t.same(back.outcomes, ["other, sent-back", "sent-back, sent-back", "sent-back, sent-back", undefined]);
  const forward = new Task().finish().say({ type: "task.move", by, to: "review" }).finish();
  t.same(forward.outcomes, ["accepted, started", "accepted"]);
});

const acts: readonly [act: NextAct, message: object][] = [
  ["started", { type: "task.retry", by }],
  ["answered", { type: "task.answer", by, text: "this" }],
  ["started", { type: "task.move", by, to: "check" }],
  ["sent-back", { type: "task.move", by, to: "work" }],
  ["closed", { type: "task.close", by }],
];

t.test("the next act of a person after a run is recorded with its time, the first one alone", async (t) => {
  for (const [act, message] of acts) {
    const task = new Task().handOver("check").finish();
    const [first = ""] = [...runOutcomes.entries(task.rows, workspaceId)].map(({ key }) => String(key.at(-1)));
    task.say({ type: "task.assign", by, assignee: by }).say({ type: "task.note", by, text: "Hm." });
    t.same(runOutcomes.get(task.rows, workspaceId, first)?.next, null, "neither a note nor an assignment is one");
    const at = task.say(message).now;
    t.same(runOutcomes.get(task.rows, workspaceId, first)?.next, { act, at }, act);
    task.say({ type: "task.stop", by });
    t.same(runOutcomes.get(task.rows, workspaceId, first)?.next, { act, at });
  }
});

t.test("a stop parks the task: it is the next act after earlier runs, not after the one that it ends", async (t) => {
  const task = new Task().handOver("check").say({ type: "task.stop", by });
  t.same(task.outcomes, ["other, parked", undefined]);
  t.same(task.over("stopped").outcomes, ["other, parked", "other"]);
});

t.test("a run that the task leaves is over for it at once", async (t) => {
  const moved = new Task().say({ type: "task.move", by, to: "check" });
  t.same(moved.outcomes, ["other", undefined]);
  t.same(moved.say({ type: "task.close", by }).outcomes, ["other, closed", "other"]);
  const withdrawn = new Task().handOver("check").say({ type: "task.withdraw" });
  t.same(withdrawn.outcomes, ["other", "other"], "that a workspace closes is nobody's act on the task");
});

t.test("a task remembers its latest 100 ended runs", async (t) => {
  const task = new Task();
  for (let time = 0; time < 30; time++) task.handOver("check").handOver("review").handOver("check").handOver("work");
  t.equal(task.context.ended.length, 100);
  t.equal(task.say({ type: "task.close", by }).outcomes.filter((of) => of?.endsWith(", closed")).length, 100);
});

t.test("a task of an earlier release goes on, and remembers runs from now on", async (t) => {
  const stored = { runId: "run_1", abandoned: 2 };
  const restored = taskActor.migrate?.({ value: "running", context: stored }, 1);
  t.same(restored?.context, { ...stored, ended: [], opening: [] });
});
