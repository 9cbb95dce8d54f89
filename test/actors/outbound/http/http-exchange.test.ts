import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import type { OutboundAnswer } from "../../../../actors/outbound/http/http-exchange.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";
import { until } from "../../../support/until.js";

/** Creates an outbound path to a server with this listener. The path stores only the first 10 bytes of an answer. */
async function arrange(t: Test, listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutbound({ allowList: parseAllowList(origin), maxBodyBytes: 10 });
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });
  const post = ({ timeoutMs = 60_000, signal = new RunAbort() } = {}): Promise<OutboundAnswer> =>
    outbound.post({ url: new URL(origin), headers: {}, body: "{}", timeoutMs, signal });
  return { server, post };
}

t.test("an answer has a status, the beginning of its body and retry-after", async (t) => {
  const bodies = ["", "short", "exactly 10", "longer than ten bytes"];
  const { post } = await arrange(t, (request, response) => {
    request.resume();
    response.writeHead(503, { "retry-after": "7" }).end(bodies.shift());
  });
  for (const body of [...bodies]) {
    const isCut = body.length > 10;
    const cut = isCut ? { unread: { kind: "size", reason: "it is larger than 10 bytes" } } : {};
    t.same(await post(), { status: 503, body: body.slice(0, 10), retryAfter: "7", ...cut });
  }
});

t.test("an endless body is cut, and its connection closed", async (t) => {
  let closed: Promise<unknown> = Promise.resolve();
  const { post } = await arrange(t, (_request, response) => {
    closed = once(response, "close");
    response.writeHead(200).write("0123456789 and so on");
  });
  t.match(await post(), { status: 200, body: "0123456789", retryAfter: null, unread: { kind: "size" } });
  await closed;
});

t.test("interim answers are skipped", async (t) => {
  const { post } = await arrange(t, (_request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeHead(201).end("made");
  });
  t.match(await post(), { status: 201, body: "made" });
});

t.test("no request waits for another's connection: a host that hangs gets them all", async (t) => {
  const held: ServerResponse[] = [];
  const { post } = await arrange(t, (_request, response) => {
    held.push(response);
  });
  const all = Array.from({ length: 200 }, () => post());
  await until("all are there", () => held.length === 200);
  for (const response of held) response.end("late");
  for (const one of all) t.match(await one, { status: 200, body: "late" });
});

t.test("an aborted request rejects with the reason, and its connection is closed", async (t) => {
  const abort = new RunAbort();
  let closed: Promise<unknown> = Promise.resolve();
  const { server, post } = await arrange(t, (_request, response) => {
    closed = once(response, "close");
  });
  const answer = post({ signal: abort });
  await once(server, "request");
  abort.abort(new Error("it was cancelled"));
  await t.rejects(answer, new Error("it was cancelled"));
  await closed;
  await t.rejects(post({ signal: abort }), new Error("it was cancelled"), "or never begins");
});
