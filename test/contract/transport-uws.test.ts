import t from "tap";
import { drainConformance } from "./transport-drain.js";
import { requestConformance } from "./transport-requests.js";
import { socketConformance } from "./transport-sockets.js";
import { streamConformance } from "./transport-streams.js";

const loaded = await import("../../http/uws-transport.js").catch(() => null);
if (loaded === null) t.plan(0, "skipped: uWebSockets.js has no binary that loads on this machine");
else {
  requestConformance(t, loaded.createUwsTransport);
  socketConformance(t, loaded.createUwsTransport);
  drainConformance(t, loaded.createUwsTransport);
  streamConformance(t, loaded.createUwsTransport);
}
