import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { mock } from "node:test";
import t from "tap";
import { BodyTimeout } from "../../../http/transport/transport.js";
import { Client, toRequest } from "../../../http/transport/uws-request.js";

/** The library closes a connection after this time without a byte, in milliseconds. */
const LIBRARY_MS = 10_000;

t.test(
  "a body that stalls has all of its time, for which the library is kept from ending the connection",
  async (t) => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    t.teardown(() => mock.timers.reset());
    let resumed = 0;
    const response = {
      onAborted: () => undefined,
      onData: () => undefined,
      pause: () => undefined,
      resume: () => {
        resumed += 1;
      },
    } as unknown as HttpResponse;
    const request = { getUrl: () => "/", getQuery: () => "" } as unknown as HttpRequest;
    const headers = new Map([["content-length", "10"]]);
    const incoming = toRequest(response, request, headers, "POST", new Client());
    let outcome: unknown = null;
    const body = incoming
      .body(100, 30_000, () => true)
      .catch((error: unknown) => {
        outcome = error;
      });
    const nextRound = () => new Promise((resolve) => setImmediate(resolve));
    // Let one round pass: the service then waits for body bytes that did not arrive with the head.
    await nextRound();
    for (let quietMs = 0; quietMs < 29_000; quietMs += LIBRARY_MS / 2) {
      const before = resumed;
      mock.timers.tick(LIBRARY_MS / 2);
      await nextRound();
      if (quietMs < 25_000) t.equal(outcome, null, `after ${quietMs + LIBRARY_MS / 2} ms`);
      t.ok(resumed > before, "reading was resumed");
    }
    await body;
    t.type(outcome, BodyTimeout);
    const last = resumed;
    mock.timers.tick(LIBRARY_MS);
    t.equal(resumed, last, "and then no more");
  },
);
