import t from "tap";
import { z } from "zod";
import { join } from "../../support/people.js";
import { bearer, listItems } from "../../support/resources.js";
import type { Client } from "../../support/service.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const inbox = async (client: Client, query = "") => (await client.request("GET", `/api/inbox${query}`)).body ?? {};
const items = async (client: Client, query = "") => listItems(await client.request("GET", `/api/inbox${query}`));
const kinds = async (client: Client, query = "") => (await items(client, query)).map(({ kind }) => kind);
const idOf = (item: Readonly<Record<string, unknown>> | undefined) => String(item?.id);

type Peer = Awaited<ReturnType<Workplace["runner"]>>;

async function ask(place: Workplace, peer: Peer, task: Readonly<Record<string, unknown>>): Promise<string> {
  const taskId = await place.open(task);
  const job = await peer.job();
  peer.start(job);
  peer.end(job, { ending: { kind: "ask", question: "Red or blue?" } });
  await place.until(async () => (await place.task(taskId)).state === "inbox");
  return taskId;
}

async function fail(place: Workplace, peer: Peer, task: Readonly<Record<string, unknown>>): Promise<string> {
  const taskId = await place.open(task);
  const job = await peer.job();
  peer.start(job);
  peer.end(job, { outcome: "failed", failure: { code: "harness-failed", message: "It broke.", output: "" } });
  await place.until(async () => (await place.task(taskId)).state === "inbox");
  return taskId;
}

async function askApproval(place: Workplace, peer: Peer, task: Readonly<Record<string, unknown>>) {
  const taskId = await place.open(task);
  const job = await peer.job();
  peer.start(job);
  peer.askPermission(job);
  await place.until(async () => (await place.task(taskId)).state === "inbox");
  const [approval] = z.array(z.looseObject({ id: z.string() })).parse((await place.task(taskId)).approvals);
  return { taskId, job, approvalId: approval?.id ?? "" };
}

t.test("questions, failures and approvals wait in one list, the longest wait first", async (t) => {
  const place = await openWorkplace(t);
  const { ada } = place;
  const peer = await place.runner({ slots: 5 });
  t.same(await inbox(ada), { items: [], counts: { me: 0, none: 0, all: 0 }, next: null });
  const asked = await ask(place, peer, { title: "Colours" });
  const approval = await askApproval(place, peer, { title: "Look" });
  const failed = await fail(place, peer, { title: "Break" });
  const [question, call, failure] = await items(ada);
  t.match(question, {
    id: asked,
    kind: "question",
    since: /Z$/,
    task: { id: asked, title: "Colours", state: "inbox" },
    runId: /^run_/,
    asks: "Red or blue?",
    failure: null,
    approval: null,
  });
  t.match(call, {
    id: approval.approvalId,
    kind: "approval",
    task: { id: approval.taskId },
    runId: approval.job.runId,
    asks: null,
    approval: { id: approval.approvalId, tool: "shell", inputs: { command: "ls" }, reason: "To look.", state: "open" },
  });
  t.match(call?.approval, { askedAt: call?.since });
  const found = await ada.request("GET", `/api/find/${approval.approvalId}`);
  t.same(found.body, { kind: "approval", slug: "acme", path: `/w/acme/inbox?item=${approval.approvalId}` });
  t.match(failure, { id: failed, kind: "failure", asks: "It broke.", failure: { message: "It broke." } });
  t.same((await inbox(ada)).counts, { me: 3, none: 0, all: 3 });
  t.same(await kinds(ada, "?workspace=acme"), ["question", "approval", "failure"]);
});

t.test("pages follow one another to the end", async (t) => {
  const place = await openWorkplace(t);
  const { ada } = place;
  const peer = await place.runner({ slots: 9 });
  const expected: string[] = [];
  for (const n of [1, 2, 3, 4, 5]) {
    if (n % 2 === 0) expected.push((await askApproval(place, peer, {})).approvalId);
    else expected.push(await ask(place, peer, {}));
  }
  const read: string[] = [];
  let after = "";
  for (let pages = 0; pages < 10; pages += 1) {
    const page = await inbox(ada, `?limit=2${after}`);
    read.push(...(page.items as { id: string }[]).map(({ id }) => id));
    t.same(page.counts, { me: 5, none: 0, all: 5 });
    if (page.next === null) break;
    after = `&after=${page.next}`;
  }
  t.same(read, expected);
  const place1 = String((await inbox(ada, "?limit=1")).next);
  await ada.request("POST", `/api/tasks/${expected[0]}/answer`, { text: "Blue" });
  t.equal(idOf((await items(ada, `?after=${place1}`))[0]), expected[1], "an item that is gone is still a position");
  for (const hostile of [
    "x",
    "1-task_1",
    expected[0],
    "99999999999999-task_01J0000000000000000000000Z",
    "",
    "a\u0000",
  ]) {
    const reply = await ada.request("GET", `/api/inbox?after=${encodeURIComponent(hostile ?? "")}`);
    t.equal(reply.status, 422, JSON.stringify(hostile));
  }
  t.same((await inbox(ada, "?after=9999999999999-task_01J0000000000000000000000Z")).items, []);
  t.equal((await ada.request("GET", "/api/inbox?assignee=usr_1")).status, 400);
  t.equal((await ada.request("GET", "/api/inbox?workspace=nowhere")).status, 404);
});

