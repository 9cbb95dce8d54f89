import { once } from "node:events";
import type { Test } from "tap";
import WebSocket from "ws";
import type { Socket } from "../../http/wire/socket.js";
import { RawConnection } from "../support/raw-connection.js";
import { type CreateTransport, listen, socketHandler, text } from "./transport.js";

const MAX = 4 * 1024;

async function readClose(ws: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  const [code, reason] = (await once(ws, "close")) as [number, Buffer];
  return { code, reason: reason.toString() };
}

async function readMessage(ws: WebSocket): Promise<string> {
  const [data] = (await once(ws, "message")) as [Buffer];
  return data.toString();
}

/** Tests that a transport handles WebSockets correctly. */
export function socketConformance(t: Test, create: CreateTransport): void {
  /**
   * Connects a client to an endpoint that echoes messages. Records the messages that the endpoint's handler receives.
   */
  const echoing = async (t: Test, protocols: string[] = []) => {
    const received: string[] = [];
    let ended: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const opened: Socket[] = [];
    const { port, transport } = await listen(t, create, {
      upgrade: async ({ path, query, header }) => ({
        maxMessageBytes: MAX,
        headers: {},
        open: (socket) => {
          opened.push(socket);
          socket.send(`${path} ${query.get("q")} ${header("x-own")}`);
          return socketHandler({
            message: (message) => {
              received.push(message);
              socket.send(`echo ${message}`);
            },
            closed: () => {
              received.push("closed");
              ended();
            },
          });
        },
      }),
    });
    const ws = new WebSocket(`ws://127.0.0.1:${port}/a%20b?q=1`, protocols, { headers: { "X-Own": "me" } });
    ws.on("error", () => undefined);
    t.teardown(() => ws.terminate());
    const first = await readMessage(ws);
    return { ws, first, received, closed, socket: opened[0] as Socket, transport, port };
  };

  t.test("an open socket sends and receives in order, from the message it sends as it opens", async (t) => {
    const { ws, first } = await echoing(t);
    t.equal(first, "/a%20b 1 me");
    const all: string[] = [];
    ws.on("message", (data) => all.push(data.toString()));
    for (let count = 0; count < 100; count++) ws.send(`message ${count} ✓`);
    while (all.length < 100) await once(ws, "message");
    t.same(
      all,
      Array.from({ length: 100 }, (_, count) => `echo message ${count} ✓`),
    );
  });

  t.test("the response to an upgrade has the headers of that upgrade alone", async (t) => {
    const { port } = await listen(t, create, {
      upgrade: async ({ path }) => ({
        maxMessageBytes: MAX,
        headers: { "x-own": path },
        open: () => socketHandler({}),
      }),
    });
    const opened = async (path: string, key = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]) => {
      const connection = await RawConnection.open(port);
      t.teardown(async () => connection.destroy());
      const lines = ["Host: a", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", ...key];
      connection.send([`GET ${path} HTTP/1.1`, ...lines]);
      const { status, headers } = await connection.answer();
      return { status, own: headers["x-own"] };
    };
    t.same(await opened("/first"), { status: 101, own: "/first" });
    await opened("/without-a-key", []);
    t.same(await opened("/second"), { status: 101, own: "/second" });
  });

  t.test("no sub-protocol is agreed on, and none is needed", async (t) => {
    const { port } = await listen(t, create, {
      upgrade: async () => ({ maxMessageBytes: MAX, headers: {}, open: () => socketHandler({}) }),
    });
    const ws = new WebSocket(`ws://127.0.0.1:${port}/`, ["one", "two"]);
    t.teardown(() => ws.terminate());
    const [error] = (await once(ws, "error")) as [Error];
    t.match(error.message, /no subprotocol/i);
  });

  t.test("a message of exactly the limit is accepted, a longer one closes with 1009", async (t) => {
    const { ws, received } = await echoing(t);
    ws.send("x".repeat(MAX));
    t.equal((await readMessage(ws)).length, MAX + 5);
    ws.send("x".repeat(MAX + 1));
    t.equal((await readClose(ws)).code, 1009);
    t.equal(received[0]?.length, MAX);
    t.notOk(received.some((message) => message.length > MAX));
  });

  t.test("a binary message closes with 1003, text that is not UTF-8 with 1007 or at once", async (t) => {
    const binary = await echoing(t);
    binary.ws.send(Buffer.from([1, 2]));
    t.equal((await readClose(binary.ws)).code, 1003);
    const broken = await echoing(t);
    broken.ws.send(Buffer.from([0xff, 0xfe]), { binary: false });
    t.ok([1007, 1006].includes((await readClose(broken.ws)).code));
    await broken.closed;
    t.same(broken.received, ["closed"]);
  });

  t.test("a close sends its code and reason, and nothing is sent after it", async (t) => {
    const { ws, socket, closed, received } = await echoing(t);
    socket.close(4_401, "not any more");
    socket.send("too late");
    socket.ping();
    t.same(await readClose(ws), { code: 4_401, reason: "not any more" });
    await closed;
    socket.send("much too late");
    socket.close(1_000, "again");
    t.equal(socket.bufferedBytes, 0);
    t.same(received, ["closed"], "closed is reported once, and nothing after it");
  });

  t.test("a peer that closes and a peer that vanishes are both reported as closed", async (t) => {
    const polite = await echoing(t);
    polite.ws.close(1_000, "bye");
    await polite.closed;
    const rude = await echoing(t);
    rude.ws.terminate();
    await rude.closed;
    t.same([polite.received, rude.received], [["closed"], ["closed"]]);
  });

  t.test("pings are answered, and a ping of ours arrives", async (t) => {
    const { ws, socket } = await echoing(t);
    const pong = once(ws, "pong");
    ws.ping();
    await pong;
    const ping = once(ws, "ping");
    socket.ping();
    await ping;
    t.pass();
  });

  t.test("a slow reader fills the buffer, and drained is called once it has read everything", async (t) => {
    let drained: () => void = () => undefined;
    const drainedOnce = new Promise<void>((resolve) => {
      drained = resolve;
    });
    const opened: Socket[] = [];
    const { port } = await listen(t, create, {
      upgrade: async () => ({
        maxMessageBytes: MAX,
        headers: {},
        open: (socket) => {
          opened.push(socket);
          return socketHandler({ drained: () => drained() });
        },
      }),
    });
    const ws = new WebSocket(`ws://127.0.0.1:${port}/`);
    t.teardown(() => ws.terminate());
    let received = 0;
    ws.on("message", () => {
      received += 1;
    });
    await once(ws, "open");
    ws.pause();
    const message = "x".repeat(1024 * 1024);
    const socket = opened[0] as Socket;
    let sent = 0;
    // The kernel's buffers accept the first bytes. Only the remaining bytes count as buffered.
    while (socket.bufferedBytes < 4 * 1024 * 1024 && sent < 48) {
      socket.send(message);
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(socket.bufferedBytes >= 4 * 1024 * 1024, `${socket.bufferedBytes} bytes are held`);
    ws.resume();
    await drainedOnce;
    t.equal(socket.bufferedBytes, 0);
    while (received < sent) await once(ws, "message");
    t.equal(received, sent, "nothing was lost");
  });

  t.test("what is sent once a slow reader has caught up goes out whole, however long", async (t) => {
    const long = 16 * 1024 * 1024;
    const opened: Socket[] = [];
    const { port } = await listen(t, create, {
      upgrade: async () => ({
        maxMessageBytes: MAX,
        headers: {},
        open: (socket) => {
          opened.push(socket);
          let hasAnswered = false;
          const drained = () => {
            if (!hasAnswered) socket.send("y".repeat(long));
            hasAnswered = true;
          };
          return socketHandler({ drained });
        },
      }),
    });
    const ws = new WebSocket(`ws://127.0.0.1:${port}/`);
    t.teardown(() => ws.terminate());
    await once(ws, "open");
    ws.pause();
    const socket = opened[0] as Socket;
    for (let sent = 0; socket.bufferedBytes === 0 && sent < 48; sent++) {
      socket.send("x".repeat(1024 * 1024));
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(socket.bufferedBytes > 0);
    const arrived = new Promise<void>((resolve) => {
      ws.on("message", (data: Buffer) => data.length === long && resolve());
    });
    ws.resume();
    await arrived;
    t.pass("without anything else being sent");
  });

  t.test("a refused upgrade is answered like a request, and requests on other connections continue", async (t) => {
    const { connect } = await listen(t, create, {
      upgrade: async () => ({ refused: { status: 401, headers: { "x-own": "1" }, body: "not you" } }),
    });
    const connection = await connect();
    connection.send([
      "GET /socket HTTP/1.1",
      "Host: a",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]);
    const answer = await connection.answer();
    t.equal(answer.status, 401);
    t.equal(answer.body, "not you");
    t.equal(answer.headers["x-own"], "1");
    const plain = await connect();
    plain.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await plain.answer()).status, 200);
  });

  t.test("a peer that disconnects before its upgrade is decided opens no socket", async (t) => {
    let opened = false;
    let decide: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const { port, connect } = await listen(t, create, {
      request: () => text("still here"),
      upgrade: async () => {
        asked();
        await decided;
        return {
          maxMessageBytes: MAX,
          headers: {},
          open: () => {
            opened = true;
            return socketHandler({});
          },
        };
      },
    });
    const ws = new WebSocket(`ws://127.0.0.1:${port}/`);
    ws.on("error", () => undefined);
    await wasAsked;
    const gone = new Promise((resolve) => {
      ws.once("close", resolve);
    });
    ws.terminate();
    await gone;
    // Complete a request on a connection that was opened later. The transport has then also noticed that the earlier
    // connection ended.
    const after = await connect();
    after.send(["GET / HTTP/1.1", "Host: a"]);
    await after.answer();
    decide();
    after.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await after.answer()).body, "still here");
    t.equal(opened, false);
  });
}
