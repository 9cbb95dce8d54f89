import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A hook receiver in a separate process, on every loopback address:
 *
 * - It never answers requests to `/hang`.
 * - It refuses the events of requests to `/refuse`.
 * - It accepts the events of all other requests.
 *
 * The receiver sends messages to its parent process: its port, and the number of requests that hang, once this number
 * no longer changes. For each other request, it sends the path and the arrival time in milliseconds since 1970.
 */
const QUIET_MS = 2_000;
let hanging = 0;
let settled: NodeJS.Timeout | undefined;

const server = createServer((request, response) => {
  const path = request.url ?? "";
  request.resume();
  if (path.startsWith("/hang")) {
    hanging += 1;
    clearTimeout(settled);
    settled = setTimeout(() => process.send?.({ hanging }), QUIET_MS);
    request.once("close", () => {
      hanging -= 1;
    });
    return;
  }
  process.send?.({ path, atMs: performance.timeOrigin + performance.now() });
  request.once("end", () => response.end(path.startsWith("/refuse") ? '{"refuse":"not now"}' : "{}"));
});
server.requestTimeout = 0;
server.listen(0, "0.0.0.0", 4_096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once("disconnect", () => process.exit(0));
