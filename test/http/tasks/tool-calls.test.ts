import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type HookReceiver, hookReceiver } from "../../support/hook-receiver.js";
import { hook } from "../../support/hook-scene.js";
import { join } from "../../support/people.js";
import { toSlug } from "../../support/resources.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

type Shown = Readonly<Record<string, unknown>>;

/** Starts a tracker that answers each comment, and answers each lookup with an error page. */
async function startTracker(t: Test) {
  const got: { readonly path: string; readonly body: unknown }[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    got.push({ path: request.url ?? "", body: text === "" ? null : JSON.parse(text) });
    const isFound = request.url?.startsWith("/comments") === true;
    response.statusCode = isFound ? 201 : 404;
    response.end(isFound ? '{"id":7,"secret":"x"}' : "<h1>Not <b>here</b></h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { got, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const expr = (cel: string) => ["$", `{{ ${cel} }}`].join("");

/** Creates an integration with two tools, and a line whose agents may call these tools. */
async function configure({ ada, teamId }: Workplace, host: string): Promise<void> {
  await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    hosts: [host],
    actions: {
      comment: {
        request: {
          url: `http://${host}/comments`,
          body: { text: expr("inputs.text"), line: expr("inputs.line") },
        },
      },
      look: { request: { method: "GET", url: `http://${host}/items/${expr("inputs.id")}` } },
    },
    tools: {
      comment: {
        description: "Comments.",
        action: "comment",
        approval: true,
        output: expr("{'number': response.id}"),
        inputs: { text: { type: "string", required: true }, line: { default: expr("task.line") } },
      },
      look: { action: "look", inputs: { id: { type: "number", required: true } } },
    },
  });
  const tools = ["tracker.comment", "tracker.look"];
  const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools };
  await ada.create(`/api/resources/teams/${teamId}/lines`, {
    key: "tools",
    name: "Tools",
    repositories: [{ name: "acme/app" }],
    stations: [work],
  });
}

t.test(
  "an agent calls tools: inputs are checked, a person approves, and everybody reads what became of it",
  async (t) => {
    const tracker = await startTracker(t);
    const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: `http://${tracker.host}` } });
    const { ada, service, teamId } = place;
    await configure(place, tracker.host);
    const taskId = await place.open({ line: "tools" });

    const old = await place.runner({ instance: "an old runner 01", features: [] });
    const [queued] = await place.runs(taskId);
    t.match(queued?.waiting, { reason: /a release that does not support such runs/ }, "it waits, and says why");
    old.cut();

    const peer = await place.runner();
    const job = await peer.job();
    t.match(job.tools, [
      { server: "tracker", name: "comment", description: "Comments.", schema: { type: "object", required: ["text"] } },
      { server: "tracker", name: "look", schema: { properties: { id: { type: "number" } } } },
    ]);
    peer.start(job);
    const claim = { runId: job.runId, fence: job.fence };
    const call = (id: string, tool: string, inputs: object) =>
      peer.say({ type: "run.tool-call", ...claim, id, server: "tracker", tool, inputs: JSON.stringify(inputs) });
    const path = `/api/runs/${job.runId}/tool-calls`;
    const listCalls = async (query = "") => (await ada.request("GET", `${path}${query}`)).body?.items as Shown[];

    call("1", "look", { id: "x" });
    t.match(await peer.message("run.tool-answered"), { id: "1", outcome: "failed", text: /id must be a number/ });
    call("2", "look", { id: 5 });
    const failed = await peer.message("run.tool-answered", peer.frames.length);
    t.match(failed, { id: "2", outcome: "failed", text: /^tracker\.look failed: it responded 404\.\n\nNot here$/ });
    const [latest] = await listCalls();
    const found = await ada.request("GET", `/api/find/${latest?.id}`);
    t.same(found.body, { kind: "tool-call", slug: "acme", path: `/runs/${job.runId}` });

    const reader = await StreamReader.open(ada);
    t.teardown(async () => reader.end());
    call("3", "comment", { text: "Hello" });
    t.match(await peer.message("run.tool-waiting"), { id: "3", for: "the assignee's approval" });
    reader.subscribe(`run/${job.runId}`);
    const snapshot = await reader.until(() => true);
    t.match(snapshot.data, {
      calls: [{ tool: "comment", state: "waiting", inputs: { text: "Hello", line: "tools" } }],
    });
    await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
    t.match(await place.task(taskId), { asks: "A call of tracker.comment waits for approval." });

    const { items: runners } = (await ada.request("GET", "/api/workspaces/acme/runners")).body ?? {};
    t.match((runners as Shown[]).at(-1), { held: 1, runs: [job.runId], waiting: [job.runId] });
    const own = (await ada.request("GET", "/api/approvals?state=open")).body?.items as Shown[];
    t.match(own, [{ kind: "tool-call", tool: "tracker.comment", rule: "tool", taskId, state: "open" }]);
    t.match(own[0]?.link, new RegExp(`/api/tasks/${taskId}$`));
    const bob = await join(service, ada, "bob@example.com", { teams: [teamId] });
    await ada.create("/api/resources/workspaces", { slug: "other", name: "Other" });
    t.same((await ada.request("GET", "/api/approvals?limit=1")).body?.items, own, "over all their workspaces");
    t.same((await ada.request("GET", `/api/approvals?before=${own[0]?.id}`)).body?.items, [], "that was the last");
    t.same((await bob.request("GET", "/api/approvals")).body?.items, [], "nothing waits for anyone else");
    const approval = `/api/runs/${job.runId}/approvals/${own[0]?.id}`;
    t.match(await bob.request("POST", `${approval}/approve`, {}), { status: 403 });
    const { userId: bobId } = (await bob.request("GET", "/api/sessions/me")).body ?? {};
    await ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: bobId });
    t.match((await bob.request("GET", "/api/approvals")).body?.items, [{ approver: bobId }], "until it is theirs");
    t.same((await ada.request("GET", "/api/approvals")).body?.items, []);

    const wrong = await bob.request("POST", `${approval}/edit`, { inputs: { text: 5 } });
    t.match([wrong.status, toSlug(wrong), wrong.body?.errors], [422, "invalid", [{ path: "inputs.text" }]]);
    const told = peer.frames.length;
    const key = { "idempotency-key": "once" };
    const edited = await bob.request("POST", `${approval}/edit`, { inputs: { text: "Better" } }, key);
    t.match(edited, { status: 200, body: { state: "approved", edited: { text: "Better", line: "tools" } } });
    const done = await peer.message("run.tool-answered", told);
    const note = 'A person changed the inputs of this call to {"text":"Better","line":"tools"}.';
    t.match(done, { id: "3", outcome: "done", text: '{"number":7}', note });
    const repeat = await bob.request("POST", `${approval}/edit`, { inputs: { text: "Better" } }, key);
    t.match([repeat.status, repeat.headers["idempotent-replayed"]], [200, "true"], "also when the call is over");
    t.match(tracker.got.at(-1), { path: "/comments", body: { text: "Better", line: "tools" } });
    t.match(await reader.until(({ data }) => data.type === "tool-call" && (data.call as Shown).state === "done"), {
      data: { call: { output: { number: 7 } } },
    });

    const calls = await listCalls();
    t.match(calls, [
      { tool: "comment", state: "done", edited: { text: "Better" }, output: { number: 7 }, actsAs: "team", taskId },
      { tool: "look", state: "failed", code: "rejected", begunAt: /T/ },
      { tool: "look", state: "failed", code: "invalid", begunAt: null },
    ]);
    t.same(await listCalls(`?limit=1&before=${calls[0]?.id}`), [calls[1]]);
    t.match(await ada.request("GET", `${path}?limit=51`), { status: 400 });
    t.equal(tracker.got.length, 2);
  },
);

