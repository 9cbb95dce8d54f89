import t from "tap";
import { z } from "zod";
import type { Refusal } from "../../../actors/refusal.js";
import { BodyTimeout, BodyTooLarge, ClientGone, type StreamEnd } from "../../../http/transport/transport.js";
import type { RouteRequest } from "../../../http/wire/route.js";
import { NotAccepted, Overloaded, Stopping, TurnFailed } from "../../../runtime/runtime.js";
import { answering, edge, problem } from "../../support/edge-handlers.js";

t.test("rejections of the runtime are mapped by type, and only a bug is a 500", async (t) => {
  const rejecting = (error: Error) => edge([answering(() => Promise.reject(error))]);
  problem(t, await rejecting(new NotAccepted("canary")).send("GET", "/a/1"), 409, "conflict");
  const untaken = (kind: string) => new NotAccepted("canary", { kind, message: `${kind}.answer`, state: "done" });
  const ofTask = problem(t, await rejecting(untaken("task")).send("GET", "/a/1"), 409, "conflict");
  t.equal(ofTask.detail, "The task is in the state done, which does not accept answer.");
  const ofAccount = problem(t, await rejecting(untaken("account")).send("GET", "/a/1"), 409, "conflict");
  t.equal(ofAccount.detail, "This is not possible in the current state.", "what nobody reads is not told");
  const overloaded = await rejecting(new Overloaded("canary")).send("GET", "/a/1");
  problem(t, overloaded, 503, "unavailable");
  t.equal(overloaded.headers["retry-after"], "1");
  const stopping = await rejecting(new Stopping("canary")).send("GET", "/a/1");
  problem(t, stopping, 503, "unavailable");
  t.equal(stopping.headers["retry-after"], "5");
  problem(t, await rejecting(new TurnFailed("canary")).send("GET", "/a/1"), 500, "internal");
  for (const answer of [overloaded, stopping]) t.notMatch(String(answer.body), /canary/);
});

t.test("a throw shows nothing of the inside but the request's id, which the log has too", async (t) => {
  const error = new Error("canary at /secret/path");
  for (const handle of [
    () => {
      throw error;
    },
    () => Promise.reject(error),
  ]) {
    const { send, failed, served } = edge([answering(handle)]);
    const answer = await send("GET", "/a/1");
    const body = problem(t, answer, 500, "internal");
    t.equal(answer.headers["x-request-id"], "req_1");
    t.match(body.detail, /req_1/);
    t.notMatch(String(answer.body), /canary|secret/);
    t.same(failed, [error]);
    t.match(served, [{ requestId: "req_1", route: "/a/{id}", status: 500 }]);
  }
});

t.test("each access admits whom it names", async (t) => {
  const { send } = edge(
    (["public", "person", "any"] as const).map((access) =>
      answering(({ caller }) => ({ status: 200, body: caller?.kind ?? "nobody" }), { path: `/${access}`, access }),
    ),
  );
  const seen = async (path: string, who?: string) => {
    const answer = await send("GET", path, who === undefined ? {} : { headers: { "x-who": who } });
    return answer.status === 200 ? JSON.parse(String(answer.body)) : answer.status;
  };
  t.same(await Promise.all(["person", "token", "nonsense", undefined].map((who) => seen("/public", who))), [
    "person",
    "token",
    "nobody",
    "nobody",
  ]);
  t.same(await Promise.all(["person", "token", "nonsense", undefined].map((who) => seen("/person", who))), [
    "person",
    401,
    401,
    401,
  ]);
  t.same(await Promise.all(["person", "token", "nonsense", undefined].map((who) => seen("/any", who))), [
    "person",
    "token",
    401,
    401,
  ]);
});

t.test("a handler gets only values parsed by its schemas", async (t) => {
  const seen: unknown[] = [];
  const { send } = edge([
    answering(
      (request: RouteRequest) => {
        const { params, query, body, client, requestId, remoteAddress } = request;
        seen.push({ params, query, body, client, requestId, remoteAddress });
        return { status: 204 };
      },
      {
        method: "POST",
        body: z.strictObject({ name: z.string(), size: z.int().default(3) }),
        query: z.strictObject({ limit: z.coerce.number().max(9).default(5) }),
      },
    ),
  ]);
  const fine = await send("POST", "/a/x%20y?limit=7", {
    body: '{"name":"n"}',
    headers: { "service-client": "iac-provider/1.2.0" },
  });
  t.equal(fine.status, 204);
  t.equal(fine.body, "");
  t.same(seen, [
    {
      params: { id: "x y" },
      query: { limit: 7 },
      body: { name: "n", size: 3 },
      client: "iac-provider/1.2.0",
      requestId: "req_1",
      remoteAddress: "192.0.2.7",
    },
  ]);
  const badQuery = problem(t, await send("POST", "/a/1?limit=10&more=1", { body: '{"name":"n"}' }), 400, "bad-request");
  t.equal(badQuery.detail, "limit: must be at most 9\nmore: is not a field here");
  problem(t, await send("POST", "/a/1", { body: '{"name":1}' }), 422, "invalid");
  t.equal(seen.length, 1);
});

