import { once } from "node:events";
import type { Test } from "tap";
import type { StreamEnd, StreamedAnswer, StreamedBody } from "../../http/transport/transport.js";
import { type CreateTransport, listen, text } from "./transport.js";

/** Timeout for expected events, in milliseconds; much longer than anything takes on loopback. */
const AMPLE_MS = 60_000;
const PIECE = "0123456789abcdef".repeat(4 * 1024);

/** A streamed answer that counts the requested pieces and records how it ended. */
class Streamed {
  asked = 0;
  readonly ended: Promise<StreamEnd>;
  readonly ends: StreamEnd[] = [];
  readonly answer: StreamedAnswer;

  constructor(pieces: Iterable<string | Uint8Array>, more: Partial<StreamedBody> & Pick<StreamedBody, "length">) {
    let end: (how: StreamEnd) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    const close = (how: StreamEnd) => {
      this.ends.push(how);
      end(how);
    };
    const stream = { pieces: this.#counted(pieces), idleMs: AMPLE_MS, wholeMs: AMPLE_MS, close, ...more };
    this.answer = { status: 200, headers: { "content-type": "text/plain" }, stream };
  }

  *#counted(pieces: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
    for (const piece of pieces) {
      this.asked += 1;
      yield piece;
    }
  }
}

function* times(count: number): Generator<string> {
  for (let n = 0; n < count; n++) yield PIECE;
}

/** An answer of one gigabyte, which no buffer in the test can hold. */
const endless = (more: Partial<StreamedBody> = {}) =>
  new Streamed(times(16 * 1024), { length: 16 * 1024 * PIECE.length, ...more });

/** Tests that a transport sends streamed answers correctly. */
export function streamConformance(t: Test, create: CreateTransport): void {
  t.test(
    "a streamed answer arrives whole with its length, whatever its pieces are, and the connection stays open",
    async (t) => {
      const pieces = ["", "one ", Buffer.from("two "), "💥", "", PIECE.repeat(10), "end"];
      const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
      const made: Streamed[] = [];
      const { connect } = await listen(t, create, {
        request: () => {
          made.push(new Streamed(pieces, { length: whole.length }));
          return made.at(-1)?.answer ?? text("none");
        },
      });
      const connection = await connect();
      for (const count of [1, 2]) {
        connection.send(["GET / HTTP/1.1", "Host: a"]);
        const answer = await connection.answer();
        t.equal(answer.status, 200);
        t.equal(answer.headers["content-length"], String(whole.length));
        t.ok(answer.body === whole.toString("utf8"));
        t.same(await made.at(-1)?.ended, { isWhole: true });
        t.equal(made.length, count);
      }
      t.same(
        made.map(({ ends }) => ends.length),
        [1, 1],
        "each is closed once",
      );
    },
  );

  t.test("an answer to HEAD reads no piece and has the length; an empty body is whole", async (t) => {
    const streams = { HEAD: endless(), GET: new Streamed([], { length: 0 }) };
    const { connect } = await listen(t, create, { request: ({ method }) => streams[method as "GET"].answer });
    const connection = await connect();
    connection.send(["HEAD / HTTP/1.1", "Host: a"]);
    const head = await connection.answer({ head: true });
    t.equal(head.headers["content-length"], String(16 * 1024 * PIECE.length));
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await connection.answer()).body, "", "what follows is the next answer");
    t.equal(streams.HEAD.asked, 0);
    for (const { ended } of [streams.HEAD, streams.GET]) t.same(await ended, { isWhole: true });
  });

  t.test("pieces are read only as fast as the client takes them, and until it disconnects", async (t) => {
    const stream = endless();
    const { connect } = await listen(t, create, { request: () => stream.answer });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await once(connection.socket, "data");
    connection.socket.pause();
    // The operating systems of both sides buffer some megabytes per connection.
    for (let turns = 0, before = -1; turns < 200 || before !== stream.asked; turns++) {
      before = stream.asked;
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(stream.asked > 0 && stream.asked < 512, `${stream.asked} pieces were asked for`);
    t.same(stream.ends, []);
    connection.destroy();
    t.same(await stream.ended, { isWhole: false });
    t.same(stream.ends.length, 1);
  });

  t.test("a client that takes too long for a piece, or for the whole body, is cut off", async (t) => {
    for (const limit of [{ idleMs: 50 }, { wholeMs: 50 }]) {
      const stream = endless(limit);
      const { connect } = await listen(t, create, { request: () => stream.answer });
      const connection = await connect();
      connection.socket.pause();
      connection.send(["GET / HTTP/1.1", "Host: a"]);
      t.same(await stream.ended, { isWhole: false });
      connection.socket.resume();
      const got = await connection.end();
      t.ok(got.length < 16 * 1024 * PIECE.length);
    }
  });

  t.test("an error in the middle of a body breaks the connection off and is reported", async (t) => {
    const error = new Error("no more");
    const failing = function* () {
      yield "half";
      throw error;
    };
    const wrong: readonly (readonly [Iterable<string>, RegExp])[] = [
      [failing(), /no more/],
      [["half"], /8 bytes had 4/],
      [["half", "and more"], /8 bytes had 12/],
    ];
    for (const [pieces, message] of wrong) {
      const stream = new Streamed(pieces, { length: 8 });
      const { connect } = await listen(t, create, { request: () => stream.answer });
      const connection = await connect();
      connection.send(["GET / HTTP/1.1", "Host: a"]);
      const [head = "", body = ""] = (await connection.end()).split("\r\n\r\n");
      t.match(head, /content-length: 8/i);
      t.ok(body.length < 8, "nobody takes it for the whole");
      const { isWhole, error } = await stream.ended;
      t.equal(isWhole, false);
      t.match(String(error), message);
    }
  });

  t.test("closing waits until a slow reader has received a streamed answer", async (t) => {
    const stream = new Streamed(times(512), { length: 512 * PIECE.length });
    const { connect, transport } = await listen(t, create, { request: () => stream.answer });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await once(connection.socket, "data");
    connection.socket.pause();
    const closed = transport.close(AMPLE_MS);
    await new Promise((resolve) => setImmediate(resolve));
    t.same(stream.ends, []);
    connection.socket.resume();
    t.equal((await connection.answer()).body.length, 512 * PIECE.length);
    t.same(await stream.ended, { isWhole: true });
    await closed;
  });

  t.test("closing cuts a streamed answer when its time is up", async (t) => {
    const stream = endless();
    const { connect, transport } = await listen(t, create, { request: () => stream.answer });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    await once(connection.socket, "data");
    connection.socket.pause();
    await transport.close(20);
    t.same(await stream.ended, { isWhole: false });
  });

  t.test("an answer for a client that has disconnected is closed without a read", async (t) => {
    const stream = endless();
    const { connect } = await listen(t, create, {
      request: async (request) => {
        const aborted = once(request.signal, "abort");
        connection.destroy();
        await aborted;
        return stream.answer;
      },
    });
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    t.same(await stream.ended, { isWhole: false });
    t.equal(stream.asked, 0);
  });
}
