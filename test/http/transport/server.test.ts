import t, { type Test } from "tap";
import { z } from "zod";
import type { Refusal } from "../../../actors/refusal.js";
import { createAdmission } from "../../../http/limits/admission.js";
import { BodyRoom } from "../../../http/limits/body-room.js";
import { FairTurns } from "../../../http/limits/fair-turns.js";
import { OpenSockets } from "../../../http/limits/open-sockets.js";
import { type Route, type RouteRequest, route } from "../../../http/route.js";
import { createHandlers, type ServedRequest } from "../../../http/transport/server.js";
import {
  BodyCrowded,
  BodyTimeout,
  BodyTooLarge,
  ClientGone,
  type StreamEnd,
  type StreamedAnswer,
  type TransportAnswer,
  type TransportRequest,
  type WholeAnswer,
} from "../../../http/transport/transport.js";
import { createEventLoopScheduler, type Scheduler } from "../../../runtime/clock.js";
import { NotAccepted, Overloaded, Stopping, TurnFailed } from "../../../runtime/runtime.js";
import { DrivenScheduler, settled } from "../../support/driven-scheduler.js";
import { ManualClock } from "../../support/manual-clock.js";

const person = { kind: "person", userId: "usr_1", email: "a@b.c", sessionId: "ses_1" } as const;
const bearer = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId: "ws_1",
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
} as const;

