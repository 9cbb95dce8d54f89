import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { type LiveResponses, openLive } from "../../../http/transport/node-live.js";
import { until } from "../../support/until.js";

t.test("node:http cuts a live response whose client received nothing between two beats", async (t) => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const responded = once(server, "request") as Promise<[unknown, ServerResponse]>;
  const asked = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
  asked.on("error", () => undefined).end();
  const [, response] = await responded;
  let isClosed = false;
  const all: LiveResponses = new Set();
  const closed = () => {
    isClosed = true;
  };
  const handler = { drained: () => undefined, closed };
  openLive(response, { status: 200, headers: {}, open: () => handler }, all);
  const [incoming] = await once(asked, "response");
  const [live] = all;
  live?.beat();
  live?.beat();
  t.equal(response.destroyed, false, "an idle connection stays open");
  incoming.pause();
  const message = "x".repeat(1024 * 1024);
  await until("the buffers to be full", async () => {
    live?.send(message);
    const before = response.socket?.bytesWritten;
    await new Promise((resolve) => setImmediate(resolve));
    return response.socket?.bytesWritten === before && (live?.bufferedBytes ?? 0) > 16 * 1024 * 1024;
  });
  live?.beat();
  live?.beat();
  await until("the cut", () => isClosed);
  t.equal(all.size, 0);
  incoming.resume();
});
