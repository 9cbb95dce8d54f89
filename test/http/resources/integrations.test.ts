import t from "tap";
import { expr, wholeIntegration } from "../../support/integration.js";
import { createUnder, remove, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

const base = "/api/resources";
const allowed = { OUTBOUND_ALLOW: "api.example.com,hooks.example.com" };

type Json = Record<string, unknown>;

async function scene(owner: Client) {
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const secret = { name: "tracker", value: "v", valueVersion: 1, hosts: ["api.example.com"] };
  const { id: secretId } = await owner.create(`${base}/workspaces/${workspaceId}/secrets`, secret);
  return { workspaceId, secretId, team: `${base}/teams/${teamId}` };
}

const ofEvents = (block: string) =>
  [
    ...["forEach", "when", "lookup.request.url", "lookup.request.query.*", "lookup.request.headers.*"],
    ...["lookup.request.body", "lookup.request.expect.success", "lookup.request.capture.*", "lookup.capture.*"],
    ...["raise.say", "raise.opens.title", "raise.opens.description", "raise.opens.assignBy.email", "raise.branch"],
    ...["raise.marks.*.value", "raise.attaches.each", "raise.attaches.name", "raise.attaches.type"],
    ...["raise.attaches.size", "raise.attaches.fetch.url"],
  ].map((path) => `${block}.events.*.${path}`);

/** Paths of the expressions in an integration's definition. */
const positions = [
  ...["webhook.verify.hmac.signed", "webhook.verify.hmac.freshness.at", "webhook.respond.when", "webhook.respond.body"],
  ...["webhook.mine", "webhook.route.by", "webhook.delivery", ...ofEvents("webhook")],
  ...["poll.request.url", "poll.request.query.*", "poll.request.headers.*", "poll.request.body"],
  ...["poll.request.expect.success", "poll.request.capture.*", "poll.cursor", ...ofEvents("poll")],
  ...["actions.*.request.url", "actions.*.request.query.*", "actions.*.request.headers.*", "actions.*.request.body"],
  ...["actions.*.request.expect.success", "actions.*.request.capture.*"],
  ...["tools.*.inputs.*.default", "tools.*.output", "connection.oauth2.identity", "on.*.to.*", "on.*.mark.*.value"],
];

/** Positions with text that may contain any number of expressions; other positions contain one expression. */
const holdsText = /(url|query\.\*|headers\.\*|body|default)$/;

/** Returns the first path in `value` that a position matches, and the value at this path. */
function at(value: unknown, parts: readonly string[], path = ""): { readonly path: string; readonly found: unknown } {
  const [part, ...rest] = parts;
  if (part === undefined) return { path, found: value };
  const members = Object.entries(value as Json);
  const [name, member] = members.find(([key]) => part === "*" || key === part) ?? [part, undefined];
  const step = Array.isArray(value)
    ? `[${name}]`
    : /^[A-Za-z_]\w*$/.test(name)
      ? `.${name}`
      : `[${JSON.stringify(name)}]`;
  return at(member, rest, `${path}${step}`.replace(/^\./, ""));
}

/** Returns the definition with another value at a position's path. */
function changed(value: unknown, parts: readonly string[], to: unknown): unknown {
  const [part, ...rest] = parts;
  if (part === undefined) return to;
  if (Array.isArray(value)) return value.map((item, index) => (index === 0 ? changed(item, rest, to) : item));
  const entries = Object.entries(value as Json);
  const name = part === "*" ? entries[0]?.[0] : part;
  return Object.fromEntries(entries.map(([key, item]) => [key, key === name ? changed(item, rest, to) : item]));
}

t.test("every position is a path of a definition, read back as it was written and checked there", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  const made = await owner.create(`${team}/integrations`, wholeIntegration());
  for (const position of positions) {
    const parts = position.split(".");
    const { path, found } = at(made, parts);
    t.match(JSON.stringify(found), expr("").slice(0, 3), `${position} is ${path}`);
    t.same(found, at(wholeIntegration(), parts).found);
    const isText = holdsText.test(position) && position !== "webhook.respond.body";
    const wrong = isText ? "not closed ${" + "{ x" : "no expression";
    const answer = await createUnder(
      owner,
      `${team}/integrations`,
      changed(wholeIntegration(), parts, wrong),
      position,
    );
    t.same(
      toProblem(answer).errors?.map((error) => error.path),
      [path],
      answer.text,
    );
    const secret = changed(wholeIntegration(), parts, expr("secret.tracker"));
    const refused = await createUnder(owner, `${team}/integrations`, secret, `${position}-secret`);
    t.match(toProblem(refused).errors, [{ path, message: "no expression may read a secret" }]);
  }
  t.ok(positions.length > 60);
});

t.test("when the schedules of an integration run next is told beside their runs", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  const made = await owner.create(`${team}/integrations`, wholeIntegration());
  const listed = await owner.request("GET", `/api/integrations/${made.id}/action-runs`);
  t.match(listed.body, { items: [], schedules: [{ action: "comment", nextAt: /^\d{4}-.*Z$/ }], next: null });
});

