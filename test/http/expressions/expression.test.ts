import t from "tap";
import { expr, wholeIntegration } from "../../support/integration.js";
import { bearer, createUnder, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

const hook = {
  key: "tell",
  on: "handover.giving",
  vars: { level: "high" },
  when: "event.to == 'review'",
  steps: [
    {
      name: "first",
      call: "tracker.comment",
      with: { text: `${expr("task.title")} ${expr("evnt.to")}`, list: [expr("1")] },
    },
    {
      name: "then",
      request: { url: `https://hooks.example.com/${expr("step.first.output.id")}`, body: { at: expr("event.at") } },
    },
  ],
};

async function check(client: Client, position: string, expression: string, definition: object = hook) {
  const reply = await client.request("POST", "/api/expressions/check", { position, expression, definition });
  return { status: reply.status, body: reply.body ?? {}, problem: toProblem(reply) };
}

t.test("an expression is checked against what its position sees in that definition", async (t) => {
  const service = await startTestService(t);
  const person = await service.signIn("someone@example.com");
  const typeAt = async (position: string, expression: string, definition?: object) =>
    (await check(person, position, expression, definition)).body.type;
  t.equal(await typeAt("hook.when", "event.to == vars.level"), "bool");
  t.equal(await typeAt("hook.when", "run.id != ''"), "bool");
  t.equal(await typeAt("hook.steps[0].with.text", "task.marks"), "map(string, string)");
  t.equal(await typeAt("hook.steps[0].with.list[0]", "task.repositories"), "list(string)");
  t.equal(await typeAt("hook.steps[1].request.url", "step.first.status"), "string");
  t.equal(await typeAt("hook.steps[1].request.body.at", "step.first.output"), "dyn");
  const integration = wholeIntegration();
  t.equal(await typeAt("integration.webhook.events[0].when", "item.kind == raw", integration), "bool");
  t.equal(await typeAt("integration.webhook.events[0].raise.say", "author", integration), "dyn");
  t.equal(await typeAt("integration.actions.comment.request.query.page", "target", integration), "map(string, string)");
});

t.test("an invalid expression has all its faults, with spans and suggestions", async (t) => {
  const service = await startTestService(t);
  const person = await service.signIn("someone@example.com");
  const { body } = await check(person, "hook.when", "evnt.to == 1 && event.too == 'x' && step.first.status == 'done'");
  t.same(body, {
    type: null,
    errors: [
      { message: "there is no evnt here", span: { start: 0, end: 4 }, suggestion: "event" },
      { message: "there is no field too here", span: { start: 22, end: 25 }, suggestion: "to" },
      {
        message: "there is no step here; there are event, task, run, vars, hook",
        span: { start: 36, end: 40 },
        suggestion: null,
      },
    ],
    warnings: [
      { position: "hook.steps[0].with.text", message: "does not check: there is no evnt here. Did you mean event?" },
    ],
  });
  t.match((await check(person, "hook.when", "event.to")).body.errors, [{ message: "must be bool, not string" }]);
  t.match((await check(person, "hook.when", "event.to ==")).body.errors, [
    { message: /does not parse/, span: { end: 11 } },
  ]);
  t.match((await check(person, "hook.steps[1].request.url", "step.then.status")).body.errors, [
    { message: "there is no field then here" },
  ]);
  t.match(
    (await check(person, "hook.when", "run.id == ''", { ...hook, on: "task.opened", when: "true" })).body.errors,
    [{ message: "there is no run here; there are event, task, vars, hook" }],
  );
  t.match((await check(person, "hook.when", " event.to = 'review'")).body.errors, [
    { message: "does not parse: unexpected character: = at column 10 (equal is ==)", span: { start: 10, end: 11 } },
  ]);
  t.match((await check(person, "hook.when", expr("event.to == 'review'"))).body.errors, [
    { message: `must be written without ${"$"}{{ }} here`, span: { start: 0, end: 27 } },
  ]);
  t.match((await check(person, "hook.when", "'secret.x' == ''")).body.errors, [{ message: /secret/ }]);
  t.match((await check(person, "hook.when", `${"a".repeat(3_000)}`)).body.errors, [{ message: /longer than 2000/ }]);
});

t.test("an invalid request is refused, each fault at its path", async (t) => {
  const service = await startTestService(t);
  const person = await service.signIn("someone@example.com");
  const findPaths = async (position: string, definition: object) => {
    const { status, problem } = await check(person, position, "true", definition);
    t.equal(status, 422, position);
    return problem.errors?.map(({ path }) => path);
  };
  t.same(await findPaths("line.when", hook), ["position"]);
  const { problem: bare } = await check(person, "steps[0].with.text", "true");
  t.match(bare.errors, [{ message: /integration or a hook, and begin with integration\. or hook\.$/ }]);
  t.same(await findPaths("hook", hook), ["position"]);
  t.same(await findPaths("hook.key", hook), ["position"]);
  t.same(await findPaths("hook.steps[7].with.text", hook), ["position"]);
  t.same(await findPaths("hook.steps[1].request.body.none", hook), ["position"]);
  t.same(await findPaths("hook.when", { ...hook, on: "nothing", steps: [{}], more: 1 }), [
    ...["definition.on", "definition.steps[0].name", "definition.more"],
  ]);
  const match = { tools: ["tracker.comment"] };
  t.same(
    await findPaths("hook.when", {
      ...hook,
      match,
      steps: [...hook.steps, { name: "then", call: "a.b", request: {} }],
    }),
    ["definition.steps[2].request.url"],
  );
  t.same(await findPaths("hook.when", { ...hook, match, steps: [...hook.steps, { name: "then" }] }), [
    ...["definition.match.tools", "definition.steps[2].name", "definition.steps[2]"],
  ]);
  const shapeless = await person.request("POST", "/api/expressions/check", { position: 1, definition: [] });
  t.equal(shapeless.status, 422);
});

t.test("checking needs plan of a token, the positions any credential", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const reader = await bearer(service, owner, { workspaceId, name: "reader", scopes: ["read"] });
  const planner = await bearer(service, owner, { workspaceId, name: "planner", scopes: ["plan"] });
  const refused = await check(reader, "hook.when", "true");
  t.match([refused.status, refused.problem], [403, { title: "Not allowed to plan", permission: "plan" }]);
  t.equal((await check(planner, "hook.when", "true")).status, 200);
  t.equal((await check(service.anonymous, "hook.when", "true")).status, 401);
  t.equal((await service.anonymous.request("GET", "/api/expressions/positions")).status, 401);

  const reply = await reader.request("GET", "/api/expressions/positions");
  const positions: { position: string; returns: string | null; sees: { name: string }[]; alsoSees: string[] }[] =
    JSON.parse(reply.text);
  t.equal(new Set(positions.map(({ position }) => position)).size, positions.length);
  const at = (wanted: string) => positions.find(({ position }) => position === wanted);
  t.match(at("hook.when"), {
    returns: "bool",
    sees: [
      { name: "event", fields: [{ name: "at", type: "string" }] },
      { name: "task" },
      { name: "run" },
      { name: "vars" },
      { name: "hook" },
    ],
    alsoSees: { length: 0 },
  });
  t.match(at("integration.webhook.events[*].forEach"), { returns: "list", alsoSees: { length: 0 } });
  t.match(at("integration.poll.events[*].raise.marks[*].value"), { returns: null, alsoSees: ["item", "captures"] });
  t.match(at("integration.actions[*].request.body"), { alsoSees: ["inputs"] });
});

