import { connect, type Socket } from "node:net";
import { percentile } from "./table.js";

/** Requests to send at once, each on a separate connection. */
export interface Burst {
  readonly port: number;
  readonly requests: readonly string[];
  readonly status: number;
}

export interface BurstFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

async function measure({ port, requests, status }: Burst): Promise<BurstFigures> {
  const sockets = await Promise.all(requests.map(() => opened(port)));
  const times: number[] = [];
  let failed = 0;
  const begunMs = performance.now();
  await Promise.all(
    sockets.map(async (socket, index) => {
      const answer = new Promise<string>((resolve) =>
        socket.once("data", (chunk) => resolve(chunk.toString("latin1"))),
      );
      socket.write(requests[index] ?? "");
      if ((await answer).startsWith(String(status), 9)) times.push(performance.now() - begunMs);
      else failed += 1;
      socket.destroy();
    }),
  );
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), failed };
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

// Entry point of the child process: receives the burst as a message from the measuring process, and answers with the
// figures.
if (process.send !== undefined) {
  process.on("message", (burst: Burst) => {
    measure(burst).then((figures) => process.send?.(figures));
  });
}
