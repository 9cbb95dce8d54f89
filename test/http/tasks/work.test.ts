import t from "tap";
import { runs } from "../../../actors/runs/run.table.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { hookReceiver, hookSecret } from "../../support/hook-receiver.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems, toSlug } from "../../support/resources.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const reaches = (place: Workplace, taskId: string, wanted: Readonly<Record<string, unknown>>) =>
  place.when(`task/${taskId}`, async () => {
    const task = await place.task(taskId);
    return Object.entries(wanted).every(([name, value]) => task[name] === value);
  });
const told = (place: Workplace, taskId: string, name: string, body: unknown = {}) =>
  place.ada.request("POST", `/api/tasks/${taskId}/${name}`, body);
const diff = "diff --git a/a.txt b/a.txt\n";
const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff }];

t.test("a task that a review sends back continues with its changes and the review's note", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  const first = await peer.job();
  t.match(first.station, { key: "work", passesTo: ["review"], next: ["review"] });
  t.match(first.checkouts, [{ repository: "acme/app", base: null, diff: "" }]);
  t.equal(await peer.askHandover(first, "review"), null);
  peer.end(first, { ending: { kind: "handover", to: "review", note: "have a look" }, checkouts });

  const review = await peer.job();
  t.match(review.station, { key: "review", kind: "review", passesTo: ["work"], next: { length: 0 } });
  t.match(review.checkouts, [{ base: "b".repeat(40), diff }], "the review sees what was changed");
  t.match(review.task?.notes, [{ from: "station work", text: "have a look" }]);
  t.match(await peer.askHandover(review, "elsewhere"), /There is no station elsewhere/);
  await peer.handOver(review, "work", "a test is missing");

  const again = await peer.job();
  t.match(again.station, { key: "work" });
  t.match(again.task?.notes, [{ text: "have a look" }, { from: "station review", text: "a test is missing" }]);
  t.match(again.checkouts, [{ diff }]);
  await peer.handOver(again, "review");
  peer.end(await peer.job(), { ending: { kind: "finish", note: "" } });
  await reaches(place, taskId, { state: "done", station: "review", asks: null });
  t.equal((await place.runs(taskId)).length, 4);
});

t.test("a question waits for the assignee alone, and the answer reaches the next run", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  peer.end(await peer.job(), { ending: { kind: "ask", question: "Red or blue?" }, checkouts });
  await reaches(place, taskId, { state: "inbox", asks: "Red or blue?" });
  const { assignee } = await place.task(taskId);
  t.equal((await told(place, taskId, "assign", { assignee: null })).status, 200);
  const refused = await told(place, taskId, "answer", { text: "Blue." });
  t.equal(refused.status, 403);
  t.match(refused.body, { title: "Not the assignee of the task", detail: /has no assignee/ });
  t.equal((await told(place, taskId, "assign", { assignee: "usr_nobody" })).status, 422);
  await told(place, taskId, "assign", { assignee });
  t.match((await told(place, taskId, "answer", { text: "Blue." })).body, { state: "queued", asks: null });
  const next = await peer.job();
  t.match(next.task?.notes, [
    { from: "station work", text: "Red or blue?" },
    { from: `person ${assignee}`, text: "Blue." },
  ]);
  t.match(next.checkouts, [{ diff }], "what was done before the question is not lost");
  t.equal((await told(place, taskId, "answer", { text: "Green." })).status, 409, "nothing is asked now");
});

t.test("the assignee stops a run: at once while it waits, by its runner once it runs", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  await told(place, taskId, "stop");
  await reaches(place, taskId, { state: "inbox", asks: "The assignee stopped it." });
  t.match(await place.runs(taskId), [{ state: "ended", outcome: "stopped", waiting: null }]);
  const again = { status: 409, body: { detail: "The task is in the state inbox, which does not accept stop." } };
  t.match(await told(place, taskId, "stop"), again, "nothing runs now");

  const peer = await place.runner();
  await told(place, taskId, "retry");
  const job = await peer.job();
  peer.start(job);
  await reaches(place, taskId, { state: "running" });
  await told(place, taskId, "assign", { assignee: null });
  t.equal((await told(place, taskId, "stop")).status, 403);
  const { assignee } = await place.task(await place.open({ title: "Another" }));
  await told(place, taskId, "assign", { assignee });
  await told(place, taskId, "stop");
  t.match(await peer.message("run.stop"), { runId: job.runId, reason: "The assignee stopped it." });
  t.match(await place.task(taskId), { state: "running" }, "until the runner has ended it");
  peer.end(job, { outcome: "stopped" });
  await reaches(place, taskId, { state: "inbox", asks: "The run was stopped." });
  t.match(await place.runs(taskId), [{ outcome: "stopped" }, { outcome: "stopped" }]);
});

t.test("a task that is closed while it runs lets its runner go", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  await reaches(place, taskId, { state: "running" });
  t.match((await told(place, taskId, "close")).body, { state: "closed" });
  t.match(await peer.message("run.drop"), { runId: job.runId, fence: job.fence });
  peer.end(job, { ending: { kind: "finish", note: "too late" } });
  await peer.taken(2);
  t.match(await place.runs(taskId), [{ outcome: "withdrawn", reason: "The task was closed.", ending: null }]);
  for (const name of ["close", "retry", "stop"]) t.equal(toSlug(await told(place, taskId, name)), "conflict", name);
  await place.open();
  t.not((await peer.job()).task?.id, taskId, "its slot is free");
});

