import { type BenchService, openBenchService } from "./bench-service.js";
import { quietReader } from "./fair-requests.js";

// Runs in its own process: opens a service over the transport that it is told, answers how to read its workspace, and
// ends at the message `close`.
let opened: Promise<BenchService> | null = null;

process.on("message", async (message: "uws" | "node" | "close") => {
  if (message === "close") {
    await (await opened)?.close();
    process.disconnect();
  } else {
    opened = openBenchService(message);
    process.send?.(await quietReader(await opened));
  }
});