/** What is sent with a request, and when its client goes away. */
interface Sent {
  readonly body?: string | Error;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Handlers over routes of the test's own, and what they told. */
function edge(routes: readonly Route[], scheduler: Scheduler = createEventLoopScheduler()) {
  let elapsedMs = 0;
  const served: ServedRequest[] = [];
  const limits = { bytes: 200, keptBytes: 100, bytesPerParty: 120 };
  const bodies = new BodyRoom(limits, limits);
  const failed: unknown[] = [];
  const dropped: string[] = [];
  let requests = 0;
  const handlers = createHandlers({
    routes,
    sockets: [],
    authenticate: ({ header }) => {
      const who = header("x-who");
      if (who === "person") return person;
      if (who === "token") return bearer;
      return who === undefined ? null : ({ refused: "unauthenticated", detail: "not you" } satisfies Refusal);
    },
    clientAddress: ({ remoteAddress }) => remoteAddress,
    admission: createAdmission(
      { perCredentialASecond: 0, perAddressASecond: 0, failuresAMinute: 0 },
      new ManualClock(),
    ),
    openSockets: new OpenSockets(0),
    bodies,
    turns: new FairTurns({ scheduler, elapsedMs: () => elapsedMs++ }),
    newRequestId: () => `req_${++requests}`,
    seconds: () => 0,
    served: (each) => void served.push(each),
    failed: (_requestId, error) => void failed.push(error),
  });
  const ask = (
    method: string,
    path: string,
    { body = "", headers = {}, signal = new AbortController().signal }: Sent = {},
  ): Promise<TransportAnswer> => {
    const [pathOnly = "", query = ""] = path.split("?");
    const all: Record<string, string> = { ...(body === "" ? {} : { "content-type": "application/json" }), ...headers };
    const request: TransportRequest = {
      method,
      path: pathOnly,
      query,
      header: (name) => all[name],
      remoteAddress: "192.0.2.7",
      body: async (_limitBytes, _timeoutMs, holdBytes) => {
        if (body instanceof Error) throw body;
        if (!holdBytes(body.length)) throw new BodyCrowded();
        return Buffer.from(body);
      },
      dropBody: async () => {
        dropped.push(path);
      },
      get isGone() {
        return signal.aborted;
      },
      signal,
    };
    return new Promise((resolve) => void handlers.request(request, resolve));
  };
  const send = async (...asked: Parameters<typeof ask>): Promise<WholeAnswer> => {
    const answer = await ask(...asked);
    if ("stream" in answer) throw new Error("the answer is streamed");
    return answer;
  };
  const stream = async (path: string): Promise<StreamedAnswer> => {
    const answer = await ask("GET", path);
    if (!("stream" in answer)) throw new Error("the answer is whole");
    return answer;
  };
  const passMs = (ms: number): void => {
    elapsedMs += ms;
  };
  return { stream, send, served, failed, bodies, dropped, passMs };
}

/** A route that answers by what the test hands in. */
function answering(handle: Route["handle"], more: Partial<Route> = {}): Route {
  return {
    ...route({
      method: "GET",
      path: "/a/{id}",
      summary: "",
      access: "public",
      answers: {},
      handle: () => ({ status: 200 }),
    }),
    handle,
    ...more,
  };
}

function problem(t: Test, answer: WholeAnswer, status: number, slug: string): Record<string, unknown> {
  t.equal(answer.status, status);
  t.equal(answer.headers["content-type"], "application/problem+json");
  const body = JSON.parse(String(answer.body));
  t.equal(body.type, `urn:service:problem:${slug}`);
  t.equal(body.status, status);
  return body;
}

t.test("rejections of the runtime are mapped by type, and only a bug is a 500", async (t) => {
  const rejecting = (error: Error) => edge([answering(() => Promise.reject(error))]);
  problem(t, await rejecting(new NotAccepted("canary")).send("GET", "/a/1"), 409, "conflict");
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

t.test("a request whose client went away is counted apart, and is no failure", async (t) => {
  const leaving = new AbortController();
  const lists = answering(async ({ signal }) => {
    leaving.abort(new ClientGone());
    signal.throwIfAborted();
    return { status: 200 };
  });
  const writes = answering(() => ({ status: 200 }), { method: "POST", body: z.unknown() });
  const breaking = new AbortController();
  const breaks = answering(
    () => {
      breaking.abort(new ClientGone());
      throw new Error("canary");
    },
    { path: "/b" },
  );
  const { send, served, failed } = edge([lists, writes, breaks]);
  await send("GET", "/a/1", { signal: leaving.signal });
  await send("POST", "/a/1", { body: new ClientGone() });
  await send("GET", "/b", { signal: breaking.signal });
  t.same(
    served.map(({ status }) => status),
    [499, 499, 500],
    "a bug is one, whoever sees it",
  );
  t.equal(failed.length, 1);
});

t.test("a request whose client went away while it waited is counted apart", async (t) => {
  const scheduler = new DrivenScheduler();
  let handled = 0;
  const { send, served, passMs } = edge([answering(() => ({ status: 200, body: ++handled }))], scheduler);
  const leaving = new AbortController();
  await send("GET", "/a/1");
  passMs(10);
  const waiting = send("GET", "/a/2", { signal: leaving.signal });
  leaving.abort(new ClientGone());
  while (!scheduler.isIdle) await scheduler.turn();
  await waiting;
  t.same(
    served.map(({ status }) => status),
    [200, 499],
  );
  t.equal(handled, 1);
});

t.test("bodies of requests under way have a bound, and it is told whose they are", async (t) => {
  const ends: (() => void)[] = [];
  const handle = () => new Promise<{ status: number }>((resolve) => ends.push(() => resolve({ status: 200 })));
  const { send, bodies, dropped } = edge([answering(handle, { method: "POST", body: z.unknown() })]);
  const body = JSON.stringify("x".repeat(68));
  const by = (who: string) => ({ body, headers: { "x-who": who } });
  const first = send("POST", "/a/1", by("token"));
  const own = await send("POST", "/a/2", by("token"));
  problem(t, own, 429, "too-many-requests");
  t.equal(own.headers["retry-after"], "1");
  const second = send("POST", "/a/3", by("person"));
  const full = await send("POST", "/a/4", { body });
  problem(t, full, 503, "unavailable");
  t.equal(full.headers["retry-after"], "1");
  t.same(dropped, ["/a/2", "/a/4"], "what is refused is dropped as it comes");
  while (ends.length < 2) await settled();
  t.equal(bodies.bytes, 140, "they are held until they are answered");
  for (const end of ends) end();
  t.same([(await first).status, (await second).status], [200, 200]);
  await settled();
  t.equal(bodies.bytes, 0);
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

t.test("a request that cannot have its turn is refused without its handler", async (t) => {
  const scheduler = new DrivenScheduler();
  let handled = 0;
  const { send, passMs } = edge([answering(() => ({ status: 200, body: ++handled }), { access: "any" })], scheduler);
  const by = { headers: { "x-who": "token" } };
  const first = send("GET", "/a/1", by);
  passMs(10);
  const waiting = Array.from({ length: 1_000 }, () => send("GET", "/a/1", by));
  const crowded = await send("GET", "/a/1", by);
  problem(t, crowded, 429, "too-many-requests");
  t.equal(crowded.headers["retry-after"], "1");
  t.equal((await first).status, 200);
  passMs(60_000);
  while (!scheduler.isIdle) await scheduler.turn();
  for (const answer of await Promise.all(waiting)) {
    t.equal(answer.status, 503);
    t.equal(answer.headers["retry-after"], "5");
  }
  t.equal(handled, 1);
});

t.test("however much one workspace asks for, another's read has its turn among it", async (t) => {
  const scheduler = new DrivenScheduler();
  const slices: string[] = [];
  const long = answering(
    async ({ pause }) => {
      for (let slice = 0; slice < 10; slice++) {
        slices.push("flood");
        await pause();
      }
      return { status: 200 };
    },
    { access: "any" },
  );
  const short = answering(
    () => {
      slices.push("quiet");
      return { status: 200 };
    },
    { path: "/b", access: "any" },
  );
  const { send } = edge([long, short], scheduler);
  const flood = Array.from({ length: 128 }, () => send("GET", "/a/1", { headers: { "x-who": "token" } }));
  for (let time = 0; time < 10; time++) {
    await scheduler.turn();
    const before = slices.length;
    const read = send("GET", "/b", { headers: { "x-who": "person" } });
    while (!slices.slice(before).includes("quiet")) await scheduler.turn();
    t.ok(slices.length - before <= 4, `${slices.length - before} slices until the read was answered`);
    t.equal((await read).status, 200);
  }
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal((await Promise.all(flood)).length, 128);
});
