import { generateKeyPairSync } from "node:crypto";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { allowInsecureRequests, discovery } from "openid-client";
import t from "tap";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { expr } from "../../support/integration.js";
import { createUnder, toProblem } from "../../support/resources.js";

t.test("a hook fires when its condition holds, and not when it fails or has no value", async (t) => {
  const { addHook, openTask, receiver, firings } = await hookScene(t, ok);
  const step = (name: string) => [{ name, request: { url: `${receiver.url}/${name}` } }];
  await addHook(hook("", { key: "no", when: "task.title == 'other'", steps: step("no") }));
  await addHook(hook("", { key: "none", when: "task.marks.absent == ''", steps: step("none") }));
  await addHook(
    hook("", { key: "yes", when: "vars.wanted == task.line", vars: { wanted: "dev" }, steps: step("yes") }),
  );
  await addHook(hook("", { key: "wrapped", when: ` ${expr("task.id.startsWith('task_')")} `, steps: step("wrapped") }));
  await openTask();
  const requests = await receiver.arrived(2);
  t.same(requests.map(({ headers }) => headers["service-hook"]).sort(), ["wrapped", "yes"]);
  t.equal((await firings()).length, 2, "no other has fired");
});

t.test(
  "address, headers and body are rendered for each event, and later steps read the outputs of earlier ones",
  async (t) => {
    const answers = ['{"id": 7, "tags": ["a", null]}', "plain text", "{}"];
    const { addHook, openTask, receiver, settled } = await hookScene(t, (response, n) => response.end(answers[n - 1]));
    await addHook(
      hook("", {
        vars: { team: "core" },
        steps: [
          {
            name: "open",
            request: {
              url: `${receiver.url}/${expr("task.line")}?title=${expr("task.title.size()")}`,
              headers: { "x-team": `team ${expr("vars.team")}`, "x-hook": expr("hook.key") },
              body: { text: `Task ${expr("task.id")}`, task: expr("task"), at: [expr("event.at")], [expr("1")]: 1 },
            },
          },
          { name: "say", request: { url: receiver.url, body: expr("step.open.output.tags") } },
          {
            name: "end",
            request: {
              url: `${receiver.url}/${expr("step.open.output.id")}`,
              body: { said: expr("step.say.output"), was: expr("step.open.status") },
            },
          },
        ],
      }),
    );
    const taskId = await openTask();
    const [open, say, end] = await receiver.arrived(3);
    t.equal(open?.headers["x-team"], "team core");
    t.equal(open?.headers["x-hook"], "tell");
    t.match(open?.verified, {
      text: `Task ${taskId}`,
      task: { id: taskId, line: "dev", repositories: { length: 0 } },
      at: [/^\d{4}-/],
    });
    t.equal(open?.verified?.[expr("1")], 1, "names of a body are left as they are");
    t.same(say?.text, '["a",null]');
    t.same(end?.verified, { said: "plain text", was: "done" });
    t.same(
      (await settled("delivered")).attempts.map(({ code }) => code),
      [null, null, null],
    );
  },
);

t.test("a step whose expression has no value is not sent, and not tried again", async (t) => {
  const { addHook, openTask, receiver, settled } = await hookScene(t, ok);
  await addHook(
    hook("", { steps: [{ name: "tell", request: { url: receiver.url, body: { a: expr("task.marks.none") } } }] }),
  );
  await openTask();
  const firing = await settled("failed");
  t.match(firing, { code: "unwritable", attempts: [{ code: "unwritable", status: null }] });
  t.equal(firing.attempts.length, 1);
  t.equal(receiver.requests.length, 0);
});

t.test("an address that an expression leads elsewhere is not sent to", async (t) => {
  const { addHook, openTask, receiver, settled } = await hookScene(t, ok);
  const url = `${expr("vars.address")}/in`;
  await addHook(hook("", { vars: { address: "http://127.0.0.1:9" }, steps: [{ name: "tell", request: { url } }] }));
  await openTask();
  t.match(await settled("failed"), { code: "not-allowed" });
  t.equal(receiver.requests.length, 0);
});

t.test("invalid expressions are refused at their paths, all at once", async (t) => {
  const { owner, teamId, receiver } = await hookScene(t, ok);
  const body = hook("", {
    when: "task.titel == 1",
    steps: [
      {
        name: "tell",
        request: { url: `${receiver.url}/${expr("step.tell.output")}`, headers: { "x-a": expr("run.id") } },
      },
      { name: "then", request: { url: receiver.url, body: { deep: [expr("event.from")], bad: expr("1 +") } } },
    ],
  });
  const reply = await createUnder(owner, `/api/resources/teams/${teamId}/hooks`, body, "k");
  t.equal(reply.status, 422);
  t.same(
    toProblem(reply).errors?.map(({ path, message }) => [path, message.slice(0, 90)]),
    [["steps[1].request.body.bad", "does not parse: unexpected token: EOF at column 5"]],
    "what cannot be read comes first",
  );
  body.steps[1] = { name: "then", request: { url: receiver.url, body: { deep: [expr("event.from")] } } } as never;
  const again = toProblem(await createUnder(owner, `/api/resources/teams/${teamId}/hooks`, body, "k2"));
  t.same(
    again.errors?.map(({ path, message }) => [path, message]),
    [
      ["when", "does not check: there is no field titel here. Did you mean title?"],
      ["steps[0].request.url", "does not check: there is no field tell here"],
      ["steps[0].request.headers.x-a", "does not check: there is no run here; there are event, task, vars, hook, step"],
      ["steps[1].request.body.deep[0]", "does not check: there is no field from here"],
    ].map(([path, message]) => [path?.replace("headers.x-a", 'headers["x-a"]'), message]),
  );
});

