import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import t from "tap";
import { createNodeTransport } from "../../../http/transport/node-transport.js";
import type { LiveTransportAnswer, TransportHandlers } from "../../../http/transport/transport.js";
import { until } from "../../support/until.js";

/** Returns handlers that send a live response to each request. */
function toHandlers(open: LiveTransportAnswer["open"]): TransportHandlers {
  const refused = { status: 400, headers: {}, body: "" };
  return {
    request: (_request, send) => send({ status: 200, headers: {}, open }),
    upgrade: async () => ({ refused }),
    malformed: () => refused,
  };
}

/** The library loads only with some versions of Node and of glibc. `test/contract/transport-uws.test.ts` needs it. */
const uws = await import("../../../http/transport/uws-transport.js").catch(() => null);
const transports = { ...(uws === null ? {} : { uws: uws.createUwsTransport }), node: createNodeTransport };

for (const [name, create] of Object.entries(transports)) {
  t.test(`${name} closes the handler of a live response that ends while it opens`, async (t) => {
    let closes = 0;
    const handler = {
      drained: () => undefined,
      closed: () => {
        closes += 1;
      },
    };
    const handlers = toHandlers((connection) => {
      connection.send("all of it");
      connection.end();
      return handler;
    });
    const transport = create(handlers);
    t.teardown(() => transport.close(1_000));
    const port = await transport.listen("127.0.0.1", 0);
    const [incoming] = (await once(get({ port, host: "127.0.0.1", agent: false }), "response")) as [IncomingMessage];
    const parts: string[] = [];
    for await (const part of incoming.setEncoding("utf8")) parts.push(part);
    t.equal(parts.join(""), "all of it");
    await until("the handler to be closed", () => closes > 0);
    t.equal(closes, 1);
  });

  t.test(`${name} does not wait for a client that reads nothing when it closes`, async (t) => {
    let closes = 0;
    const handler = {
      drained: () => undefined,
      closed: () => {
        closes += 1;
      },
    };
    const handlers = toHandlers((connection) => {
      connection.send("x".repeat(32 * 1024 * 1024));
      return handler;
    });
    const transport = create(handlers);
    const port = await transport.listen("127.0.0.1", 0);
    const asked = get({ port, host: "127.0.0.1", agent: false });
    const [incoming] = (await once(asked, "response")) as [IncomingMessage];
    incoming.on("error", () => undefined).pause();
    await transport.close(600_000);
    await until("the handler to be closed", () => closes > 0);
    t.equal(closes, 1);
    incoming.destroy();
  });
}
