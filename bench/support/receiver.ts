import { createServer } from "node:http";

/**
 * Starts the receiver of this process: it answers every POST with 200 and `{}`. Returns its port, which the process
 * sends to its parent.
 */
async function listen(): Promise<number> {
  try {
    const { default: uws } = await import("uWebSockets.js");
    return await new Promise((resolve, reject) => {
      uws
        .App()
        .post("/*", (response) => {
          response.onAborted(() => undefined);
          response.onData((_chunk, isLast) => {
            if (isLast) response.cork(() => response.writeHeader("content-type", "application/json").end("{}"));
          });
        })
        .listen("127.0.0.1", 0, (socket) =>
          socket === false ? reject(new Error("no port")) : resolve(uws.us_socket_local_port(socket)),
        );
    });
  } catch {
    const server = createServer((request, response) => request.resume().on("end", () => response.end("{}")));
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
  }
}

process.send?.(await listen());
process.on("disconnect", () => process.exit(0));
