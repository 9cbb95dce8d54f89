import t from "tap";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { IDEMPOTENCY_WINDOW_MS, sweepAttempts } from "../../../actors/resources/idempotency.table.js";
import type { Idempotency } from "../../../actors/resources/resource.messages.js";
import { runs } from "../../../actors/runs/run.table.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { type AddNote, type OpenTask, taskRef } from "../../../actors/tasks/task.messages.js";
import { taskNotes, tasks } from "../../../actors/tasks/task.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { rowSpace } from "../../../storage/keys.js";
import type { Reading } from "../../../storage/store.js";
import { Harness, settled } from "../../support/harness.js";
import { memoryRows, type Stepping, stepByHand, withTurn } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const keyed = (scope: string, digest = "d", key = "k"): { readonly idempotency: Idempotency } => ({
  idempotency: { scope: `${by} ${scope}`, key, digest },
});
const opening: OpenTask = {
  type: "task.open",
  teamId,
  lineId,
  title: "Do it",
  description: "",
  url: "",
  station: null,
  assignee: by,
  by,
  ...keyed(`task.open ${teamId}`),
};
const noting: AddNote = { type: "task.note", by, text: "mind the gap", ...keyed("note") };

/** Each user command, and a state in which the task handles it. */
const commands: Readonly<Record<string, { readonly in: string; readonly message: Message }>> = {
  note: { in: "queued", message: noting },
  assign: { in: "queued", message: { type: "task.assign", by, assignee: "usr_2", ...keyed("assign") } as Message },
  stop: { in: "running", message: { type: "task.stop", by, ...keyed("stop") } as Message },
  answer: { in: "inbox", message: { type: "task.answer", by, text: "Blue.", ...keyed("answer") } as Message },
  retry: { in: "inbox", message: { type: "task.retry", by, ...keyed("retry") } as Message },
  move: { in: "inbox", message: { type: "task.move", by, to: "review", ...keyed("move") } as Message },
  close: { in: "inbox", message: { type: "task.close", by, ...keyed("close") } as Message },
};
const states = ["queued", "running", "inbox", "done", "closed"];

/**
 * Returns a task in a new workspace with a line. With `beside`, returns the task `id` in the workspace of `beside`
 * instead.
 */
function task(beside?: Stepping, id = "task_1"): Stepping {
  if (beside !== undefined) return stepByHand(taskActor, taskRef(workspaceId, id), { rows: beside.rows });
  const rows = memoryRows();
  putLine(rows);
  return stepByHand(taskActor, taskRef(workspaceId, id), { rows });
}

const findRow = ({ rows }: Stepping) => tasks.get(rows, workspaceId, "task_1");
const contents = (rows: Reading): string => JSON.stringify(rows.range({ prefix: [] }));

/** Puts the task into a state, in its machine and its row. */
function bring(stepping: Stepping, state: string): void {
  const row = findRow(stepping);
  if (row === undefined) throw new Error("the task is not open");
  const isOver = state === "done" || state === "closed";
  stepping.rows.put(tasks.key(workspaceId, "task_1"), { ...row, state, asks: state === "inbox" ? "Which?" : null });
  stepping.restore(state, { runId: isOver || state === "inbox" ? null : row.runId, abandoned: 0, ended: [] });
}

t.test("a command under a key is taken once, whatever became of the task; another body is refused", async (t) => {
  for (const [name, command] of Object.entries(commands)) {
    for (const state of states) {
      const stepping = task();
      stepping.take(opening);
      bring(stepping, command.in);
      t.match(stepping.take(command.message).answer, { task: { id: "task_1" }, replayed: false }, name);
      bring(stepping, state);
      const before = contents(stepping.rows);
      const again = stepping.take(command.message);
      const at = `${name}, again while ${state}`;
      t.match(again.answer, { task: { id: "task_1", state }, replayed: true }, at);
      const other = { ...command.message, ...keyed(name, "other") } as Message;
      t.match(stepping.take(other).answer, { refused: "idempotency-key-reused" }, at);
      t.same([again.intents, contents(stepping.rows), stepping.value], [[], before, state], at);
    }
  }
});

t.test("a command without a key, or under another, is taken as ever", async (t) => {
  const stepping = task();
  stepping.take(opening);
  const { idempotency: _none, ...plain } = noting;
  for (const note of [noting, plain, plain, { ...noting, ...keyed("note", "d", "other") }]) stepping.take(note);
  t.equal(taskNotes.list(stepping.rows, workspaceId, ["task_1"]).length, 4);
});

