import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Test } from "tap";
import type { TransportAnswer } from "../../http/transport/transport.js";
import type { LiveConnection, LiveHandler } from "../../http/wire/live-answer.js";
import { until } from "../support/until.js";
import { type CreateTransport, listen, text } from "./transport.js";

/** Timeout for expected events, in milliseconds; much longer than anything takes on loopback. */
const AMPLE_MS = 60_000;
const MIB = 1024 * 1024;

/** A live answer that records its events. */
class Live {
  readonly events: string[] = [];
  readonly answer: TransportAnswer;
  #connection: LiveConnection | null = null;

  constructor(handlers: Partial<LiveHandler> = {}) {
    const open = (connection: LiveConnection): LiveHandler => {
      this.#connection = connection;
      connection.send("first\n");
      this.events.push("open");
      return {
        drained: () => {
          this.events.push("drained");
          handlers.drained?.();
        },
        closed: () => void this.events.push("closed"),
      };
    };
    this.answer = { status: 200, headers: { "content-type": "text/event-stream", "x-own": "1" }, open };
  }

  /** The events except `drained`. That event may follow each message that the connection does not take at once. */
  get ends(): readonly string[] {
    return this.events.filter((event) => event !== "drained");
  }

  get connection(): LiveConnection {
    if (this.#connection === null) throw new Error("the answer is not open");
    return this.#connection;
  }
}

/** A client that decodes the answer's body. */
class LiveClient {
  readonly incoming: IncomingMessage;
  text = "";
  bytes = 0;
  #look: () => void = () => undefined;

  private constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    incoming.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (this.bytes < MIB) this.text += chunk.toString();
      this.#look();
    });
    incoming.on("error", () => undefined).on("close", () => this.#look());
  }

  static async open(port: number, method = "GET"): Promise<LiveClient> {
    const asked = httpRequest({ port, host: "127.0.0.1", method, agent: false });
    asked.on("error", () => undefined).end();
    const [incoming] = (await once(asked, "response")) as [IncomingMessage];
    return new LiveClient(incoming);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  /** Waits for the end; returns whether the answer was complete. */
  async ended(): Promise<boolean> {
    await this.until(() => this.incoming.closed);
    return this.incoming.complete;
  }
}

const opened = async (t: Test, create: CreateTransport, live = new Live()) => {
  const { port, transport } = await listen(t, create, {
    request: ({ path }) => (path === "/" ? live.answer : text("ok")),
  });
  const client = await LiveClient.open(port);
  t.teardown(async () => client.incoming.destroy());
  return { live, client, port, transport };
};

/**
 * Sends to a reader that reads nothing, until at least `bytes` wait in the process. The operating systems buffer more.
 * Returns the number of sent bytes.
 */
async function fill({ connection }: Live, bytes: number): Promise<number> {
  const message = "x".repeat(MIB);
  let sent = 0;
  while (connection.bufferedBytes < bytes && sent < 48) {
    connection.send(message);
    sent += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sent * MIB;
}

/** Tests that a transport sends live answers correctly. */
export function liveConformance(t: Test, create: CreateTransport): void {
  t.test("a live answer sends its headers with the first bytes, then all that follows, and ends whole", async (t) => {
    const { live, client } = await opened(t, create);
    const { statusCode, headers } = client.incoming;
    t.match([statusCode, headers], [200, { "content-type": "text/event-stream", "x-own": "1" }]);
    t.equal(headers["content-length"], undefined);
    await client.until(() => client.text === "first\n");
    const pieces = Array.from({ length: 100 }, (_, count) => `piece ${count} ✓\n`);
    for (const [index, piece] of pieces.entries()) live.connection.send(index % 2 === 0 ? piece : Buffer.from(piece));
    await client.until(() => client.text === `first\n${pieces.join("")}`);
    t.equal(live.connection.bufferedBytes, 0);
    live.connection.send("last");
    live.connection.end();
    live.connection.send("too late");
    live.connection.end();
    t.equal(await client.ended(), true);
    t.ok(client.text.endsWith("last"));
    await until("the end to be reported", () => live.events.includes("closed"));
    live.connection.send("much too late");
    t.equal(live.connection.bufferedBytes, 0);
    t.same(live.ends, ["open", "closed"]);
  });

  t.test("a HEAD of a live answer gets the headers alone", async (t) => {
    const live = new Live();
    const { port } = await listen(t, create, { request: () => live.answer });
    const client = await LiveClient.open(port, "HEAD");
    t.equal(client.incoming.headers["content-type"], "text/event-stream");
    t.equal(await client.ended(), true);
    t.same(live.ends, []);
  });

  t.test("a client that disconnects is reported once, and one that was gone before opens nothing", async (t) => {
    const { live, client } = await opened(t, create);
    client.incoming.destroy();
    await until("the disconnect", () => live.events.includes("closed"));
    live.connection.send("nobody reads this");
    live.connection.end();
    t.same(live.ends, ["open", "closed"]);

    const late = new Live();
    const { connect } = await listen(t, create, {
      request: async (request) => {
        const aborted = once(request.signal, "abort");
        connection.destroy();
        await aborted;
        return late.answer;
      },
    });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    const next = await connect();
    next.send(["GET / HTTP/1.1", "Host: a"]);
    await new Promise((resolve) => setImmediate(resolve));
    t.same(late.events, []);
  });

  t.test("a slow reader fills the buffer, gets all of it, and is then reported as caught up", async (t) => {
    let hasMore = false;
    const live = new Live({
      drained: () => {
        if (hasMore) live.connection.send("y".repeat(16 * MIB));
        hasMore = false;
      },
    });
    const { client } = await opened(t, create, live);
    await client.until(() => client.text === "first\n");
    client.incoming.pause();
    const sent = await fill(live, 4 * MIB);
    hasMore = true;
    t.ok(live.connection.bufferedBytes >= 4 * MIB, `${live.connection.bufferedBytes} bytes are held`);
    client.incoming.resume();
    await client.until(() => client.bytes === "first\n".length + sent + 16 * MIB);
    t.ok(live.events.includes("drained"), "and what it sent then arrived too");
    live.connection.send("end");
    live.connection.end();
    t.equal(await client.ended(), true);
  });

  t.test("an end waits for a slow reader", async (t) => {
    const { live, client } = await opened(t, create);
    client.incoming.pause();
    const sent = await fill(live, 2 * MIB);
    live.connection.end();
    client.incoming.resume();
    t.equal(await client.ended(), true);
    t.equal(client.bytes, sent + "first\n".length);
  });

  t.test("more bytes than a connection may buffer cut it", async (t) => {
    const { live, client } = await opened(t, create);
    client.incoming.pause();
    const message = Buffer.alloc(8 * MIB, "x");
    for (let count = 0; count < 12; count += 1) live.connection.send(message);
    await until("the cut", () => live.events.includes("closed"));
    client.incoming.resume();
    t.equal(await client.ended(), false);
  });

  t.test("closing ends live answers whole, and cuts a reader that does not read in time", async (t) => {
    const first = await opened(t, create);
    await first.client.until(() => first.client.text === "first\n");
    await first.transport.close(AMPLE_MS);
    t.equal(await first.client.ended(), true);
    t.same(first.live.ends, ["open", "closed"]);

    const slow = await opened(t, create);
    slow.client.incoming.pause();
    await fill(slow.live, 2 * MIB);
    await slow.transport.close(20);
    await until("the cut", () => slow.live.events.includes("closed"));
    slow.client.incoming.resume();
    t.equal(await slow.client.ended(), false);
  });
}