t.test("a signature may be checked with a public key instead", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  const asymmetric = {
    key: `-----BEGIN ${expr('headers["x-key"]')}`,
    algorithm: "ed25519",
    header: "x-signature",
    signed: expr("raw"),
    freshness: { at: expr("body.at") },
  };
  const whole = wholeIntegration();
  const webhook = { ...(whole.webhook as Json), verify: { asymmetric } };
  const made = await owner.create(`${team}/integrations`, { ...whole, webhook });
  t.match((made.webhook as { verify: { asymmetric: Json } }).verify.asymmetric, asymmetric);
});

t.test(
  "an address for deliveries is there while a webhook takes them, and is written back as it was read",
  async (t) => {
    const service = await startTestService(t, { settings: allowed });
    const owner = await service.signIn("owner@example.com");
    const { team } = await scene(owner);
    const { webhook } = wholeIntegration();
    const made = await owner.create(`${team}/integrations`, {
      integration: "bare",
      name: "Bare",
      hosts: wholeIntegration().hosts,
    });
    t.equal(made.deliveriesUrl, null);
    const write = async (whole: Json, version: number) => {
      const reply = await owner.request("PUT", `/api/resources/integrations/${made.id}`, whole, {
        "if-match": `"${version}"`,
      });
      t.equal(reply.status, 200);
      return reply.body ?? {};
    };
    const taking = await write({ ...made, webhook }, 1);
    t.equal(taking.deliveriesUrl, `${service.baseUrl}/api/integrations/${made.id}/deliveries`);
    t.equal((await write({ ...taking, webhook: null }, 2)).deliveriesUrl, null);
  },
);

const wrong: readonly [change: (whole: Json) => Json, path: string][] = [
  [(whole) => ({ ...whole, on: [{ event: "task.asked", action: "none" }] }), "on[0].action"],
  [(whole) => ({ ...whole, on: [{ event: "task.lost", action: "comment" }] }), "on[0].event"],
  [(whole) => ({ ...whole, tools: { "two words": { action: "comment" } } }), 'tools["two words"]'],
  [(whole) => ({ ...whole, tools: { "t-1": { action: "none" } } }), 'tools["t-1"].action'],
  [
    (whole) => ({ ...whole, integration: "signalbox", tools: { open_pull_request: { action: "comment" } } }),
    "tools.open_pull_request",
  ],
  [(whole) => ({ ...whole, hosts: ["files.example.com"] }), "poll.request.url"],
  [
    (whole) => ({ ...whole, actions: { comment: { request: { url: "not an address" } } } }),
    "actions.comment.request.url",
  ],
  [(whole) => ({ ...whole, connection: { holder: "team" } }), "connection"],
  [(whole) => ({ ...whole, connection: { holder: "requester", token: { secret: "tracker" } } }), "connection.holder"],
  [(whole) => ({ ...whole, connection: { token: { secret: "none" } } }), "connection.token.secret"],
  [(whole) => ({ ...whole, webhook: { ...(whole.webhook as Json), verify: {} } }), "webhook.verify"],
  [(whole) => ({ ...whole, poll: { request: { url: "https://api.example.com/" }, events: [] } }), "poll.events"],
  [
    (whole) => ({
      ...whole,
      poll: { request: { url: "https://api.example.com/" }, events: [{ raise: { opens: { title: expr("a") } } }] },
    }),
    "poll.events[0].raise.opens.line",
  ],
  [(whole) => ({ ...whole, connection: { ...(whole.connection as Json), "odd key": 1 } }), 'connection["odd key"]'],
];

t.test("inconsistent fields are reported at their paths", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  for (const [index, [change, path]] of wrong.entries()) {
    const answer = await createUnder(owner, `${team}/integrations`, change(wholeIntegration()), `wrong-${index}`);
    t.equal(answer.status, 422, path);
    t.ok(
      toProblem(answer).errors?.some((error) => error.path === path),
      `${path} in ${answer.text}`,
    );
  }
});

t.test("unsupported parts of an integration have warnings", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  const { warnings } = await owner.create(`${team}/integrations`, wholeIntegration());
  t.same(
    (warnings as { path: string }[]).map(({ path }) => path),
    [
      "actions.comment.schedule",
      // The request uses inputs, but a schedule has none.
      ...["actions.comment.request.url", "actions.comment.request.query.page"],
      'actions.comment.request.headers["x-item"]',
      ...["actions.comment.request.body.nested[0]", "actions.comment.request.body.nested[1].text"],
      ...["webhook.events[0].lookup.request.capture.number", "poll.events[0].lookup.request.capture.number"],
      "hosts[1]",
      ...["webhook.events[0].raise.opens.line", "poll.events[0].raise.opens.line"],
      'webhook.route.to["Project One"].line',
    ],
  );
});

