import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A receiver of hooks in a process of its own, on every address of the loopback network. Requests to `/hang` are never
 * answered, those to `/refuse` refuse the event, others are taken. It tells its parent its port, how many hang when that
 * was the same for a while, and of each other request its path and when it came, in milliseconds since 1970.
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
