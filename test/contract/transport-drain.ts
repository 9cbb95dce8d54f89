import { once } from "node:events";
import type { Test } from "tap";
import WebSocket from "ws";
import { type CreateTransport, listen, socketHandler, text } from "./transport.js";

/** Tests that a transport starts and shuts down correctly. */
export function drainConformance(t: Test, create: CreateTransport): void {
  t.test("closing finishes requests in progress and accepts no new connection", async (t) => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun: () => void = () => undefined;
    const inProgress = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { connect, transport } = await listen(t, create, {
      request: async () => {
        begun();
        await finished;
        return text("finished");
      },
    });
    const connection = await connect();
    const idle = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await inProgress;
    const closed = transport.close(60_000);
    await t.rejects(connect());
    finish();
    const answer = await connection.answer();
    t.equal(answer.body, "finished");
    t.equal(answer.headers.connection?.toLowerCase(), "close");
    await closed;
    await Promise.all([connection.end(), idle.end()]);
  });

  t.test("while it closes, what comes on an open connection is answered as its last, or it has ended", async (t) => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const inProgress: string[] = [];
    const { connect, transport } = await listen(t, create, {
      request: ({ path }) => {
        if (path !== "/waits") return text("ok");
        inProgress.push(path);
        return finished.then(() => text("finished"));
      },
    });
    const [waiting, head, get] = [await connect(), await connect(), await connect()];
    // Send only a part of a request on two connections. uWebSockets.js keeps such connections open; node:http ends
    // them.
    head.write("HEAD / HTTP/1.1\r\n");
    get.write("GET / HTTP/1.1\r\n");
    waiting.send(["GET /waits HTTP/1.1", "Host: a"]);
    while (inProgress.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const closed = transport.close(60_000);
    for (const connection of [head, get]) {
      connection.send(["Host: a"]);
      const answer = await connection.answer({ head: connection === head }).catch(() => null);
      if (answer !== null) t.same([answer.status, answer.headers.connection?.toLowerCase()], [200, "close"]);
    }
    finish();
    t.equal((await waiting.answer()).body, "finished");
    await closed;
  });

  t.test("closing waits until a slow reader has received a large answer", async (t) => {
    let answered: () => void = () => undefined;
    const inProgress = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const big = "0123456789abcdef".repeat(1024 * 1024);
    const { connect, transport } = await listen(t, create, {
      request: () => {
        setImmediate(answered);
        return text(big);
      },
    });
    const connection = await connect();
    connection.socket.pause();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await inProgress;
    let isClosed = false;
    const closed = transport.close(60_000).then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(isClosed, false);
    connection.socket.resume();
    t.ok((await connection.answer()).body === big);
    await closed;
  });

  t.test("closing cuts off unfinished requests when its time is up", async (t) => {
    let begun: () => void = () => undefined;
    const inProgress = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { connect, transport } = await listen(t, create, {
      request: () => {
        begun();
        return new Promise(() => undefined);
      },
    });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await inProgress;
    await transport.close(20);
    t.equal(await connection.end(), "");
  });

  t.test("closing ends every socket with 1001", async (t) => {
    let received = 0;
    const { port, transport } = await listen(t, create, {
      upgrade: async () => ({
        maxMessageBytes: 100,
        headers: {},
        open: () =>
          socketHandler({
            closed: () => {
              received += 1;
            },
          }),
      }),
    });
    const sockets = [1, 2, 3].map(() => new WebSocket(`ws://127.0.0.1:${port}/`));
    await Promise.all(sockets.map((socket) => once(socket, "open")));
    const ends = sockets.map((socket) => once(socket, "close"));
    await transport.close(60_000);
    for (const [code] of await Promise.all(ends)) t.equal(code, 1001);
    t.equal(received, 3);
  });

  t.test("a taken port is refused with a message that names the address", async (t) => {
    const { port } = await listen(t, create, {});
    const second = create({
      request: async (_, send) => send(text("never")),
      upgrade: async () => ({ refused: text("never") }),
      malformed: () => text("never"),
    });
    t.teardown(() => second.close(0));
    await t.rejects(second.listen("127.0.0.1", port), { message: new RegExp(`127\\.0\\.0\\.1:${port}`) });
  });

  t.test("only one server can listen on an address, and the next can as soon as it closed", async (t) => {
    const { port, transport, connect } = await listen(t, create, {});
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await connection.answer()).status, 200);
    // Close on the server side first. The operating system keeps the state of a closed connection on the side that
    // closes first.
    await transport.close(0);
    await connection.end();
    const made = () => {
      const upgrade = async () => ({ refused: text("never") });
      const later = create({ request: async (_, send) => send(text("here")), upgrade, malformed: () => text("never") });
      t.teardown(() => later.close(0));
      return later;
    };
    t.equal(await made().listen("127.0.0.1", port), port);
    await t.rejects(made().listen("127.0.0.1", port), { message: new RegExp(`127\\.0\\.0\\.1:${port}`) });
  });
}
