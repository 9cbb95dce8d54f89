import type { Test } from "tap";
import type { Refusal } from "../../actors/refusal.js";
import { createAdmission } from "../../http/limits/admission.js";
import { BodyQuota } from "../../http/limits/body-quota.js";
import { FairTurns } from "../../http/limits/fair-turns.js";
import { OpenSockets } from "../../http/limits/open-sockets.js";
import { createHandlers } from "../../http/transport/server.js";
import {
  BodyCrowded,
  type StreamedAnswer,
  type TransportAnswer,
  type TransportRequest,
  type WholeAnswer,
} from "../../http/transport/transport.js";
import { commonHeaders } from "../../http/wire/headers.js";
import { type Route, route } from "../../http/wire/route.js";
import type { ServedRequest } from "../../http/wire/service-log.js";
import { createEventLoopScheduler, type Scheduler } from "../../runtime/clock.js";
import { ManualClock } from "./manual-clock.js";

const person = { kind: "person", userId: "usr_1", email: "a@b.c", sessionId: "ses_1" } as const;
const bearer = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId: "ws_1",
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
} as const;

/** The body and headers of a request, and the signal that aborts when the client disconnects. */
interface Sent {
  readonly body?: string | Error;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Creates handlers for the test's own routes, and records what the handlers report. */
export function edge(routes: readonly Route[], scheduler: Scheduler = createEventLoopScheduler()) {
  let elapsedMs = 0;
  const served: ServedRequest[] = [];
  const limits = { bytes: 200, keptBytes: 100, bytesPerClient: 120 };
  const bodies = new BodyQuota(limits, limits);
  const failed: unknown[] = [];
  const dropped: string[] = [];
  let requests = 0;
  const handlers = createHandlers({
    routes,
    sockets: [],
    authenticate: ({ header }) => {
      const who = header("x-who");
      let asked = 0;
      return () => {
        if (who === "leaving" && asked++ === 0) return person;
        if (who === "person") return person;
        if (who === "token") return bearer;
        return who === undefined ? null : ({ refused: "unauthenticated", detail: "not you" } satisfies Refusal);
      };
    },
    clientAddress: ({ remoteAddress }) => remoteAddress,
    admission: createAdmission(
      { perCredentialASecond: 0, perAddressASecond: 0, failuresAMinute: 0 },
      new ManualClock(),
    ),
    openSockets: new OpenSockets(0),
    bodies,
    turns: new FairTurns({ scheduler, loop: scheduler, elapsedMs: () => elapsedMs++, idleMs: () => 0 }),
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
    let isSending = false;
    const request: TransportRequest = {
      method,
      path: pathOnly,
      query,
      header: (name) => all[name],
      headers: () => new Map(Object.entries(all)),
      remoteAddress: "192.0.2.7",
      body: async (_limitBytes, _timeoutMs, holdBytes) => {
        if (body instanceof Error) throw body;
        isSending = !holdBytes(body.length);
        if (isSending) throw new BodyCrowded();
        return Buffer.from(body);
      },
      get isSending() {
        return isSending;
      },
      dropBody: async () => {
        isSending = false;
        dropped.push(path);
      },
      get isGone() {
        return signal.aborted;
      },
      signal,
    };
    // Adds the headers of every answer, like a transport.
    return new Promise((resolve) => {
      void handlers.request(request, ({ requestId, ...answer }) => {
        const headers = requestId === undefined ? answer.headers : commonHeaders(requestId, answer.headers);
        resolve({ ...answer, headers });
      });
    });
  };
  const send = async (...asked: Parameters<typeof ask>): Promise<WholeAnswer> => {
    const answer = await ask(...asked);
    if (!("body" in answer)) throw new Error("the answer is streamed");
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

/** Returns a route that answers with the given handler. */
export function answering(handle: Route["handle"], more: Partial<Route> = {}): Route {
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

/** Checks that the answer is a problem with this status and slug; returns the answer's body. */
export function problem(t: Test, answer: WholeAnswer, status: number, slug: string): Record<string, unknown> {
  t.equal(answer.status, status);
  t.equal(answer.headers["content-type"], "application/problem+json");
  const body = JSON.parse(String(answer.body));
  t.equal(body.type, `urn:service:problem:${slug}`);
  t.equal(body.status, status);
  return body;
}