/** Returns the event of each hook request. If a request's signature is wrong, the event has no fields. */
function toTold({ requests }: HookReceiver) {
  return requests.map(({ verified }) => ({ on: verified?.on, ...(verified?.event as Shown) }) as Shown);
}

t.test(
  "hooks stand before a call, and again before an edited one; what was used is told with its output",
  async (t) => {
    const tracker = await startTracker(t);
    const receiver: HookReceiver = await hookReceiver(t, (response) => {
      const { on, inputs } = toTold(receiver).at(-1) ?? {};
      const isBad = on === "tool.using" && (inputs as Shown).text === "bad";
      response.end(JSON.stringify(isBad ? { refuse: "not in this tone" } : {}));
    });
    const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: `http://${tracker.host},${receiver.url}` } });
    const { ada, teamId } = place;
    await configure(place, tracker.host);
    const match = { tools: ["tracker.comment"] };
    const hooks = `/api/resources/teams/${teamId}/hooks`;
    await ada.create(hooks, hook(receiver.url, { key: "guard", on: "tool.using", match, failure: "block" }));
    await ada.create(hooks, hook(receiver.url, { key: "log", on: "tool.used", match }));
    const taskId = await place.open({ line: "tools" });
    const peer = await place.runner();
    const job = await peer.job();
    peer.start(job);
    const claim = { runId: job.runId, fence: job.fence };
    const call = (id: string, text: string) => {
      const from = peer.frames.length;
      const inputs = JSON.stringify({ text });
      peer.say({ type: "run.tool-call", ...claim, id, server: "tracker", tool: "comment", inputs });
      return from;
    };
    const open = async () => (await ada.request("GET", "/api/approvals")).body?.items as Shown[];
    /** Edits the inputs of a call that waits for approval. Returns the call's answer to the runner. */
    const edit = async (id: string, [first, second]: readonly [string, string]) => {
      await peer.message("run.tool-waiting", call(id, first));
      const [{ id: approvalId } = {}] = await open();
      const from = peer.frames.length;
      const path = `/api/runs/${job.runId}/approvals/${approvalId}/edit`;
      t.equal((await ada.request("POST", path, { inputs: { text: second } })).status, 200);
      return peer.message("run.tool-answered", from);
    };

    const refusal = { outcome: "refused", text: "Hook guard refused. Reason: not in this tone" };
    t.match(await peer.message("run.tool-answered", call("1", "bad")), { id: "1", ...refusal });
    t.same([await open(), (await place.task(taskId)).asks], [[], null], "nobody is asked");
    t.match(await edit("2", ["good", "bad"]), { id: "2", ...refusal });
    t.same(tracker.got, [], "no request has left");
    t.match(await edit("3", ["fine", "better"]), { id: "3", outcome: "done", text: '{"number":7}' });
    t.same(tracker.got, [{ path: "/comments", body: { text: "better", line: "tools" } }]);

    await receiver.arrived(6);
    const told = toTold(receiver).map(({ on, inputs }) => [on, (inputs as Shown).text]);
    const asked = ["bad", "good", "bad", "fine", "better"].map((text) => ["tool.using", text]);
    t.same(told, [...asked, ["tool.used", "better"]]);
    const inputs = { text: "better", line: "tools" };
    t.match(toTold(receiver).at(-1), { tool: "tracker.comment", inputs, output: { number: 7 }, failed: false });
    const calls = (await ada.request("GET", `/api/runs/${job.runId}/tool-calls`)).body?.items;
    t.match(calls, [
      { state: "done" },
      { state: "refused", approvalId: /^apr_/ },
      { state: "refused", approvalId: null },
    ]);
  },
);
