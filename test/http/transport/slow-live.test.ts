import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { type LiveResponses, openLive } from "../../../http/transport/node-live.js";

t.test("node:http keeps a live response whose client receives something between two beats", async (t) => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const responded = once(server, "request") as Promise<[unknown, ServerResponse]>;
  const asked = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
  asked.on("error", () => undefined).end();
  const [, response] = await responded;
  const all: LiveResponses = new Set();
  let drains = 0;
  const handler = {
    drained: () => {
      drains += 1;
    },
    closed: () => undefined,
  };
  openLive(response, { status: 200, headers: {}, open: () => handler }, all);
  const [incoming] = await once(asked, "response");
  const [live] = all;
  const length = 48 * 1024 * 1024;
  live?.send("x".repeat(length));
  live?.end();
  let received = 0;
  let beats = 0;
  for await (const part of incoming) {
    received += part.length;
    if (received < (beats + 1) * 4 * 1024 * 1024) continue;
    beats += 1;
    live?.beat();
  }
  t.equal(received, length);
  t.ok(beats >= 10, `${beats} beats`);
  t.equal(drains, 0, "nothing is drained after the end");
  t.equal(all.size, 0);
});
