import { createServer } from "node:net";
import t from "tap";
import type { Answering } from "../../support/hook-receiver.js";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { createUnder, toProblem } from "../../support/resources.js";

t.test("an after-hook is delivered with the default body, every header, and a signature that verifies", async (t) => {
  const { addHook, openTask, receiver, settled, owner, teamId } = await hookScene(t, ok);
  await addHook(
    hook(`${receiver.url}/in?x=1`, {
      steps: [{ name: "tell", request: { url: receiver.url, headers: { "x-mine": "yes" } } }],
    }),
  );
  const taskId = await openTask();
  const [request] = await receiver.arrived(1);
  t.match(request?.verified, {
    hook: "tell",
    on: "task.opened",
    task: { id: taskId, line: "dev", station: "Work", stationKey: "work" },
    run: null,
  });
  t.same(Object.keys(request?.verified ?? {}).sort(), ["event", "hook", "occurrence", "on", "run", "task"]);
  t.match(request?.headers, {
    "content-type": "application/json",
    "user-agent": "Service-Hooks/1",
    "webhook-id": /^msg_/,
    "webhook-timestamp": /^\d{10}$/,
    "service-hook": "tell",
    "service-callback-url": /\/api\/hook-callbacks$/,
    "service-callback-token": /./,
    "x-mine": "yes",
  });
  const firing = await settled("delivered");
  t.equal(firing.attempts.length, 1);
  t.notMatch(JSON.stringify(firing), String(request?.headers["service-callback-token"]), "no token in the history");
  t.notMatch(JSON.stringify(firing), String(request?.headers["webhook-signature"]), "no signature in the history");

  const again = await owner.request("POST", `/api/teams/${teamId}/hook-occurrences/${firing.id}/resend`, {});
  t.equal(again.status, 202, again.text);
  const requests = await receiver.arrived(2);
  t.same(requests[1]?.verified, requests[0]?.verified, "the same event again");
  t.not(requests[1]?.headers["webhook-id"], requests[0]?.headers["webhook-id"]);
});

t.test("a receiver calls back with its token: reads the task, adds a note once", async (t) => {
  const { addHook, openTask, receiver, service, owner } = await hookScene(t, ok);
  await addHook(hook(receiver.url));
  const taskId = await openTask();
  const [request] = await receiver.arrived(1);
  const bearer = service.withToken(String(request?.headers["service-callback-token"]));
  const task = await bearer.request("GET", "/api/hook-callbacks/task");
  t.match(task.body, { id: taskId, hook: "tell", stationKey: "work" });
  for (let time = 0; time < 2; time++) {
    const said = await bearer.request(
      "POST",
      "/api/hook-callbacks/notes",
      { body: "seen" },
      { "idempotency-key": "one" },
    );
    t.equal(said.status, 204);
  }
  const notes = (await owner.request("GET", `/api/tasks/${taskId}`)).body?.notes as { from: string; text: string }[];
  t.same(
    notes.map(({ from, text }) => [from, text]),
    [["hook tell", "seen"]],
  );
  const say = (body: unknown, headers = {}) => bearer.request("POST", "/api/hook-callbacks/notes", body, headers);
  t.equal((await say({ body: "" })).status, 400);
  for (const nothing of [undefined, {}]) {
    const refused = await say(nothing);
    t.same([refused.status, toProblem(refused).errors?.map(({ path }) => path)], [422, ["body"]]);
  }
  t.equal((await say({ body: "x".repeat(20_001) })).status, 400);
  t.equal((await say({ body: "\u{1F680}".repeat(20_000) })).status, 204, "characters are counted, not their halves");
  t.match(toProblem(await say({ body: "x", more: 1 })).errors, [{ path: "more", message: "is not a field here" }]);
  t.equal((await say({ body: "x" }, { "idempotency-key": "k".repeat(256) })).status, 400);
  const token = String(request?.headers["service-callback-token"]);
  const forged = service.withToken(token.slice(0, -1) + (token.endsWith("0") ? "1" : "0"));
  t.equal((await forged.request("GET", "/api/hook-callbacks/task")).status, 401);
  t.equal((await service.anonymous.request("GET", "/api/hook-callbacks/task")).status, 401);
});

t.test(
  "a callback token that was refused as expired stays so when the clock is set back, and others do not",
  async (t) => {
    const clock = new ManualClock(Date.now());
    const { addHook, openTask, receiver, service } = await hookScene(t, ok, { clock });
    await addHook(hook(receiver.url));
    for (let n = 0; n < 2; n++) await openTask();
    const requests = await receiver.arrived(2);
    const [refused, unused] = requests.map(({ headers }) =>
      service.withToken(String(headers["service-callback-token"])),
    );
    const findStatus = async (client = refused) => (await client?.request("GET", "/api/hook-callbacks/task"))?.status;
    t.equal(await findStatus(), 200);
    clock.advance(20 * 60_000);
    t.equal(await findStatus(), 401);
    clock.setBack(10 * 60_000);
    t.same([await findStatus(), await findStatus(unused)], [401, 200]);
  },
);

