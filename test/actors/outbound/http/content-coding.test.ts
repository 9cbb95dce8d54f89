import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";

const MAX = 100_000;

/** Returns the requested encodings, and a function that reads the host's answer. */
async function arrange(t: Test, answer: (response: ServerResponse) => void) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers["accept-encoding"]?.toString());
    request.resume();
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutbound({ allowList: parseAllowList(origin), maxBodyBytes: MAX });
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });
  const get = (headers: Record<string, string> = {}, timeoutMs = 60_000) =>
    outbound.get({ url: new URL(origin), headers, timeoutMs, signal: new RunAbort() });
  return { asked, get };
}

/** Returns the outcome of an answer with these bytes. */
async function readAnswer(t: Test, coding: string | string[], bytes: Buffer, status = 200) {
  const { get } = await arrange(t, (response) => {
    response.setHeader("content-encoding", coding).writeHead(status).end(bytes);
  });
  const { body, unread } = await get();
  return unread === undefined ? body : unread;
}

t.test("each request asks for the codings that are decoded, unless its headers ask for others", async (t) => {
  const { asked, get } = await arrange(t, (response) => response.end());
  await get();
  await get({ "accept-encoding": "identity" });
  t.same(asked, ["gzip, deflate, br", "identity"]);
});

t.test("a body is decoded by its codings, whatever the status", async (t) => {
  const text = "said ".repeat(1_000);
  const bytes = Buffer.from(text);
  const bodies: readonly [string | string[], Buffer, number?][] = [
    ["gzip", gzipSync(bytes)],
    ["GZIP", gzipSync(bytes)],
    ["x-gzip", gzipSync(bytes)],
    ["deflate", deflateSync(bytes)],
    ["br", brotliCompressSync(bytes)],
    ["gzip, br", brotliCompressSync(gzipSync(bytes))],
    [["gzip", "br"], brotliCompressSync(gzipSync(bytes))],
    ["identity, gzip", gzipSync(bytes)],
    ["gzip", Buffer.concat([gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))])],
    ["gzip", gzipSync(bytes), 404],
    ["br", brotliCompressSync(bytes), 503],
    ["", bytes],
    ["identity", bytes],
    ["UTF-8", bytes],
  ];
  for (const [coding, body, status] of bodies) t.equal(await readAnswer(t, coding, body, status), text, String(coding));
  for (const coding of ["gzip", "deflate", "br"]) t.equal(await readAnswer(t, coding, Buffer.alloc(0)), "", coding);
});

t.test("a body that does not decode, or whose coding is not known, is unread", async (t) => {
  const whole = gzipSync("said ".repeat(1_000));
  const broken = { kind: "coding", reason: "its content coding cannot be decoded" };
  t.same(await readAnswer(t, "gzip", Buffer.from("said")), broken);
  for (const coding of ["gzip", "deflate", "br"]) {
    t.same(await readAnswer(t, coding, Buffer.alloc(100, 255)), broken, coding);
    t.same(await readAnswer(t, coding, Buffer.from("said")), broken, coding);
  }
  t.same(await readAnswer(t, "gzip", whole.subarray(0, whole.length - 9)), broken);
  t.same(await readAnswer(t, "br", brotliCompressSync("said".repeat(99)).subarray(0, 10)), broken);
  for (const coding of ["compress", "snappy", "gzip, snappy"])
    t.match(await readAnswer(t, coding, whole), { kind: "coding", reason: / is not supported$/ }, coding);
  t.match(await readAnswer(t, "gzip,gzip,gzip,gzip,gzip,gzip", whole), { reason: /of 6 layers is not supported/ });
  t.match(await readAnswer(t, `<${"x".repeat(99)}>`, whole), {
    reason: `its content coding ?${"x".repeat(39)} is not supported`,
  });
});

t.test("a body is bounded by what it decodes to, between its codings too", async (t) => {
  const large = { kind: "size", reason: `it is larger than ${MAX} bytes` };
  const zeros = (bytes: number) => Buffer.alloc(bytes);
  t.equal(String(await readAnswer(t, "gzip", gzipSync(zeros(MAX)))).length, MAX, "the limit itself is whole");
  t.same(await readAnswer(t, "gzip", gzipSync(zeros(MAX + 1))), large);
  t.same(await readAnswer(t, "br", brotliCompressSync(zeros(40 * MAX))), large);
  t.same(await readAnswer(t, "gzip, gzip", gzipSync(gzipSync(zeros(40 * MAX)))), large);
  // Encoded bytes that decode to nothing, such as an endless header, are limited by their own length.
  const nothing = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 3]), Buffer.alloc(4 * MAX, "x")]);
  t.same(await readAnswer(t, "gzip", nothing), large);
});

t.test("an answer that breaks off, or does not end in time, has its status and says so", async (t) => {
  const cut = await arrange(t, (response) => {
    response.writeHead(201, { "content-length": 9 }).write("said", () => response.destroy());
  });
  t.match(await cut.get(), { status: 201, body: "said", unread: { kind: "broken" } });
  const coded = await arrange(t, (response) => {
    response
      .writeHead(200, { "content-encoding": "gzip" })
      .write(gzipSync("said").subarray(0, 12), () => response.destroy());
  });
  t.match(await coded.get(), { status: 200, unread: { kind: "broken" } });
  const slow = await arrange(t, (response) => {
    response.writeHead(200).write("said");
  });
  t.match(await slow.get({}, 200), {
    status: 200,
    body: "said",
    unread: { kind: "time", reason: "it did not end within the time limit" },
  });
});
