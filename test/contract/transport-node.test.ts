import t from "tap";
import { createNodeTransport } from "../../http/transport/node-transport.js";
import { listen } from "./transport.js";
import { drainConformance } from "./transport-drain.js";
import { requestConformance } from "./transport-requests.js";
import { socketConformance } from "./transport-sockets.js";
import { streamConformance } from "./transport-streams.js";

requestConformance(t, createNodeTransport);
socketConformance(t, createNodeTransport);
drainConformance(t, createNodeTransport);
streamConformance(t, createNodeTransport);

t.test("a request that names no host is refused with a problem, unless it is HTTP/1.0", async (t) => {
  const { connect } = await listen(t, createNodeTransport, {});
  const none = await connect();
  none.send(["GET / HTTP/1.1", "Accept: */*"]);
  t.match(await none.end(), /^HTTP\/1\.1 400 [\s\S]*the header host is missing$/);
  const old = await connect();
  old.send(["GET / HTTP/1.0"]);
  t.match(await old.end(), /^HTTP\/1\.1 200 [\s\S]*ok$/);
});
