import t, { type Test } from "tap";
import { MAX_MESSAGE_CHARACTERS, MAX_UNDELIVERED } from "../../../actors/runners/protocol.js";
import { join, type Person } from "../../support/people.js";
import { toSlug } from "../../support/resources.js";
import type { RunnerPeer } from "../../support/runner-peer.js";
import type { Client, Reply } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

type Claim = Awaited<ReturnType<RunnerPeer["job"]>>;

/** Opens a run that a runner works on. */
async function begin(t: Test, hello: Parameters<Workplace["runner"]>[0] = {}) {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner(hello);
  const job = await peer.job();
  peer.start(job);
  await reaches(place, taskId, "running");
  return { place, taskId, peer, job };
}

const reaches = (place: Workplace, taskId: string, state: string) =>
  place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === state);
const say = (client: Client, { runId }: Pick<Claim, "runId">, text: unknown, key?: string): Promise<Reply> =>
  client.request("POST", `/api/runs/${runId}/messages`, { text }, key === undefined ? {} : { "idempotency-key": key });
/** Resolves when the service has sent the runner this number of messages for the agent of its run. */
const given = (place: Workplace, peer: RunnerPeer, count: number) =>
  place.until(async () => {
    await new Promise(setImmediate);
    return peer.messages("run.message").length === count;
  });
const assignee = async (place: Workplace, taskId: string) => String((await place.task(taskId)).assignee);
const listSteps = async (place: Workplace, { runId }: Pick<Claim, "runId">) =>
  (await place.ada.request("GET", `/api/runs/${runId}/steps`)).body?.items as Readonly<Record<string, unknown>>[];

t.test("the assignee's messages are steps of the run, are published, and reach the runner in order", async (t) => {
  const { place, taskId, peer, job } = await begin(t);
  const reader = await StreamReader.open(place.ada);
  t.teardown(async () => reader.end());
  reader.subscribe(`run/${job.runId}`);
  peer.step(job, 0);
  await peer.taken(2);
  const first = await say(place.ada, job, "Use blue.");
  t.equal(first.status, 201);
  const from = `person ${await assignee(place, taskId)}`;
  t.match(first.body, { index: 1, kind: "message", text: "Use blue.", from });
  peer.step(job, 1);
  await peer.taken(3);
  t.equal((await say(place.ada, job, "And a border.")).body?.index, 3);
  await given(place, peer, 2);
  t.match(peer.messages("run.message"), [
    { runId: job.runId, fence: job.fence, n: 1, text: "Use blue.", from },
    { n: 2, text: "And a border." },
  ]);
  const texts = (await listSteps(place, job)).map(({ index, text, from: by }) => `${index} ${by}: ${text}`);
  t.same(texts, ["0 agent: step 0", `1 ${from}: Use blue.`, "2 agent: step 1", `3 ${from}: And a border.`]);
  t.match(await reader.until(({ data }) => JSON.stringify(data).includes("And a border.")), {
    kind: "change",
    data: { type: "step", step: { index: 3, from }, run: { steps: 4, unheard: 2 } },
  });
  peer.heard(job, 1);
  await reader.until(({ data }) => (data.run as { unheard?: number } | undefined)?.unheard === 1);
  peer.heard(job, 2);
  await reader.until(({ data }) => (data.run as { unheard?: number } | undefined)?.unheard === 0);
});

t.test("a message is said once for each key of its person", async (t) => {
  const { place, peer, job } = await begin(t);
  const first = await say(place.ada, job, "Use blue.", "one");
  t.equal(first.headers["idempotent-replayed"], undefined);
  const again = await say(place.ada, job, "Use blue.", "one");
  t.match(again, { status: 201, headers: { "idempotent-replayed": "true" } });
  t.same(again.body, first.body);
  t.match(toSlug(await say(place.ada, job, "Use red.", "one")), "idempotency-key-reused");
  t.match(toSlug(await say(place.ada, job, "Use red.", "a b")), "bad-request");
  t.equal((await say(place.ada, job, "Use blue.", "two")).body?.index, 1);
  peer.end(job, { ending: { kind: "ask", question: "What now?" } });
  await place.when(`run/${job.runId}`, async () => (await listSteps(place, job)).length === 2);
  await peer.taken(2);
  t.equal((await say(place.ada, job, "Use blue.", "one")).status, 201, "still known once the run is over");
  t.equal(peer.messages("run.message").length, 2);
});

