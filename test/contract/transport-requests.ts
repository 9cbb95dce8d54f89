import { once } from "node:events";
import type { Test } from "tap";
import {
  BodyCrowded,
  BodyTimeout,
  BodyTooLarge,
  ClientGone,
  type TransportRequest,
} from "../../http/transport/transport.js";
import { type CreateTransport, listen, text } from "./transport.js";

const LIMIT = 64 * 1024;
/** Timeout for expected input, in milliseconds; much longer than anything takes on loopback. */
const AMPLE_MS = 60_000;
/** A memory check that accepts every body. */
const anyBytes = () => true;

/** Returns the received request as text. */
async function describe(request: TransportRequest): Promise<string> {
  const body = Buffer.from(await request.body(LIMIT, AMPLE_MS, anyBytes)).toString("utf8");
  return JSON.stringify({ method: request.method, path: request.path, query: request.query, body });
}

/** Returns the answer for an error while reading the body. */
function toName(error: unknown): string {
  if (error instanceof BodyTooLarge) return "too large";
  if (error instanceof BodyCrowded) return "no room";
  if (error instanceof BodyTimeout) return "too slow";
  return error instanceof ClientGone ? "gone" : String(error);
}

/** Tests that a transport handles requests and answers correctly. */
export function requestConformance(t: Test, create: CreateTransport): void {
  t.test("a request arrives with its method, its path as it was sent, its query and its body", async (t) => {
    const { connect } = await listen(t, create, { request: async (request) => text(await describe(request)) });
    const connection = await connect();
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      connection.send([`${method} /a%2Fb/%E2%82%AC/c%20d?x=%20y&z HTTP/1.1`, "Host: a", "Content-Length: 2"], "hi");
      const answer = await connection.answer();
      t.equal(answer.status, 200);
      t.same(JSON.parse(answer.body), { method, path: "/a%2Fb/%E2%82%AC/c%20d", query: "x=%20y&z", body: "hi" });
    }
  });

  t.test("an answer to HEAD has the headers of a GET and no body", async (t) => {
    const { connect } = await listen(t, create, { request: ({ method }) => text(`${method} answered`) });
    const connection = await connect();
    connection.send(["HEAD / HTTP/1.1", "Host: a"]);
    const head = await connection.answer({ head: true });
    t.equal(head.status, 200);
    t.equal(head.headers["content-length"], "13");
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await connection.answer()).body, "GET answered", "what follows is the next answer");
  });

  t.test("a HEAD with a body that nobody reads is answered, at once or later, and the next client too", async (t) => {
    for (const request of [() => text("ok"), async () => text("ok")]) {
      const { connect } = await listen(t, create, { request });
      for (let times = 0; times < 2; times += 1) {
        const connection = await connect();
        connection.send(["HEAD / HTTP/1.1", "Host: a", "Content-Length: 4"], "abcd");
        const head = await connection.answer({ head: true });
        t.same([head.status, head.headers.connection?.toLowerCase()], [200, "close"]);
      }
    }
  });

  t.test("204 and 304 carry neither body nor length", async (t) => {
    const { connect } = await listen(t, create, {
      request: ({ path }) => ({ status: Number(path.slice(1)), headers: { "x-own": "1" }, body: "" }),
    });
    const connection = await connect();
    for (const status of [204, 304, 204]) {
      connection.send([`GET /${status} HTTP/1.1`, "Host: a"]);
      const answer = await connection.answer();
      t.equal(answer.status, status);
      t.equal(answer.headers["x-own"], "1");
      if (status === 204) t.notOk(answer.headers["content-length"]);
    }
  });

  t.test("header names are found in lower case, and several of one name are joined", async (t) => {
    const { connect } = await listen(t, create, {
      request: (request) =>
        text(["x-one", "cookie", "authorization", "x-none"].map((name) => String(request.header(name))).join("|")),
    });
    const connection = await connect();
    const credentials = ["Authorization: Basic YTpi", "authorization: Basic YTpj"];
    connection.send([
      "GET / HTTP/1.1",
      "Host: a",
      "X-ONE: 1",
      "x-One:2 ",
      "COOKIE: a=1",
      "Cookie: b=2",
      ...credentials,
    ]);
    t.equal((await connection.answer()).body, "1, 2|a=1; b=2|Basic YTpi, Basic YTpj|undefined");
  });

  t.test("a missing body is empty", async (t) => {
    const { connect } = await listen(t, create, { request: async (request) => text(await describe(request)) });
    const connection = await connect();
    for (const lines of [["Content-Length: 0"], [], ["Transfer-Encoding: chunked"]]) {
      connection.send(["POST / HTTP/1.1", "Host: a", ...lines], lines[0]?.startsWith("T") ? "0\r\n\r\n" : "");
      t.equal(JSON.parse((await connection.answer()).body).body, "");
    }
  });

  t.test("a chunked body arrives whole, whatever its chunks are", async (t) => {
    const { connect } = await listen(t, create, { request: async (request) => text(await describe(request)) });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"]);
    for (const piece of ["4\r\nsig", "n\r\n3\r", "\nalb\r\n", "2\r\nox\r\n0\r\n", "\r\n"]) {
      connection.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(JSON.parse((await connection.answer()).body).body, "signalbox");
  });

  t.test("after a chunked body node:http takes further requests; uWebSockets.js ends the connection", async (t) => {
    const { connect, transport } = await listen(t, create, {
      request: async (request) => {
        await request.body(LIMIT, AMPLE_MS, anyBytes);
        return request.path === "/none" ? { status: 204, headers: {}, body: "" } : text(request.path);
      },
    });
    for (const [path, status] of [
      ["/some", 200],
      ["/none", 204],
    ] as const) {
      const connection = await connect();
      connection.send([`POST ${path} HTTP/1.1`, "Host: a", "Transfer-Encoding: chunked"], "2\r\nhi\r\n0\r\n\r\n");
      t.equal((await connection.answer()).status, status);
      connection.send(["GET /next HTTP/1.1", "Host: a"]);
      if (transport.name === "node") t.equal((await connection.answer()).body, "/next");
      else t.equal(await connection.end(), "");
    }
  });

  t.test("a second line called Host, and an encoding that is not chunked once, are answered with 400", async (t) => {
    const { connect } = await listen(t, create, { request: async (request) => text(await describe(request)) });
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    const requests = [
      ["GET / HTTP/1.1", "Host: a", "Host: a"],
      ["GET / HTTP/1.1", "Host: a", "X-Between: 1", "HOST: b"],
      ["GET / HTTP/1.1", "Host: a", "Host: b", ...upgrade, key],
      ["POST / HTTP/1.1", "Host: a", "Host: b", "Content-Length: 0"],
      ["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "transfer-encoding: identity"],
    ];
    for (const lines of requests) {
      const connection = await connect();
      connection.send(lines, lines.some((line) => /chunked/.test(line)) ? "0\r\n\r\n" : "");
      t.equal((await connection.answer()).status, 400, lines.join(" | "));
      t.equal(await connection.end(), "");
    }
  });

  t.test("a body with too large a content-length is refused before it is sent", async (t) => {
    const { connect } = await listen(t, create, {
      request: (request) =>
        request.body(LIMIT, AMPLE_MS, anyBytes).then(
          () => text("took it"),
          (error) => text(toName(error)),
        ),
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", `Content-Length: ${LIMIT + 1}`]);
    const answer = await connection.answer();
    t.equal(answer.body, "too large");
    t.equal(answer.headers.connection?.toLowerCase(), "close", "what follows cannot be told from the body");
  });

  t.test("a body that grows too long is refused while it is being sent", async (t) => {
    const { connect } = await listen(t, create, {
      request: (request) =>
        request.body(LIMIT, AMPLE_MS, anyBytes).then(
          () => text("took it"),
          (error) => text(toName(error)),
        ),
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"]);
    for (let sent = 0; sent <= LIMIT; sent += 1_024) connection.write(`400\r\n${"x".repeat(1_024)}\r\n`);
    t.equal((await connection.answer()).body, "too large");
  });

  t.test("a body of exactly the limit is accepted", async (t) => {
    const { connect } = await listen(t, create, {
      request: async (request) => text(String((await request.body(LIMIT, AMPLE_MS, anyBytes)).length)),
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", `Content-Length: ${LIMIT}`], "x".repeat(LIMIT));
    t.equal((await connection.answer()).body, String(LIMIT));
  });

  t.test("a body asks for its declared length at once, and one of unknown length as it grows", async (t) => {
    const asked: number[] = [];
    const holdBytes = (bytes: number) => asked.push(bytes) > 0;
    const { connect } = await listen(t, create, {
      request: async (request) => text(String((await request.body(LIMIT, AMPLE_MS, holdBytes)).length)),
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 20000"], "x".repeat(20_000));
    t.equal((await connection.answer()).body, "20000");
    t.same(asked.splice(0), [20_000]);
    connection.send(["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"]);
    for (let sent = 0; sent < 20; sent++) connection.write(`400\r\n${"x".repeat(1_024)}\r\n`);
    connection.write("0\r\n\r\n");
    t.equal((await connection.answer()).body, "20480");
    t.ok(
      asked.every((bytes, index) => index === 0 || bytes >= 2 * (asked[index - 1] ?? 0)),
      "it doubles",
    );
    t.ok((asked.at(-1) ?? 0) >= 20_480 && (asked.at(-1) ?? 0) <= LIMIT);
  });

  t.test("a body for which there is no room is dropped, and its sender gets the answer", async (t) => {
    const { connect } = await listen(t, create, {
      request: async (request) => {
        if (request.method === "GET") return text(request.path);
        const failed = await request.body(16 * LIMIT, AMPLE_MS, (bytes) => bytes <= 8_192).catch(toName);
        await request.dropBody(AMPLE_MS);
        return text(String(failed), 429);
      },
    });
    const declared = await connect();
    declared.send(["POST / HTTP/1.1", "Host: a", `Content-Length: ${16 * LIMIT}`], "x".repeat(16 * LIMIT));
    t.match(await declared.answer(), { status: 429, body: "no room" });
    declared.send(["GET /next HTTP/1.1", "Host: a"]);
    t.equal((await declared.answer()).body, "/next");
    const chunked = await connect();
    chunked.send(["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"]);
    for (let sent = 0; sent < 64; sent++) chunked.write(`400\r\n${"x".repeat(1_024)}\r\n`);
    chunked.write("0\r\n\r\n");
    t.match(await chunked.answer(), { status: 429, body: "no room" });
  });

  t.test("the rest of a refused body is waited for only so long", async (t) => {
    const { connect } = await listen(t, create, {
      request: async (request) => {
        await request.dropBody(50);
        return text("no room", 429);
      },
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 10"], "half");
    const answer = await connection.answer();
    t.equal(answer.status, 429);
    t.equal(answer.headers.connection?.toLowerCase(), "close");
  });

  t.test("a body that does not arrive in time is refused", async (t) => {
    const { connect } = await listen(t, create, {
      request: (request) =>
        request.body(LIMIT, 50, anyBytes).then(
          () => text("took it"),
          (error) => text(toName(error), 408),
        ),
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 10"], "half");
    const answer = await connection.answer();
    t.equal(answer.status, 408);
    t.equal(answer.body, "too slow");
    t.equal(answer.headers.connection?.toLowerCase(), "close");
  });

  t.test("a body that is not read is not mistaken for the next request", async (t) => {
    const { connect } = await listen(t, create, { request: ({ path }) => text(path) });
    const connection = await connect();
    connection.send(
      ["POST /one HTTP/1.1", "Host: a", "Content-Length: 60"],
      "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    t.equal((await connection.answer()).body, "/one");
    connection.write("x".repeat(60));
    t.notMatch(await connection.end(), /smuggled/);
  });

  t.test("a body that still arrives after its answer does no harm", async (t) => {
    const { connect } = await listen(t, create, { request: ({ path }) => text(path) });
    const connection = await connect();
    connection.send(["POST /one HTTP/1.1", "Host: a", "Content-Length: 10000000"]);
    t.equal((await connection.answer()).body, "/one");
    for (let sent = 0; sent < 32; sent++) connection.write("x".repeat(32 * 1024));
    await connection.end();
    const other = await connect();
    other.send(["GET /two HTTP/1.1", "Host: a"]);
    t.equal((await other.answer()).body, "/two");
  });

  t.test("a client that waits for 100 Continue gets it only when the body is wanted", async (t) => {
    const { connect } = await listen(t, create, {
      request: async (request) => text(request.path === "/wanted" ? await describe(request) : "no need", 200),
    });
    const wanted = await connect();
    wanted.send(["POST /wanted HTTP/1.1", "Host: a", "Content-Length: 2", "Expect: 100-continue"]);
    t.equal((await wanted.answer()).status, 100);
    wanted.write("hi");
    t.equal(JSON.parse((await wanted.answer()).body).body, "hi");
  });

  t.test("one connection carries one request after another", async (t) => {
    const { connect } = await listen(t, create, { request: ({ path }) => text(path) });
    const connection = await connect();
    for (let count = 0; count < 50; count++) {
      connection.send([`GET /${count} HTTP/1.1`, "Host: a"]);
      t.equal((await connection.answer()).body, `/${count}`);
    }
  });

  t.test("requests sent without waiting are answered in their order, or the connection ends", async (t) => {
    const { connect } = await listen(t, create, {
      request: async ({ path }) => {
        // The handler takes longer for earlier requests, so it completes later requests first.
        for (let turns = 10 - (Number(path.slice(1)) || 0); turns > 0; turns--)
          await new Promise((go) => setImmediate(go));
        return text(path);
      },
    });
    const connection = await connect();
    connection.write(Array.from({ length: 10 }, (_, count) => `GET /${count} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
    let next = 0;
    for (; next < 10; next++) {
      const answer = await connection.answer().catch(() => null);
      if (answer === null) break;
      t.equal(answer.body, `/${next}`);
    }
    if (next < 10) t.equal(await connection.end(), "", "an ended connection says nothing more");
    const again = await connect();
    again.send(["GET /again HTTP/1.1", "Host: a"]);
    t.equal((await again.answer()).body, "/again");
  });

  t.test("a disconnect of the client is noticed and rejects its body", async (t) => {
    let seen: (what: string) => void = () => undefined;
    const noticed = new Promise<string>((resolve) => {
      seen = resolve;
    });
    const { connect } = await listen(t, create, {
      request: async (request) => {
        const aborted = once(request.signal, "abort");
        const body = request.body(LIMIT, AMPLE_MS, anyBytes).catch(toName);
        connection.destroy();
        await aborted;
        const why = request.signal.reason instanceof ClientGone ? "gone" : "not known why";
        seen(`aborted: ${why}, ${request.isGone}, ${await body}`);
        return text("nobody reads this");
      },
    });
    const connection = await connect();
    connection.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 10"], "half");
    t.equal(await noticed, "aborted: gone, true, gone");
  });

  t.test("a large answer reaches a slow reader whole", async (t) => {
    const big = "0123456789abcdef".repeat(512 * 1024);
    const { connect } = await listen(t, create, { request: () => text(big) });
    const connection = await connect();
    connection.socket.pause();
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    connection.socket.resume();
    const answer = await connection.answer();
    t.ok(answer.body === big);
    connection.send(["GET / HTTP/1.1", "Host: a"]);
    t.equal((await connection.answer()).body.length, big.length, "and the connection goes on");
  });

  t.test("headers without end are refused, and the connection ends", async (t) => {
    const { connect } = await listen(t, create, {});
    const connection = await connect();
    connection.send(["GET / HTTP/1.1", "Host: a", `X-Long: ${"x".repeat(64 * 1024)}`]);
    const answer = await connection.answer();
    t.ok(answer.status === 431 || answer.status === 400, `answered ${answer.status}`);
    await connection.end();
  });

  t.test("an invalid HTTP request, or one of unclear length, is refused and ends the connection", async (t) => {
    const { connect } = await listen(t, create, { request: async (request) => text(await describe(request)) });
    const bad = [
      "this is not http\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: nine\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    ];
    const behind = "GET /behind HTTP/1.1\r\nHost: a\r\n\r\n";
    const unclear = [
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${behind.length}\r\n\r\n`,
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    ];
    for (const bytes of [...bad, ...unclear, ...unclear.map((each) => `${each}${behind}`)]) {
      const connection = await connect();
      connection.write(bytes);
      const got = await connection.end();
      t.ok(got === "" || /^HTTP\/1\.1 (4\d\d|505) /.test(got), JSON.stringify([bytes, got.slice(0, 60)]));
      t.notMatch(got, "/behind");
    }
  });
}
