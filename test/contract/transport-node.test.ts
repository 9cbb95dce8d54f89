import t from "tap";
import { createNodeTransport } from "../../http/transport/node-transport.js";
import { listen, text } from "./transport.js";
import { drainConformance } from "./transport-drain.js";
import { liveConformance } from "./transport-live.js";
import { requestConformance } from "./transport-requests.js";
import { socketConformance } from "./transport-sockets.js";
import { streamConformance } from "./transport-streams.js";

requestConformance(t, createNodeTransport);
socketConformance(t, createNodeTransport);
drainConformance(t, createNodeTransport);
streamConformance(t, createNodeTransport);
liveConformance(t, createNodeTransport);

t.test("a request that names no host is refused with a problem, unless it is HTTP/1.0", async (t) => {
  const { connect } = await listen(t, createNodeTransport, {});
  const none = await connect();
  none.send(["GET / HTTP/1.1", "Accept: */*"]);
  t.match(await none.end(), /^HTTP\/1\.1 400 [\s\S]*the header host is missing$/);
  const old = await connect();
  old.send(["GET / HTTP/1.0"]);
  t.match(await old.end(), /^HTTP\/1\.1 200 [\s\S]*ok$/);
});

t.test("a client asks for 100 Continue in whatever letters", async (t) => {
  const { connect } = await listen(t, createNodeTransport, {
    request: async (request) => text(Buffer.from(await request.body(2, 60_000, () => true)).toString("utf8")),
  });
  const client = await connect();
  client.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 2", "Expect: 100-CONTINUE"]);
  t.equal((await client.answer()).status, 100);
  client.write("hi");
  t.equal((await client.answer()).body, "hi");
});