t.test("tools are offered as long as lines and hooks name them", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team, secretId } = await scene(owner);
  const station = { key: "work", name: "Work", kind: "work", tools: [{ tool: "tracker.comment", approval: true }] };
  const line = { key: "dev", name: "Dev", stations: [station] };
  t.equal((await createUnder(owner, `${team}/lines`, line, "early")).status, 422);
  const made = await owner.create(`${team}/integrations`, wholeIntegration());
  const one = `${base}/integrations/${made.id}`;
  const { id: lineId } = await owner.create(`${team}/lines`, line);
  const match = { tools: ["tracker.close_item"] };
  const steps = [{ name: "say", call: "tracker.comment", with: { text: "done" } }];
  const hook = { key: "say", on: "tool.used", match, steps };
  const lost = await createUnder(owner, `${team}/hooks`, { ...hook, match: { tools: ["tracker.none"] } }, "lost");
  t.match(toProblem(lost).errors, [
    { path: "match.tools[0]", message: "no integration of the team offers tracker.none" },
  ]);
  const { id: hookId, warnings } = await owner.create(`${team}/hooks`, hook);
  t.match(warnings, [{ path: "steps[0].call", message: /not-allowed.*needs approval/ }]);

  const fewer = { ...wholeIntegration(), tools: { comment: { action: "comment" } } };
  const inUse = await replace(owner, one, 1, fewer);
  t.same([inUse.status, toSlug(inUse)], [409, "in-use"]);
  t.equal(toProblem(inUse).detail, "The tool tracker.close_item of integration core/tracker is used by hook core/say.");
  t.match(
    toProblem(await remove(owner, one, 1)).detail,
    /tool tracker.comment .* used by hook core\/say, line core\/dev/,
  );
  t.match(toProblem(await remove(owner, `${base}/secrets/${secretId}`, 1)).detail, /used by integration core\/tracker/);

  t.equal((await remove(owner, `${base}/hooks/${hookId}`, 1)).status, 204);
  t.equal((await replace(owner, one, 1, fewer)).status, 200);
  t.equal((await remove(owner, one, 2)).status, 409);
  const lineInUse = await remove(owner, `${base}/lines/${lineId}`, 1);
  t.match(toProblem(lineInUse).detail, /line core\/dev is used by integration core\/tracker/);
  const without = { ...line, stations: [{ ...station, tools: [] }] };
  t.equal((await replace(owner, `${base}/lines/${lineId}`, 1, without)).status, 200);
  t.equal((await remove(owner, one, 2)).status, 204);
  t.equal((await remove(owner, `${base}/lines/${lineId}`, 2)).status, 204);
  t.equal((await remove(owner, `${base}/secrets/${secretId}`, 1)).status, 204);
});

t.test("a hook's step that calls a tool fails with not-allowed, and blocks where the hook does", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  await owner.create(`${team}/integrations`, wholeIntegration());
  const station = { key: "work", name: "Work", kind: "work" };
  await owner.create(`${team}/lines`, { key: "dev", name: "Dev", stations: [station] });
  await owner.create(`${team}/hooks`, {
    key: "say",
    on: "task.opened",
    steps: [{ name: "say", call: "tracker.close_item" }],
  });
  const work = `/api/teams/${team.split("/").at(-1)}`;
  await owner.request("POST", `${work}/tasks`, { title: "Do it", line: "dev" });
  const firing = await until("the firing to fail", async () => {
    const { items } = (await owner.request("GET", `${work}/hook-occurrences`)).body as {
      items: { state: string; code: string; attempts: { reason: string }[] }[];
    };
    return items.find(({ state }) => state === "failed");
  });
  t.equal(firing.code, "not-allowed");
  t.equal(firing.attempts.length, 1, "it is not tried again");
  t.match(firing.attempts[0]?.reason, /acts as the person who started a task/);
});

t.test("a line that an integration opens tasks on is not deleted, whichever way it names it", async (t) => {
  const service = await startTestService(t, { settings: allowed });
  const owner = await service.signIn("owner@example.com");
  const { team } = await scene(owner);
  const plain = { name: "Plain", hosts: ["api.example.com"] };
  const opens = (line?: string) => [{ raise: { opens: { title: expr("body.title"), ...(line && { line }) } } }];
  const place = { by: expr("body.project"), to: { one: { line: "routed" } } };
  const poll = { request: { url: "https://api.example.com/" }, events: opens("polled") };
  const definitions = {
    polled: { ...plain, integration: "polls", poll },
    sent: { ...plain, integration: "hears", webhook: { events: opens("sent") } },
    routed: { ...plain, integration: "routes", webhook: { route: place, events: opens() } },
  };
  for (const [key, definition] of Object.entries(definitions)) {
    const integration = await owner.create(`${team}/integrations`, definition);
    const stations = [{ key: "work", name: "Work", kind: "work" }];
    const line = await owner.create(`${team}/lines`, { key, name: key, stations });
    const used = await remove(owner, `${base}/lines/${line.id}`, 1);
    t.same([used.status, toSlug(used)], [409, "in-use"]);
    t.equal(toProblem(used).detail, `The line core/${key} is used by integration core/${definition.integration}.`);
    t.equal((await remove(owner, `${base}/integrations/${integration.id}`, 1)).status, 204);
    t.equal((await remove(owner, `${base}/lines/${line.id}`, 1)).status, 204);
  }
});