t.test("each failure has its code, and is retried or not as in the table", async (t) => {
  const closed = await new Promise<number>((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
  const status =
    (code: number): Answering =>
    (response) =>
      response.writeHead(code).end();
  const cases: [string, Answering, string, string][] = [
    ["408", status(408), "throttled", "waiting"],
    ["425", status(425), "throttled", "waiting"],
    ["429", status(429), "throttled", "waiting"],
    ["500", status(500), "server-error", "waiting"],
    ["503", status(503), "server-error", "waiting"],
    ["404", status(404), "rejected", "failed"],
    [
      "a redirect",
      (response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
      "rejected",
      "failed",
    ],
    ["a reset", (_response, _n, socket) => socket.resetAndDestroy(), "unreachable", "waiting"],
    ["no answer", () => undefined, "unreachable", "waiting"],
  ];
  for (const [name, answer, code, state] of cases) {
    await t.test(name, async (t) => {
      const { addHook, openTask, receiver, settled } = await hookScene(t, answer);
      await addHook(hook(receiver.url, { timeoutSeconds: 1 }));
      await openTask();
      const firing = await settled("waiting", "failed", "delivered");
      t.same([firing.state, firing.attempts.at(-1)?.code], [state, code]);
    });
  }
  await t.test("a closed port", async (t) => {
    const { addHook, openTask, settled } = await hookScene(t, ok, { allow: `http://127.0.0.1:${closed}` });
    await addHook(hook(`http://127.0.0.1:${closed}`));
    await openTask();
    t.same((await settled("waiting", "failed")).attempts[0]?.code, "unreachable");
  });
});

t.test("an answer is kept up to 16 KiB, and a body without an end does not hold it up", async (t) => {
  const endless: Answering = (response) => {
    const write = () => {
      while (!response.destroyed && response.write("x".repeat(8_192))) {
        // Write until the socket's buffer is full.
      }
    };
    response.on("drain", write);
    write();
  };
  const { addHook, openTask, receiver, settled } = await hookScene(t, endless);
  await addHook(hook(receiver.url));
  await openTask();
  const firing = await settled("delivered", "failed", "waiting");
  t.same([firing.state, firing.attempts[0]?.body.length], ["delivered", 16 * 1024]);
});

t.test("a failure that is not tried again is said on the task, unless the task has moved on", async (t) => {
  const { addHook, openTask, receiver, settled, owner } = await hookScene(t, (response) =>
    response.writeHead(404).end(),
  );
  await addHook(hook(receiver.url));
  const taskId = await openTask();
  t.equal((await settled("failed")).code, "rejected");
  const task = await owner.request("GET", `/api/tasks/${taskId}`);
  t.match(task.body?.notes, [{ from: "hook tell", text: /rejected/ }]);
});

t.test("a hook fires only where its lists match", async (t) => {
  const { addHook, openTask, receiver, owner, settled } = await hookScene(t, ok);
  await addHook(hook(receiver.url, { key: "elsewhere", match: { stations: ["review"] } }));
  await addHook(hook(receiver.url, { key: "other-repository", match: { repositories: ["acme/other"] } }));
  await addHook(
    hook(receiver.url, { key: "moves", on: "task.moved", match: { lines: ["dev"], stations: ["review"] } }),
  );
  const taskId = await openTask();
  await owner.request("POST", `/api/tasks/${taskId}/move`, { to: "review" });
  await receiver.arrived(1);
  const firing = await settled("delivered");
  t.same(
    receiver.requests.map(({ verified }) => [verified?.hook, (verified?.event as { to?: string } | undefined)?.to]),
    [["moves", "review"]],
  );
  t.equal(firing.hook, "moves");
});

t.test("a hook with unsupported parts is refused when it is written", async (t) => {
  const { owner, teamId, receiver } = await hookScene(t, ok);
  const request = { url: receiver.url };
  const cases: [Record<string, unknown>, string, RegExp][] = [
    [{ on: "tool.lost" }, "on", /must be an event/],
    [{ when: "1" }, "when", /must be bool, not int/],
    [{ steps: [{ name: "a", call: "x.y" }] }, "steps[0].call", /no integration of the team offers x.y/],
    [{ match: { tools: ["x.y"] } }, "match.tools", /is allowed only on tool.using and tool.used/],
    [
      { steps: [{ name: "a", request: { url: `https://$${"{{ x }}"}` } }] },
      "steps[0].request.url",
      /there is no x here/,
    ],
    [{ steps: [{ name: "a", request: { url: "ftp://x", from: "network" } }] }, "steps[0].request.url", /an address/],
    [{ signing: { oidc: { audience: "x" } } }, "signing.oidc", /HOOK_SIGNING_KEY must be set to sign OIDC tokens/],
    [{ signing: null }, "signing", /required/],
    [{ failure: "block" }, "failure", /before event/],
    [{ timeoutSeconds: 31 }, "timeoutSeconds", /at most 30/],
    [{ match: { paths: ["**"] } }, "match.paths", /is allowed only/],
    [{ match: { lines: ["nowhere"] } }, "match.lines[0]", /there is no line core\/nowhere/],
    [{ match: { stations: ["nowhere"] } }, "match.stations[0]", /nowhere/],
    [{ steps: [{ name: "a", request: { url: "https://example.com" } }] }, "steps[0].request.url", /allow-list/],
    [{ steps: [{ name: "a", request: { url: "http://example.com" } }] }, "steps[0].request.url", /https/],
    [{ steps: [{ name: "a" }] }, "steps[0]", /exactly one/],
    [
      { steps: [{ name: "a", request: { ...request, headers: { Authorization: "x" } } }] },
      "steps[0].request.headers.Authorization",
      /set by the service/,
    ],
    [
      { steps: [{ name: "a", request: { ...request, headers: { "webhook-id": "x" } } }] },
      'steps[0].request.headers["webhook-id"]',
      /set by/,
    ],
    [
      {
        steps: [
          { name: "a", request },
          { name: "a", request },
        ],
      },
      "steps[1].name",
      /twice/,
    ],
  ];
  for (const [index, [more, path, message]] of cases.entries()) {
    const made = await createUnder(
      owner,
      `/api/resources/teams/${teamId}/hooks`,
      hook(receiver.url, more),
      `case-${index}`,
    );
    t.equal(made.status, 422, path);
    const found = toProblem(made).errors?.find((error) => error.path === path);
    t.match(found?.message, message, `${path}: ${made.text}`);
  }
});