t.test("an item waits for its assignee, and for nobody while it has none", async (t) => {
  const place = await openWorkplace(t);
  const { ada, service, teamId, workspaceId } = place;
  const bob = await join(service, ada, "bob@example.com", { teams: [teamId] });
  const carl = await join(service, ada, "carl@example.com");
  const dora = await join(service, ada, "dora@example.com", { role: "admin" });
  const eve = await service.signIn("eve@example.com");
  const peer = await place.runner({ slots: 5 });
  const asked = await ask(place, peer, { assignee: null });
  const approval = await askApproval(place, peer, { assignee: null });
  const none = { me: 0, none: 2, all: 2 };
  for (const client of [ada, bob, dora]) t.same((await inbox(client)).counts, none);
  for (const client of [carl, eve]) {
    t.same(await inbox(client, "?assignee=all"), { items: [], counts: { me: 0, none: 0, all: 0 }, next: null });
    t.equal((await client.request("GET", `/api/inbox/${asked}`)).status, 404);
    t.equal((await client.request("GET", `/api/inbox/${approval.approvalId}`)).status, 404);
  }
  t.equal((await eve.request("GET", "/api/inbox?workspace=acme")).status, 404);
  t.same(await kinds(bob), []);
  t.same(await kinds(bob, "?assignee=none"), ["question", "approval"]);
  for (const id of [asked, approval.taskId]) {
    await ada.request("POST", `/api/tasks/${id}/assign`, { assignee: bob.userId });
  }
  t.same(await kinds(bob), ["question", "approval"]);
  t.same((await inbox(bob)).counts, { me: 2, none: 0, all: 2 });
  t.same((await inbox(ada)).counts, { me: 0, none: 0, all: 2 });
  t.same(await kinds(ada, "?assignee=all"), ["question", "approval"]);
  const token = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  t.same([await kinds(token), await kinds(token, "?assignee=all")], [[], ["question", "approval"]]);
});

t.test("an item that is gone says who did what", async (t) => {
  const place = await openWorkplace(t);
  const { ada } = place;
  const userId = String((await ada.request("GET", "/api/sessions/me")).body?.userId);
  const peer = await place.runner({ slots: 20 });
  const gone = async (id: string) => {
    const { status, body } = await ada.request("GET", `/api/inbox/${id}`);
    return status === 200 ? body?.gone : status;
  };
  const acts = [
    { what: "answered", path: "answer", body: { text: "Blue" } },
    { what: "retried", path: "retry", body: {} },
    { what: "moved", path: "move", body: { to: "review" } },
    { what: "closed", path: "close", body: {} },
  ];
  for (const { what, path, body } of acts) {
    const taskId = await ask(place, peer, {});
    t.equal(await gone(taskId), null);
    t.equal((await ada.request("POST", `/api/tasks/${taskId}/${path}`, body)).status, 200);
    t.match(await gone(taskId), { by: userId, what, at: /Z$/ });
    t.match((await ada.request("GET", `/api/inbox/${taskId}`)).body, { kind: "question", asks: "Red or blue?" });
    if (what !== "closed") await peer.job();
  }
  const decisions = [
    { what: "approved", path: "approve", body: {} },
    { what: "edited", path: "edit", body: { inputs: { command: "pwd" } } },
    { what: "dismissed", path: "dismiss", body: { reason: "No." } },
  ];
  for (const { what, path, body } of decisions) {
    const { approvalId, job, taskId } = await askApproval(place, peer, {});
    t.equal(await gone(approvalId), null);
    t.equal(await gone(taskId), 404, "the approval is the item, not its task");
    t.equal((await ada.request("POST", `/api/runs/${job.runId}/approvals/${approvalId}/${path}`, body)).status, 200);
    t.match(await gone(approvalId), { by: userId, what });
  }
  const stopped = await askApproval(place, peer, {});
  await ada.request("POST", `/api/tasks/${stopped.taskId}/stop`, {});
  await place.until(async () => (await gone(stopped.approvalId)) !== null);
  t.match(await gone(stopped.approvalId), { by: null, what: "closed" });
  t.same((await inbox(ada)).counts, { me: 0, none: 0, all: 0 });
  for (const id of ["apr_01J0000000000000000000000Z", "task_01J0000000000000000000000Z", "x", "apr_"]) {
    t.equal(await gone(id), 404, id);
  }
});