t.test("a task that is moved while it runs starts a new run there; the earlier run changes nothing", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner({ slots: 2 });
  const job = await peer.job();
  t.equal((await told(place, taskId, "move", { to: "nowhere" })).status, 422);
  t.match((await told(place, taskId, "move", { to: "review" })).body, { state: "queued", station: "review" });
  t.match(await peer.message("run.drop"), { runId: job.runId });
  const review = await peer.job();
  t.equal(review.station.key, "review");
  peer.end(job, { ending: { kind: "ask", question: "Am I still needed?" } });
  peer.start(review);
  await reaches(place, taskId, { state: "running", station: "review", asks: null });
  t.match(await place.runs(taskId), [{ state: "running" }, { outcome: "superseded" }]);
});

t.test("a workspace that is closed withdraws its work, drops its runners, and calls no hook", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end("{}"));
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: receiver.url } });
  await place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, {
    key: "tell",
    on: "run.ended",
    steps: [{ name: "tell", request: { url: receiver.url } }],
    signing: { secret: hookSecret, secretVersion: 1 },
  });
  const peer = await place.runner();
  const running = await place.open();
  const job = await peer.job();
  peer.start(job);
  await reaches(place, running, { state: "running" });
  const queued = await place.open();
  const path = `/api/resources/workspaces/${place.workspaceId}`;
  const closed = await place.ada.request("DELETE", path, undefined, { "if-match": '"1"' });
  t.equal(closed.status, 204);
  t.match(await peer.message("run.drop"), { runId: job.runId });
  const { reading } = place.service.runtime;
  await place.until(async () => tasks.get(reading, place.workspaceId, queued)?.state === "closed");
  await place.until(async () => tasks.get(reading, place.workspaceId, running)?.state === "closed");
  const ended = [running, queued].map((id) => tasks.get(reading, place.workspaceId, id)?.runId ?? "");
  await place.until(async () => ended.every((id) => runs.get(reading, place.workspaceId, id)?.state === "ended"));
  for (const id of ended) t.match(runs.get(reading, place.workspaceId, id), { outcome: "withdrawn" });
  t.equal((await place.ada.request("GET", `/api/tasks/${running}`)).status, 404);
  peer.step(job, 0);
  t.equal((await peer.closed()).code, 4401, "its pool's token admits nobody any more");
  await t.rejects(place.runner(), "nor anew");
  t.same(receiver.requests, []);
});

t.test("a runner that does not stop when told is waited for one minute", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock, settings: { LEASE_SECONDS: "30" } });
  const taskId = await place.open();
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  await reaches(place, taskId, { state: "running" });
  await told(place, taskId, "stop");
  await peer.message("run.stop");
  for (let seconds = 0; seconds < 60; seconds += 20) {
    t.match(await place.task(taskId), { state: "running" });
    await peer.beat();
    clock.advance(20_000);
  }
  await reaches(place, taskId, { state: "inbox", asks: "The run was stopped; its runner did not answer." });
  t.match(await place.runs(taskId), [{ state: "ended", outcome: "stopped" }]);
  t.match(await peer.message("run.drop"), { runId: job.runId, fence: job.fence });
  const from = peer.frames.length;
  peer.step(job, 0);
  await peer.message("run.drop", from);
  t.match(await place.runs(taskId), [{ outcome: "stopped", steps: 0 }], "its fence is worth nothing any more");
  await told(place, taskId, "retry");
  t.not((await peer.job()).runId, job.runId, "its slot is free");
});

t.test("a run that was stopped while its runner was away is not tried again when that is lost", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock, settings: { LEASE_SECONDS: "30" } });
  const taskId = await place.open();
  const peer = await place.runner();
  peer.start(await peer.job());
  await reaches(place, taskId, { state: "running" });
  peer.cut();
  await place.until(async () => {
    const [row] = listItems(await place.ada.request("GET", "/api/workspaces/acme/runners"));
    return row?.connected === false;
  });
  await told(place, taskId, "stop");
  clock.advance(30_000);
  await reaches(place, taskId, { state: "inbox", asks: "The run was stopped; its runner was lost in the meantime." });
  t.match(await place.runs(taskId), [{ outcome: "stopped" }]);
});

t.test("the runs of a task are read a page at a time, newest first", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  for (let run = 1; run < 5; run++) {
    await told(place, taskId, "stop");
    await reaches(place, taskId, { state: "inbox" });
    await told(place, taskId, "retry");
  }
  const all = (await place.runs(taskId)).map(({ id }) => String(id));
  t.equal(all.length, 5);
  t.same(all, all.toSorted().reverse());
  const read: string[] = [];
  for (;;) {
    const before = read.length === 0 ? "" : `&before=${read.at(-1)}`;
    const page = await place.ada.request("GET", `/api/tasks/${taskId}/runs?limit=2${before}`);
    const items = page.body?.items as { readonly id: string }[];
    if (items.length === 0) break;
    read.push(...items.map(({ id }) => id));
  }
  t.same(read, all);
  for (const query of ["limit=0", "limit=201", "after=1"]) {
    t.equal((await place.ada.request("GET", `/api/tasks/${taskId}/runs?${query}`)).status, 400, query);
  }
  const odd = await place.ada.request("GET", `/api/tasks/${taskId}/runs?before=a%20b`);
  t.equal(odd.status, 422, "no id of a run");
});