t.test("a key opens one task, wherever its repeat is sent to; the repeat leaves nothing", async (t) => {
  const first = task();
  t.match(first.take(opening).answer, { task: { id: "task_1" }, replayed: false });
  const before = contents(first.rows);
  const second = task(first, "task_2");
  const again = second.take(opening);
  t.match(again.answer, { task: { id: "task_1" }, replayed: true });
  t.match(first.take(opening).answer, { task: { id: "task_1" }, replayed: true }, "sent to the same");
  const other = task(first, "task_3").take({ ...opening, ...keyed(`task.open ${teamId}`, "other") } as Message);
  t.match(other, { answer: { refused: "idempotency-key-reused" }, stopped: true });
  t.same([again.stopped, again.sent, again.facts, contents(first.rows)], [true, [], [], before]);
  t.match(task(first, "task_4").take({ ...opening, ...keyed("task.open team_2") } as Message).answer, {
    task: { id: "task_4" },
  });
});

t.test("a key whose opening was refused is free, and so is one after a day", async (t) => {
  const stepping = task();
  const refused = stepping.take({ ...opening, station: "gone", ...keyed(`task.open ${teamId}`, "other") } as Message);
  t.match(refused, { answer: { refused: "invalid" }, stopped: true });
  t.match(stepping.take(opening).answer, { task: { id: "task_1" }, replayed: false });
  const late = task(stepping, "task_2");
  late.now += IDEMPOTENCY_WINDOW_MS;
  t.match(late.take(opening).answer, { task: { id: "task_2" }, replayed: false });
  withTurn(taskRef(workspaceId, "x"), (turn) => void sweepAttempts(turn, workspaceId), {
    rows: stepping.rows,
    now: late.now + IDEMPOTENCY_WINDOW_MS + 1,
  });
  t.equal(
    stepping.rows.range({ prefix: [workspaceId, rowSpace, "idempotency"] }).length,
    0,
    "the workspace removes it",
  );
});

const catalogue = { actors: createActorTypes(createKinds({ allowList: parseAllowList(""), signsTokens: false })) };

/**
 * Returns a service that is not started yet, with the line on its disk. The service commits each turn on its own. So if
 * a turn is killed, the messages that the previous turn sent are still undelivered.
 */
async function started(): Promise<Harness> {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
  const rows = memoryRows();
  putLine(rows);
  const filled = harness.disk
    .open()
    .commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value })));
  await harness.advance();
  await filled;
  return harness;
}

/**
 * Opens a task and adds a note, as a client does that repeats requests without knowing whether they arrived. Each call
 * uses a new task id.
 */
async function openAgain({ runtime }: Pick<Harness, "runtime">) {
  const answer = await runtime.ask(taskRef(workspaceId, runtime.newId("task")), opening);
  if (answer === undefined || !("task" in answer)) throw new Error(`refused: ${JSON.stringify(answer)}`);
  const noted = await runtime.ask(taskRef(workspaceId, answer.task.id), noting);
  return { id: answer.task.id, replayed: answer.replayed, noted };
}

t.test("of requests under a key at once, one opens the task and the others are answered with it", async (t) => {
  const harness = await started();
  await harness.start();
  const asked = Promise.all(Array.from({ length: 5 }, () => openAgain(harness)));
  await harness.advance(2_000);
  const answers = await asked;
  t.equal(new Set(answers.map(({ id }) => id)).size, 1);
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  t.equal(tasks.list(harness.durable, workspaceId).length, 1);
  t.equal(taskNotes.list(harness.durable, workspaceId, [answers[0]?.id ?? ""]).length, 1);
  t.same(harness.logged, []);
});

t.test("killed between any two steps, a repeat makes no second task and no second note", async (t) => {
  let kills = 0;
  for (const when of ["before", "after"] as const) {
    for (let commit = 1, isKilled = true; isKilled; commit++) {
      const harness = await started();
      harness.killAt = { commit: harness.batches.length + commit, when };
      await harness.start();
      const lost = settled(openAgain(harness));
      await harness.advance(2_000);
      isKilled = harness.batches.length >= harness.killAt.commit;
      if (!isKilled) t.notOk("error" in (await lost));
      harness.crash();
      harness.killAt = null;
      await harness.start();
      const asked = settled(openAgain(harness));
      await harness.advance(2_000);
      const at = `killed ${when} commit ${commit}`;
      t.notOk("error" in (await asked), at);
      const [opened, ...others] = tasks.list(harness.durable, workspaceId);
      t.same(others, [], at);
      t.equal(taskNotes.list(harness.durable, workspaceId, [opened?.id ?? ""]).length, 1, at);
      t.equal(runs.list(harness.durable, workspaceId).length, 1, at);
      t.same(harness.logged, [], at);
      kills += isKilled ? 1 : 0;
    }
  }
  t.ok(kills >= 4, `${kills} kills`);
});