t.test("a hook holds at most 250 expressions, which its requests can all write", async (t) => {
  const { addHook, openTask, owner, teamId, receiver } = await hookScene(t, ok);
  const read = (count: number) => ({
    url: receiver.url,
    body: Array.from({ length: count }, () => expr("task.title")),
  });
  const steps = [
    { name: "tell", request: read(200) },
    { name: "then", request: { ...read(0), body: expr("1").repeat(51) } },
  ];
  const reply = await createUnder(owner, `/api/resources/teams/${teamId}/hooks`, hook("", { steps }), "k");
  t.same(
    toProblem(reply).errors?.map(({ path, message }) => [path, message]),
    [["steps", "must hold at most 250 expressions"]],
  );
  await addHook(hook("", { steps: [{ name: "tell", request: read(250) }] }));
  await openTask();
  const [request] = await receiver.arrived(1);
  t.same(request?.verified, Array(250).fill("Do it"));
});

t.test(
  "headers that are about the connection are refused, and names are the same however they are written",
  async (t) => {
    const { addHook, openTask, owner, teamId, receiver } = await hookScene(t, ok);
    const steps = (headers: object) => [{ name: "tell", request: { url: receiver.url, headers } }];
    const bad = { "Content-Length": "5", "transfer-encoding": "chunked", Upgrade: "x", expect: "x", Connection: "x" };
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, "x"]));
    for (const [headers, count] of [
      [bad, 5],
      [many, 1],
    ] as const) {
      const reply = await createUnder(
        owner,
        `/api/resources/teams/${teamId}/hooks`,
        hook("", { steps: steps(headers) }),
        "k",
      );
      t.equal(toProblem(reply).errors?.length, count, reply.text);
    }
    const added = await addHook(hook("", { steps: steps({ "X-Own": "a", "User-Agent": "other" }) }));
    const path = 'steps[0].request.headers["User-Agent"]';
    const read = await owner.request("GET", `/api/resources/hooks/${added}`);
    t.match(read.body?.warnings, [{ path, message: "is always set by the service" }]);
    await openTask();
    const [request] = await receiver.arrived(1);
    t.match(request?.headers, { "x-own": "a", "user-agent": "Service-Hooks/1" });
  },
);

t.test("OIDC tokens verify by the published documents alone, with every claim of the request", async (t) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const environment = { HOOK_SIGNING_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  const { addHook, openTask, receiver, service, teamId, settled } = await hookScene(t, ok, { environment });
  await addHook(hook(receiver.url, { signing: { oidc: { audience: "https://receiver.example.com" } } }));
  await openTask();
  const [request] = await receiver.arrived(1);
  const token = String(request?.headers.authorization).replace("Bearer ", "");
  t.equal(request?.headers["webhook-signature"], undefined);

  const issuer = `${service.baseUrl}/api`;
  const found = await discovery(new URL(issuer), "receiver", undefined, undefined, {
    execute: [allowInsecureRequests],
  });
  const { jwks_uri: keys = "" } = found.serverMetadata();
  const verified = await jwtVerify(token, createRemoteJWKSet(new URL(keys)), {
    issuer,
    audience: "https://receiver.example.com",
    algorithms: ["ES256"],
  });
  const body = JSON.parse(request?.text ?? "{}");
  const digest = await crypto.subtle.digest("SHA-256", Buffer.from(request?.text ?? ""));
  t.match(verified.payload, {
    sub: new RegExp(`^hook:ws_\\w+/${teamId}/tell$`),
    jti: /./,
    occurrence: body.occurrence,
    webhook_id: request?.headers["webhook-id"],
    body_sha256: Buffer.from(digest).toString("base64url"),
  });
  const { exp = 0, iat = 0 } = decodeJwt(token);
  t.equal(exp - iat, 300);
  t.notMatch(JSON.stringify(await settled("delivered")), token.slice(-40), "no token in the history");
});

t.test(
  "an expression in a header is written with any characters; what it gives has to fit into a header",
  async (t) => {
    const { addHook, openTask, receiver, owner, teamId } = await hookScene(t, ok);
    const with_ = (value: string) =>
      hook("", { steps: [{ name: "tell", request: { url: receiver.url, headers: { "x-own": value } } }] });
    await addHook(with_(`caf\u00e9 ${expr('event.at == "\u2192"\n  ? "\u03a9" // \u2713\n  : "caf\u00e9"')}`));
    await openTask();
    const [request] = await receiver.arrived(1);
    t.equal(request?.headers["x-own"], "caf\u00e9 caf\u00e9");
    for (const [index, outside] of ["\u2192", "a\nb", `a\u0000${expr("task.id")}`].entries()) {
      const refused = await createUnder(
        owner,
        `/api/resources/teams/${teamId}/hooks`,
        with_(outside),
        `outside-${index}`,
      );
      t.equal(refused.status, 422, JSON.stringify(outside));
    }
  },
);