t.test("answers go out as text or JSON, with the headers they bring", async (t) => {
  const { send } = edge([
    answering(() => ({ status: 200, body: { a: null }, headers: { etag: '"1"' } }), { path: "/json" }),
    answering(() => ({ status: 200, text: { type: "text/html", content: "<p>" } }), { path: "/text" }),
    answering(() => ({ status: 202 }), { path: "/empty" }),
  ]);
  t.match(await send("GET", "/json"), {
    body: '{"a":null}',
    headers: { etag: '"1"', "content-type": "application/json" },
  });
  t.match(await send("GET", "/text"), { body: "<p>", headers: { "content-type": "text/html" } });
  const empty = await send("GET", "/empty");
  t.equal(empty.body, "");
  t.notOk(empty.headers["content-type"]);
});

t.test("refusals keep the additional fields of their problems", async (t) => {
  const refusing = async (refusal: Refusal) => {
    const answer = await edge([answering(() => refusal)]).send("GET", "/a/1");
    return { status: answer.status, headers: answer.headers, ...JSON.parse(String(answer.body)) };
  };
  t.match(await refusing({ refused: "moved-on", detail: "d", currentVersion: 7 }), { status: 409, currentVersion: 7 });
  t.match(await refusing({ refused: "forbidden", title: "Not allowed to plan", detail: "d", permission: "plan" }), {
    status: 403,
    title: "Not allowed to plan",
    permission: "plan",
  });
  t.match(await refusing({ refused: "too-many-requests", detail: "d", retryAfterSeconds: 9 }), {
    status: 429,
    headers: { "retry-after": "9" },
  });
  t.match(
    await refusing({
      refused: "invalid",
      errors: [
        { path: "", message: "whole" },
        { path: "a.b", message: "part" },
      ],
    }),
    {
      status: 422,
      detail: "whole\na.b: part",
      errors: [
        { path: "", message: "whole", severity: "error" },
        { path: "a.b", message: "part", severity: "error" },
      ],
    },
  );
  for (const [refused, status] of [
    ["idempotency-key-required", 400],
    ["malformed-if-match", 400],
    ["unauthenticated", 401],
    ["already-exists", 409],
    ["in-use", 409],
    ["idempotency-key-reused", 422],
    ["precondition-required", 428],
    ["refused-upstream", 502],
  ] as const) {
    t.match(await refusing({ refused, detail: "d" }), { status, type: `urn:service:problem:${refused}`, detail: "d" });
  }
});

t.test("a body that fails on its way is the client's affair", async (t) => {
  const { send, failed } = edge([answering(() => ({ status: 200 }), { method: "POST", body: z.unknown() })]);
  problem(t, await send("POST", "/a/1", { body: new BodyTooLarge() }), 413, "too-large");
  problem(t, await send("POST", "/a/1", { body: new BodyTimeout() }), 408, "request-timeout");
  problem(t, await send("POST", "/a/1", { body: new ClientGone() }), 400, "bad-request");
  t.same(failed, []);
});

t.test("a streamed answer is served once it was sent, and closed whatever becomes of it", async (t) => {
  const ends: readonly (readonly [StreamEnd, boolean, number])[] = [
    [{ isWhole: true }, false, 0],
    [{ isWhole: false }, true, 0],
    [{ isWhole: false, error: new Error("canary") }, true, 1],
  ];
  for (const [end, isCut, failures] of ends) {
    let closed = 0;
    const close = () => {
      closed += 1;
    };
    const { stream, served, failed } = edge([
      answering(() => ({ status: 200, stream: { length: 4, pieces: ["[", "1", "]", " "], close } })),
    ]);
    const answer = await stream("/a/1");
    t.match(answer, { status: 200, headers: { "content-type": "application/json", "x-request-id": "req_1" } });
    t.same([...answer.stream.pieces].join(""), "[1] ");
    t.same([served, closed], [[], 0], "it is under way");
    answer.stream.close(end);
    t.equal(closed, 1);
    t.match(served, [{ requestId: "req_1", route: "/a/{id}", status: 200, isCut }]);
    t.equal(failed.length, failures);
  }
});

t.test("an answer with a header that would end its line is a bug, and nothing of it is sent", async (t) => {
  const headers = { location: "/a\r\nset-cookie: session=canary" };
  const { send, failed } = edge([
    answering(() => ({ status: 200, headers, text: { type: "text/plain", content: "b" } })),
  ]);
  const answer = await send("GET", "/a/1");
  problem(t, answer, 500, "internal");
  t.notMatch(JSON.stringify(answer), /canary/);
  t.equal(failed.length, 1);
});
