import { type BenchService, openBenchService } from "./bench-service.js";
import { quietReader } from "./fair-requests.js";

// Entry point of the child process: opens a service over the requested transport, answers how to read its workspace,
// and stops at the message `close`.
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