t.test("only the task's assignee speaks, with a text of some length, to a run that a runner works on", async (t) => {
  const { place, taskId, peer, job } = await begin(t);
  const colleague = await join(place.service, place.ada, "bob@example.com", { teams: [place.teamId] });
  const admin = await join(place.service, place.ada, "eve@example.com", { role: "admin" });
  const refusal = async (client: Client) => {
    const { status, body } = await say(client, job, "Hello.");
    return `${status} ${body?.title}`;
  };
  t.equal(await refusal(colleague), "403 Not the assignee of the task");
  t.equal(await refusal(admin), "403 Not on the team");
  t.match(await refusal(place.service.withToken(place.token)), "401");
  for (const text of ["", "x".repeat(MAX_MESSAGE_CHARACTERS + 1), 7]) {
    t.match(await say(place.ada, job, text), { status: 422, body: { errors: [{ path: "text" }] } });
  }
  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: (colleague satisfies Person).userId });
  t.equal(await refusal(place.ada), "403 Not the assignee of the task");
  t.equal((await say(colleague, job, "Hello.")).status, 201);
  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: null });
  t.match((await say(colleague, job, "Hello.")).body, { detail: /has no assignee/ });
  peer.end(job, { ending: { kind: "ask", question: "What now?" } });
  await reaches(place, taskId, "inbox");
  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: colleague.userId });
  t.match(await say(colleague, job, "Hello."), { status: 409, body: { detail: /^The run has ended/ } });

  const waiting = await place.open({ line: "dev", title: "Another" });
  peer.cut();
  const [run] = await place.runs(waiting);
  await place.ada.request("POST", `/api/tasks/${waiting}/stop`);
  t.match((await say(place.ada, { runId: String(run?.id) }, "Hello.")).status, 409);
});

t.test(
  "a run that waits, one that is being stopped, and one of an older runner say why they hear nothing",
  async (t) => {
    const place = await openWorkplace(t);
    const taskId = await place.open();
    const [queued] = await place.runs(taskId);
    const waits = await say(place.ada, { runId: String(queued?.id) }, "Hello.");
    t.match(waits, { status: 409, body: { detail: /^No runner has started the run yet/ } });
    const older = await place.runner({ features: undefined });
    t.equal((await older.frame("welcome")).features, undefined, "a member that it may not know is not sent to it");
    const job = await older.job();
    t.match(await say(place.ada, job, "Hello."), {
      status: 409,
      body: { detail: /a release that does not deliver messages/ },
    });
    await place.ada.request("POST", `/api/tasks/${taskId}/stop`);
    await older.message("run.stop");
    t.match(await say(place.ada, job, "Hello."), { status: 409, body: { detail: /^The run is being stopped/ } });
  },
);

t.test("a limited number of messages may wait for the agent, until it receives one", async (t) => {
  const { place, peer, job } = await begin(t);
  for (let n = 0; n < MAX_UNDELIVERED; n++) t.equal((await say(place.ada, job, `${n}`)).status, 201);
  t.match(await say(place.ada, job, "too much"), {
    status: 409,
    body: { detail: /last 50 messages have not been delivered/ },
  });
  peer.heard(job, 1);
  await peer.taken(2);
  t.equal((await say(place.ada, job, "now")).status, 201);
  peer.heard(job, 1_000);
  await peer.taken(3);
  t.equal((await say(place.ada, job, "and now")).status, 409, "of what was not said nothing can be heard");
});

t.test("a runner that reconnects gets the messages that it did not acknowledge, once", async (t) => {
  const { place, peer, job } = await begin(t);
  await say(place.ada, job, "one");
  await peer.message("run.message");
  const { runnerId } = await peer.frame("welcome");
  const received = Math.max(...peer.frames.map((frame) => (frame.frame === "message" ? frame.n : 0)));
  peer.cut();
  await say(place.ada, job, "two");
  await say(place.ada, job, "three");
  const { runId, fence } = job;
  const again = await place.runner({ runnerId, received, claims: [{ runId, fence }] });
  await say(place.ada, job, "four");
  await given(place, again, 3);
  t.same(
    again.messages("run.message").map(({ n, text }) => `${n} ${text}`),
    ["2 two", "3 three", "4 four"],
  );
});

t.test("a message that the agent did not receive is a note for the next run", async (t) => {
  const { place, taskId, peer, job } = await begin(t);
  await say(place.ada, job, "was given");
  await say(place.ada, job, "was not");
  peer.heard(job, 1);
  await peer.handOver(job, "review", "have a look");
  const from = `person ${await assignee(place, taskId)}`;
  const notes = (await peer.job()).task?.notes.map((note) => `${note.from}: ${note.text}`);
  t.same(notes, [`${from}: was not`, "station work: have a look"]);
});

t.test("all messages to an agent that is lost with its runner are notes for the next run", async (t) => {
  const { place, peer, job } = await begin(t);
  await say(place.ada, job, "was given");
  await say(place.ada, job, "was not");
  peer.heard(job, 1);
  await peer.taken(2);
  const { runnerId } = await peer.frame("welcome");
  const again = await place.runner({ runnerId, instance: "another-process-of-it" });
  const next = await again.job();
  t.not(next.runId, job.runId);
  t.same(
    next.task?.notes.map(({ text }) => text),
    ["was given", "was not"],
  );
});
