import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { join } from "../../support/people.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";

const SECRET = "a key that its sender has, too";

const webhook = {
  verify: { hmac: { secret: "tracker-key", header: "X-Signature", prefix: "sha256=" } },
  respond: { when: expr("has(body.challenge)"), body: expr("body.challenge") },
  mine: expr("body.sender == 'signalbox'"),
  delivery: expr('headers["x-delivery"]'),
  events: [
    {
      forEach: expr("body.issues"),
      when: expr("item.open"),
      raise: {
        say: expr("item.title"),
        opens: { line: "dev", title: expr("item.title") },
        marks: { issue: { value: expr("string(item.id)") } },
      },
    },
  ],
};

interface Scene {
  readonly service: TestService;
  readonly owner: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly at: string;
  send(body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Resolves with the newest delivery, once it has ended. */
  settled(): Promise<Record<string, unknown>>;
}

function sign(body: string | Uint8Array, key = SECRET): string {
  return `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
}

async function scene(t: Test, more: Record<string, unknown> = {}): Promise<Scene> {
  const settings = { OUTBOUND_ALLOW: "http://127.0.0.1:9" };
  const service = await startTestService(t, { clock: new ManualClock(), settings });
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "tracker-key",
    value: SECRET,
    valueVersion: 1,
  });
  const made = await owner.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    webhook: { ...webhook, ...more },
  });
  const at = `/api/integrations/${made.id}/deliveries`;
  t.equal(made.deliveriesUrl, `${service.baseUrl}${at}`);
  return {
    service,
    owner,
    workspaceId,
    teamId,
    integrationId: made.id,
    at,
    send: (body, headers = {}) => {
      const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
      return service.anonymous.request("POST", at, text, { "x-signature": sign(text), ...headers });
    },
    settled: () =>
      until("the newest delivery is over", async () => {
        const [item] = listItems(await owner.request("GET", at));
        if (item === undefined || typeof item.endedAt !== "string") return null;
        return (await owner.request("GET", `${at}/${String(item.id)}`)).body;
      }) as Promise<Record<string, unknown>>,
  };
}

t.test("a delivery is taken once, worked, read and worked again", async (t) => {
  const { owner, teamId, at, send, settled, service } = await scene(t);
  const issues = [
    { id: 1, title: "The tests fail", open: true },
    { id: 2, title: "Closed", open: false },
  ];
  const taken = await send({ issues }, { "x-delivery": "d1", authorization: "Bearer x", "x-kind": "issue" });
  t.equal(taken.status, 202);
  t.equal(taken.text, "");
  const worked = await settled();
  t.match(worked, { state: "done", source: "webhook", key: "d1", skipped: 1, repeated: 0, isCut: false });
  t.match(worked.entries, [{ event: 0, item: 0, outcome: "opened", reason: null }]);
  t.equal(worked.body, JSON.stringify({ issues }));
  const headers = worked.headers as Record<string, string>;
  t.equal(headers["x-kind"], "issue");
  t.notOk("authorization" in headers || "x-signature" in headers, "credentials and signatures are left out");
  const tasks = listItems(await owner.request("GET", `/api/teams/${teamId}/tasks`));
  t.same(
    tasks.map(({ title }) => title),
    ["The tests fail"],
  );

  t.equal((await send({ issues }, { "x-delivery": "d1" })).status, 202, "the same key");
  t.match(await settled(), { id: worked.id, repeated: 1 });
  const metrics = await service.anonymous.request("GET", "/metrics");
  t.match(metrics.text, 'signalbox_deliveries_total{fate="done"} 1\n');

  const path = `${at}/${String(worked.id)}/redeliver`;
  const again = await owner.request("POST", path, {}, { "idempotency-key": "once" });
  t.equal(again.status, 202);
  t.match(again.body, { source: "redelivery", redeliveryOf: worked.id });
  const repeated = await owner.request("POST", path, {}, { "idempotency-key": "once" });
  t.equal(repeated.headers["idempotent-replayed"], "true");
  t.equal(repeated.body?.id, again.body?.id);
  const reworked = await settled();
  t.match(reworked, { id: again.body?.id, state: "done" });
  t.match(reworked.entries, [{ outcome: "said" }], "nothing is opened twice");
  t.match((await owner.request("GET", `${at}/${String(worked.id)}`)).body, { redeliveredAs: again.body?.id });

  const failed = await owner.request("GET", `${at}?state=failed`);
  t.same(failed.body?.items, []);
  const period = { from: "2020-01-01T00:00:00Z", to: "2099-01-01T00:00:00Z" };
  const counted = await owner.request("POST", `${at}/redeliver`, { ...period, states: ["done"] });
  t.same([counted.status, counted.body], [202, { count: 0, isMore: false }], "it was worked again with success");
  t.equal((await owner.request("POST", `${at}/redeliver`, { from: period.to, to: period.from })).status, 422);
  t.equal(service.logLines.filter((line) => line.includes('"level":"error"')).length, 0);
});

t.test("a delivery is asked in order: size, integration, signature, respond", async (t) => {
  const { owner, at, send, service, settled } = await scene(t);
  const big = Buffer.alloc(5 * 1024 * 1024 + 1, 32);
  t.equal((await send(big)).status, 413);
  t.equal((await service.anonymous.request("POST", "/api/integrations/int_none/deliveries", big)).status, 413);
  t.equal((await service.anonymous.request("POST", "/api/integrations/int_none/deliveries", "{}")).status, 404);
  const wrong = [
    { "x-signature": sign("{}", "another key") },
    { "x-signature": "" },
    { "x-signature": "sha256=zz" },
    { "x-signature": sign("{}").slice(0, -2) },
  ];
  const refused = new Set<string>();
  for (const headers of wrong) {
    const reply = await send("{}", headers);
    t.equal(reply.status, 401);
    refused.add(reply.text);
  }
  t.equal(refused.size, 1, "one text");
  const answered = await send({ challenge: "abc" });
  t.same([answered.status, answered.text, answered.headers["content-type"]], [200, "abc", "text/plain; charset=utf-8"]);
  const list = await owner.request("GET", at);
  t.same(list.body?.items, [], "nothing is stored");
  t.match(list.body?.refused, { count: 4, latest: [{ bytes: 2 }, {}, {}, {}] });
  const told = list.body?.refused as { readonly latest: readonly { readonly reason: string }[] } | undefined;
  const latest = told?.latest ?? [];
  const reasons = ["wrong-signature", "unreadable-signature", "no-signature", "wrong-signature"];
  t.same(
    latest.map(({ reason }) => reason),
    reasons,
    "its owner is told why",
  );
  t.equal((await send(`[${"[".repeat(5_000)}`)).status, 202, "what is no JSON is taken");
  t.match(await settled(), { state: "ignored", reason: "no event matches" });
});

t.test("an id that no delivery can have is one that there is not", async (t) => {
  const { owner, at } = await scene(t);
  for (const id of ["%01", "x".repeat(2_100), "dlv_"]) {
    t.equal((await owner.request("GET", `${at}/${id}`)).status, 404);
    t.equal((await owner.request("POST", `${at}/${id}/redeliver`, {})).status, 404);
  }
});

t.test("a secret that is replaced verifies nothing any more", async (t) => {
  const { owner, workspaceId, send, service, at } = await scene(t);
  t.equal((await send({})).status, 202);
  const [secret] = listItems(await owner.request("GET", `/api/resources/workspaces/${workspaceId}/secrets`));
  const replaced = { name: "tracker-key", value: "the next key", valueVersion: 2 };
  const put = await owner.request("PUT", `/api/resources/secrets/${String(secret?.id)}`, replaced, {
    "if-match": '"1"',
  });
  t.equal(put.status, 200);
  t.equal((await send("{}")).status, 401);
  const both = `${sign("{}")}, ${sign("{}", "the next key")}`;
  t.equal((await service.anonymous.request("POST", at, "{}", { "x-signature": both })).status, 202, "a sender of both");
});

t.test("what a delivery would raise is told, and why not", async (t) => {
  const { owner, at, teamId, send } = await scene(t);
  const issues = [
    { id: 1, title: "Mine", open: true },
    { id: 2, title: "Shut", open: false },
  ];
  const tried = await owner.request("POST", `${at}/try`, { headers: { "X-Delivery": "d9" }, body: { issues } });
  t.equal(tried.status, 200);
  t.match(tried.body, {
    isVerified: false,
    fault: "no-signature",
    response: null,
    key: "d9",
    state: "done",
    isCut: false,
  });
  t.match(tried.body?.entries, [
    {
      event: 0,
      item: 0,
      outcome: "opened",
      taskId: null,
      raise: { say: "Mine", marks: [{ kind: "issue", value: "1" }] },
    },
    { event: 0, item: 1, outcome: null, taskId: null, raise: null, reason: "`when` is not true" },
  ]);
  const body = JSON.stringify({ issues });
  const signed = await owner.request("POST", `${at}/try`, { headers: { "x-signature": sign(body) }, body });
  t.match(signed.body, { isVerified: true, fault: null });
  const readReason = async (of: object) => {
    const { body } = await owner.request("POST", `${at}/try`, { body: of });
    const entries = body?.entries as readonly { readonly item: number | null; readonly reason: string }[];
    return entries.map(({ item, reason }) => [item, reason]);
  };
  t.match(await readReason({}), [[null, /^`forEach` has no value: .*issues/]]);
  t.same(await readReason({ issues: [] }), [[null, "`forEach` is empty"]]);
  t.match(await readReason({ issues: [{ id: 3 }] }), [[0, /^`when` has no value: .*open/]]);
  t.match((await owner.request("POST", `${at}/try`, { body: { sender: "signalbox" } })).body, {
    state: "ignored",
    reason: "mine",
  });
  t.same((await owner.request("GET", at)).body?.items, []);
  t.same((await owner.request("GET", `/api/teams/${teamId}/tasks`)).body?.items, []);
  await send({ issues: issues.slice(0, 1) });
  const [task] = await until("the task to be opened", async () => {
    const found = listItems(await owner.request("GET", `/api/teams/${teamId}/tasks`));
    return found.length > 0 ? found : null;
  });
  const again = await owner.request("POST", `${at}/try`, { body: { issues } });
  t.match(again.body?.entries, [{ outcome: "said", taskId: task?.id }, { outcome: null }], "what is open has it");
});

t.test("a delivery that nothing identifies, though something should, says why", async (t) => {
  const { send, settled } = await scene(t);
  await send({ issues: [] });
  t.match(await settled(), { key: null, keyProblem: /x-delivery/ });
  await send({ issues: [] }, { "x-delivery": "d1" });
  t.match(await settled(), { key: "d1", keyProblem: null });
});

t.test("it is told why a delivery is answered with nothing, or not at once", async (t) => {
  const { owner, at } = await scene(t, {
    respond: { when: expr("body.type == 'check'"), body: expr("body.challenge") },
  });
  const findTry = async (body: object) => (await owner.request("POST", `${at}/try`, { body })).body;
  t.match(await findTry({ type: "check", challenge: "c" }), { response: { body: "c" }, responseProblem: null });
  t.match(await findTry({ type: "check" }), {
    response: { body: null },
    responseProblem: /^`body` has no value: .*chall/,
  });
  t.match(await findTry({ type: "other" }), { response: null, responseProblem: null });
  t.match(await findTry({}), { mineProblem: "field not found: body.sender" });
  t.match(await findTry({ sender: "signalbox" }), { mineProblem: null, state: "ignored", reason: "mine" });
  t.match(await findTry({}), { response: null, responseProblem: /^`when` has no value: .*type/ });
});

t.test("a delivery that names a firing of its team joins the chain, and so does the task that it opens", async (t) => {
  const { service, owner, workspaceId, teamId, at, send, settled } = await scene(t);
  const readFiring = async (team: string): Promise<string> => {
    await owner.create(`/api/resources/teams/${team}/hooks`, {
      key: "tell",
      on: "task.opened",
      steps: [{ name: "tell", request: { url: "http://127.0.0.1:9/in" } }],
      signing: { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 },
    });
    await owner.request("POST", `/api/teams/${team}/tasks`, { title: "First", line: "dev" });
    const [firing] = await until("the hook fired", async () => {
      const found = listItems(await owner.request("GET", `/api/teams/${team}/hook-occurrences`));
      return found.length > 0 ? found : null;
    });
    return String(firing?.id);
  };
  const firing = await readFiring(teamId);
  const body = { issues: [{ id: 1, title: "Caused", open: true }] };
  t.equal((await send(body, { "service-cause": firing })).status, 202);
  const { causes } = await settled();
  t.equal((causes as string[]).at(-1), firing);
  const events = listItems(await owner.request("GET", `/api/teams/${teamId}/events?event=task.opened`));
  t.ok(
    events.some((event) => (event.causes as string[]).includes(firing)),
    "the task's events have it",
  );

  const other = await owner.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "other", name: "Other" });
  await owner.create(`/api/resources/teams/${other.id}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  for (const cause of [await readFiring(other.id), "occ_none", "x".repeat(300)]) {
    t.equal((await send({ issues: [], cause }, { "service-cause": cause })).status, 202);
    t.same((await settled()).causes, [], cause.slice(0, 40));
  }
  t.equal(service.logLines.filter((line) => line.includes('"level":"error"')).length, 0);
  t.equal(listItems(await owner.request("GET", `${at}?state=ignored`)).length, 3);
});

t.test("who may read the team's outcomes is told of deliveries that are over, and nobody else", async (t) => {
  const { service, owner, teamId, integrationId, send, settled } = await scene(t);
  const member = await join(service, owner, "member@example.com");
  const [seeing, other] = [await StreamReader.open(owner), await StreamReader.open(member)];
  for (const reader of [seeing, other]) {
    reader.subscribe(`team/${teamId}`);
    await reader.until(({ kind }) => kind === "snapshot");
  }
  await send({ issues: [] });
  const { id } = await settled();
  const told = await seeing.until(({ data }) => data.type === "delivery");
  t.same(told.data, { type: "delivery", id, integrationId, state: "ignored" });
  await owner.create(`/api/resources/teams/${teamId}/skills`, {
    key: "one",
    name: "One",
    files: [{ path: "SKILL.md", content: "x" }],
  });
  await other.until(({ data }) => data.type === "configuration");
  t.same(
    other.messages.filter(({ data }) => data.type === "delivery"),
    [],
  );
  for (const { socket } of [seeing, other]) socket.close();
});
