import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import t, { type Test } from "tap";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { toFailure } from "../../../../actors/outbound/http/failure.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";

/** Returns the failure of a request whose host sends this text and hangs up. With null, the host no longer listens. */
async function readFailure(t: Test, answer: string | null) {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(answer ?? ""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (answer === null) await new Promise((resolve) => server.close(resolve));
  const outbound = createOutbound({ allowList: parseAllowList(origin), maxBodyBytes: 100 });
  t.teardown(async () => {
    await outbound.close();
    server.close();
  });
  const request = { url: new URL(origin), headers: {}, body: "{}", timeoutMs: 60_000, signal: new RunAbort() };
  return outbound.post(request).then(({ status, unread }) => ({ status, unread: unread?.kind }), toFailure);
}

t.test(
  "what answers rubbish has answered, and what hangs up has not; either may have done what was asked",
  async (t) => {
    const rubbish = [
      "hello\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"a".repeat(200_000)}\r\n\r\n`,
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcde",
    ];
    for (const answer of rubbish)
      t.same(await readFailure(t, answer), { code: "errored", reason: "its response is not HTTP" });
    t.same(await readFailure(t, ""), { code: "unreachable", reason: "nothing responded (UND_ERR_SOCKET)" });
  },
);

t.test("what breaks off after its head has answered, with a body that is not whole", async (t) => {
  const bodies = ["content-length: 50\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\nzz\r\n"];
  for (const body of bodies)
    t.same(await readFailure(t, `HTTP/1.1 200 OK\r\n${body}`), { status: 200, unread: "broken" });
});

t.test("without a connection nothing was sent", async (t) => {
  const refused = { code: "unreachable", reason: "nothing responded (ECONNREFUSED)", isUnsent: true };
  t.same(await readFailure(t, null), refused);
});
