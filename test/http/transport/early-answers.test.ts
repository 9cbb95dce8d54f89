import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import { DROP_BYTES } from "../../../http/transport/transport.js";
import { startTestService } from "../../support/service.js";

/** Tests what a client receives if the service answers while the client is still sending. */

const MEGABYTES = 50;
const PIECE = Buffer.alloc(1024 * 1024, "x");
const BODY_BYTES = MEGABYTES * PIECE.length;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly isChunked: boolean;
}

interface Got {
  readonly status: number;
  readonly body: string;
}

type SendFrom = (port: number, sent: Sent) => Promise<Got>;

async function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  if (!socket.write(bytes)) await once(socket, "drain");
}

/**
 * Sends the whole request before it reads the answer, like a blocking client. `head` contains additional header lines.
 */
async function sendBlocking(port: number, { method, path, isChunked }: Sent, head = ""): Promise<Got> {
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  await once(socket, "connect");
  const framing = isChunked ? "transfer-encoding: chunked" : `content-length: ${BODY_BYTES}`;
  await write(
    socket,
    `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\n${head}${framing}\r\n\r\n`,
  );
  for (let sent = 0; sent < MEGABYTES; sent++) {
    if (isChunked) await write(socket, `${PIECE.length.toString(16)}\r\n`);
    await write(socket, PIECE);
    if (isChunked) await write(socket, "\r\n");
  }
  if (isChunked) await write(socket, "0\r\n\r\n");
  const answer = await text(socket);
  const final = answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
  return { status: Number(final.split(" ")[1]), body: final.slice(final.indexOf("\r\n\r\n") + 4) };
}

const byBlockingWriter: SendFrom = (port, sent) => sendBlocking(port, sent);

/** A client that sends `expect: 100-continue`, but does not wait for the 100 response (RFC 9110, 10.1.1). */
const byImpatientClient: SendFrom = (port, sent) => sendBlocking(port, sent, "expect: 100-continue\r\n");

const byNodeClient: SendFrom = async (port, { method, path, isChunked }) => {
  const headers = { "content-type": "application/json", ...(isChunked ? {} : { "content-length": BODY_BYTES }) };
  const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false });
  const answered = once(request, "response");
  for (let sent = 0; sent < MEGABYTES; sent++) {
    if (!request.write(PIECE)) await Promise.race([once(request, "drain"), answered]);
  }
  request.end();
  const [response] = await answered;
  return { status: response.statusCode, body: await text(response) };
};

/** Sends in chunks, because this client takes seconds to copy a body of known length. */
const byFetch: SendFrom = async (port, { method, path }) => {
  let sent = 0;
  const body = new ReadableStream({
    pull: (controller) => {
      if (sent < MEGABYTES) controller.enqueue(PIECE);
      else controller.close();
      sent += 1;
    },
  });
  const init: RequestInit & { duplex: "half" } = {
    method,
    body,
    duplex: "half",
    headers: { "content-type": "application/json" },
  };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: answer.status, body: await answer.text() };
};

const clients = {
  "a blocking writer": byBlockingWriter,
  "a client that does not wait for 100 Continue": byImpatientClient,
  "node:http": byNodeClient,
  fetch: byFetch,
};

/** Requests that are answered before their body has arrived. */
const early: readonly (readonly [why: string, method: string, path: string, status: number, slug: RegExp])[] = [
  ["too large", "POST", "/api/sign-in", 413, /"The body may be at most 262144 bytes\."/],
  ["no credential", "POST", "/api/resources/workspaces", 401, /"status":401/],
  ["no route", "PUT", "/api/none", 404, /"status":404/],
];

async function readService(t: Test, transport: string) {
  return startTestService(t, { settings: { TRANSPORT: transport } });
}

for (const transport of ["uws", "node"]) {
  for (const [name, sendFrom] of Object.entries(clients)) {
    t.test(`over ${transport}, ${name} gets the whole answer to 50 MB that are refused`, async (t) => {
      const { port } = await readService(t, transport);
      for (const [why, method, path, status, said] of early) {
        for (const isChunked of status === 413 ? [false, true] : [false]) {
          const got = await sendFrom(port, { method, path, isChunked });
          t.equal(got.status, status, `${why}, ${isChunked ? "chunked" : "declared"}`);
          t.match(got.body, said);
          t.ok(JSON.parse(got.body));
        }
      }
    });
  }

  t.test(`over ${transport}, a body that nobody reads does not cost the answer to its request`, async (t) => {
    const { port } = await readService(t, transport);
    const got = await byBlockingWriter(port, { method: "GET", path: "/healthz", isChunked: false });
    t.match(got, { status: 200, body: /ok/ });
    const path = `/healthz HTTP/1.1\r\nx-long: ${"x".repeat(17 * 1024)}\r\nx-rest:`;
    const malformed = await byBlockingWriter(port, { method: "POST", path, isChunked: false });
    t.match(malformed, { status: 431, body: /longer than 16 KiB/ });
  });

  t.test(`over ${transport}, a client that sends without end is read from no longer, and answered`, async (t) => {
    const { port } = await readService(t, transport);
    const socket = connect(port, "127.0.0.1");
    t.teardown(() => socket.destroy());
    let answer = "";
    const answered = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        answer += chunk;
        if (answer.endsWith("}")) resolve();
      });
      socket.on("close", () => resolve()).on("error", () => undefined);
    });
    socket.write("POST /api/sign-in HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), PIECE, Buffer.from("\r\n")]);
    let sent = 0;
    for (; answer === "" && sent < 4 * DROP_BYTES; sent += PIECE.length) {
      const isTaken = socket.write(chunk);
      if (!isTaken) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), answered]);
    }
    await answered;
    t.match(answer, /^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*"status":413.*\}$/i);
    t.ok(sent >= DROP_BYTES && sent < 2 * DROP_BYTES, `${sent} bytes were taken`);
  });
}
