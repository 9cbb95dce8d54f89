import t from "tap";
import { drainConformance } from "./transport-drain.js";
import { liveConformance } from "./transport-live.js";
import { requestConformance } from "./transport-requests.js";
import { socketConformance } from "./transport-sockets.js";
import { streamConformance } from "./transport-streams.js";

const isLoading = await import("uWebSockets.js").then(
  () => true,
  () => false,
);
if (!isLoading) t.plan(0, "skipped: uWebSockets.js has no binary that loads on this machine");
else {
  // Import the transport outside the check above. An error in the transport itself must not skip the tests.
  const loaded = await import("../../http/transport/uws-transport.js");
  requestConformance(t, loaded.createUwsTransport);
  socketConformance(t, loaded.createUwsTransport);
  drainConformance(t, loaded.createUwsTransport);
  streamConformance(t, loaded.createUwsTransport);
  liveConformance(t, loaded.createUwsTransport);
}
