import { createHash } from "node:crypto";
import t, { type Test } from "tap";
import type { RunnerPeer } from "../../support/runner-peer.js";
import { type StreamMessage, StreamReader } from "../../support/stream-reader.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

type Shown = Readonly<Record<string, unknown>>;

/** Takes a task through a handover, a return, a question, its answer, and a failure. */
async function liveThrough(place: Workplace, taskId: string, peer: RunnerPeer): Promise<void> {
  const first = await peer.job();
  peer.start(first);
  for (const index of [0, 1]) peer.step(first, index, { amount: 0.5, currency: "EUR" });
  peer.askPermission(first, { id: "1-1" });
  peer.askPermission(first, { id: "1-2" });
  await place.when(`task/${taskId}`, async () => list((await place.task(taskId)).approvals).length === 2);
  const [approval] = list((await place.task(taskId)).approvals);
  await place.ada.request("POST", `/api/runs/${first.runId}/approvals/${approval?.id}/approve`, {});
  await peer.handOver(first, "review", "look at it");
  await peer.handOver(await peer.job(), "work", "not yet");
  peer.end(await peer.job(), { ending: { kind: "ask", question: "Red or blue?" } });
  const inInbox = async () => (await place.task(taskId)).state === "inbox";
  await place.when(`task/${taskId}`, inInbox);
  await place.ada.request("POST", `/api/tasks/${taskId}/answer`, { text: "Blue." });
  const failure = { code: "harness-failed", message: "It broke.", output: "boom" } as const;
  peer.end(await peer.job(), { outcome: "failed", failure });
  await place.when(`task/${taskId}`, inInbox);
  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: null });
  await place.ada.request("POST", `/api/tasks/${taskId}/notes`, { text: "the last word" });
}

async function follow(t: Test, place: Workplace, topic: string): Promise<StreamReader> {
  const reader = await StreamReader.open(place.ada);
  t.teardown(async () => reader.end());
  reader.subscribe(topic);
  await reader.until(({ kind }) => kind === "snapshot");
  return reader;
}

/** Applies changes to the snapshot, up to the first change that fits. Returns the resulting state. */
async function applied(
  reader: StreamReader,
  apply: (before: Shown, change: Shown) => Shown,
  fits: (message: StreamMessage) => boolean,
): Promise<Shown> {
  const last = await reader.until((message) => message.kind === "change" && fits(message));
  const [snapshot, ...changes] = reader.messages.slice(0, reader.messages.indexOf(last) + 1);
  return changes.reduce<Shown>((before, { data }) => apply(before, data), snapshot?.data ?? {});
}

const fresh = async (t: Test, place: Workplace, topic: string): Promise<Shown> =>
  (await (await follow(t, place, topic)).until(() => true)).data;

const list = (value: unknown): Shown[] => value as Shown[];
const shown = (value: unknown): Shown => value as Shown;

function applyToTask(task: Shown, change: Shown): Shown {
  if (change.type === "task") return { ...task, ...shown(change.task) };
  return change.type === "note" ? { ...task, notes: [...list(task.notes), shown(change.note)] } : task;
}

function applyToTeam(team: Shown, change: Shown): Shown {
  if (change.type !== "task") return team;
  const changed = shown(change.task);
  const before = list(team.tasks).find(({ id }) => id === changed.id);
  const tasks = [{ ...before, ...changed }, ...list(team.tasks).filter((task) => task !== before)];
  return { ...team, tasks: tasks.sort((left, right) => (String(left.id) < String(right.id) ? 1 : -1)) };
}

/** The states in which a call is open. */
const OPEN_CALL: readonly unknown[] = ["vetting", "waiting", "running"];

function applyToRun({ run, steps, approvals, calls }: Shown, change: Shown): Shown {
  const approval = shown(change.approval ?? {});
  const others = list(approvals).filter(({ id }) => id !== approval.id);
  const call = shown(change.call ?? {});
  const otherCalls = list(calls).filter(({ id }) => id !== call.id);
  return {
    approvals: approval.state === "open" ? [...others, approval] : others,
    calls: OPEN_CALL.includes(call.state) ? [...otherCalls, call] : otherCalls,
    run: { ...shown(run), ...shown(change.run) },
    steps: change.type === "step" ? [...list(steps), shown(change.step)] : steps,
  };
}

t.test("applying the changes of a task, its team and its run gives the state of a new snapshot", async (t) => {
  const place = await openWorkplace(t);
  const onTeam = await follow(t, place, `team/${place.teamId}`);
  const taskId = await place.open();
  const other = await place.open({ title: "Another" });
  const [firstRun] = await place.runs(taskId);
  const onTask = await follow(t, place, `task/${taskId}`);
  const onRun = await follow(t, place, `run/${firstRun?.id}`);
  await place.ada.request("POST", `/api/tasks/${other}/close`, {});
  const peer = await place.runner();
  await liveThrough(place, taskId, peer);

  const isLast = ({ data }: StreamMessage) => shown(data.note ?? {}).text === "the last word";
  const task = await applied(onTask, applyToTask, isLast);
  t.same(task, await fresh(t, place, `task/${taskId}`));
  t.match(task, { line: "dev", station: "work", state: "inbox", assignee: null, failure: { output: "boom" } });
  t.equal(list(task.notes).length, 5);

  const opened = onTeam.messages.filter(({ data }) => shown(data.task ?? {}).title === "Do it");
  t.equal(opened.length, 1, "members that do not change are sent once");

  const isUnassigned = ({ data }: StreamMessage) => data.type === "task" && shown(data.task).assignee === null;
  const team = await applied(onTeam, applyToTeam, isUnassigned);
  t.same(team, await fresh(t, place, `team/${place.teamId}`));
  t.match(team.tasks, [{ id: other, state: "closed" }, { id: taskId }]);

  const run = await applied(onRun, applyToRun, ({ data }) => shown(data.run ?? {}).state === "ended");
  t.same(run, await fresh(t, place, `run/${firstRun?.id}`));
  t.match(run.run, { steps: 2, spent: { amount: 1, currency: "EUR" }, handover: { to: "review", refused: null } });
});

t.test("a long text is sent by its digest and length, and read over the API", async (t) => {
  const place = await openWorkplace(t);
  const onTeam = await follow(t, place, `team/${place.teamId}`);
  const description = "Zeile – ".repeat(2_000);
  const short = await place.open({ description: "Zeile – ".repeat(100) });
  const long = await place.open({ description });
  const reference = {
    digest: createHash("sha256").update(description).digest("hex"),
    length: Buffer.byteLength(description),
  };
  await onTeam.until(({ data }) => shown(data.task ?? {}).id === long);
  const told = (id: string) => onTeam.messages.find(({ data }) => shown(data.task ?? {}).id === id)?.data.task;
  t.match(told(short), { description: "Zeile – ".repeat(100) });
  t.same(shown(told(long)).description, reference);
  const { tasks } = await fresh(t, place, `team/${place.teamId}`);
  t.same(list(tasks).find(({ id }) => id === long)?.description, reference);
  t.equal((await place.task(long)).description, description);
  const text = "note ".repeat(1_000);
  const onTask = await follow(t, place, `task/${long}`);
  await place.ada.request("POST", `/api/tasks/${long}/notes`, { text });
  const { data } = await onTask.until(({ data: { type } }) => type === "note");
  t.match(shown(data.note).text, { length: text.length });
  t.equal(list((await place.task(long)).notes).at(-1)?.text, text);
  const peer = await place.runner({ slots: 2 });
  const jobs = [await peer.job(), await peer.job()];
  t.equal(jobs.find(({ task }) => task?.id === long)?.task?.description, description);
});