t.test("the example of the documentation checks", async (t) => {
  const service = await startTestService(t);
  const person = await service.signIn("someone@example.com");
  const path = "/api/expressions/check";
  const { text } = await service.anonymous.request("GET", "/api/openapi.json");
  const { requestBody } = JSON.parse(text).paths[path].post;
  const reply = await person.request("POST", path, requestBody.content["application/json"].example);
  t.match(reply, { status: 200, body: { type: "bool", errors: { length: 0 }, warnings: { length: 0 } } });
});

t.test("a definition with more expressions than are checked is refused, and is not kept either", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { teamId } = await workspaceWithTeam(owner);
  const integration = (body: readonly string[]) => {
    const request = { url: "https://api.example.com/items", body };
    return { integration: "many", name: "Many", hosts: ["api.example.com"], actions: { send: { request } } };
  };
  const long = expr(`"${"x".repeat(1_900)}"`);
  const tooMany: readonly [body: readonly string[], message: string][] = [
    [Array(501).fill(expr("1")), "must hold at most 500 expressions"],
    [[expr("1").repeat(501)], "must hold at most 500 expressions"],
    [Array(14).fill(long), "must hold at most 25000 characters of expressions"],
    [
      Array(110).fill(`${expr("1")} ${"x".repeat(1_900)}`),
      "must hold at most 200000 characters of text with expressions",
    ],
  ];
  for (const [index, [body, message]] of tooMany.entries()) {
    const given = integration(body);
    const { problem } = await check(owner, "integration.actions.send.request.body[0]", "1", given);
    t.match(problem.errors, [{ path: "definition", message }]);
    const made = await createUnder(owner, `/api/resources/teams/${teamId}/integrations`, given, `key-${index}`);
    t.match(toProblem(made).errors, [{ path: "", message }]);
  }
  const most = integration([...Array(480).fill(expr("1")), ...Array(12).fill(long)]);
  t.equal((await createUnder(owner, `/api/resources/teams/${teamId}/integrations`, most, "most")).status, 201);
});
