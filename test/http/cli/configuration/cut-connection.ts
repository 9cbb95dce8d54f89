import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** An address of a service that cuts a connection. */
export interface CutConnection {
  readonly url: string;
  /**
   * Disturbs the write with this number (the first is 1). As after a kill, cuts the connection of every later write.
   *
   * - `before`: cuts the connection before the service gets the write.
   * - `after`: cuts it after the service handled the write, before the client gets the response.
   * - `failed`: answers 500 after the service handled the write.
   * - `refused`, `moved-on`: answer 403, or 409 as for an old version; the service does not get the write.
   */
  cut(write: number, when: CutWhen): void;
  close(): Promise<void>;
}

const MOVED_ON = JSON.stringify({ type: "urn:service:problem:moved-on", status: 409, detail: "has another version" });

type CutWhen = "before" | "after" | "failed" | "refused" | "moved-on";

/** Starts a proxy of a service. */
export async function openCutConnection(port: number): Promise<CutConnection> {
  let cut: { readonly write: number; readonly when: CutWhen } | null = null;
  let writes = 0;
  const server = createServer((incoming, answer) => {
    const isWrite = incoming.method !== "GET";
    if (isWrite) writes += 1;
    const isCut = isWrite && cut !== null && writes >= cut.write;
    if (isCut && (cut?.when === "before" || writes > (cut?.write ?? 0))) return void incoming.socket.destroy();
    if (isCut && cut?.when === "moved-on") return void answer.writeHead(409).end(MOVED_ON);
    if (isCut && cut?.when === "refused") return void answer.writeHead(403).end();
    const { method, url, headers } = incoming;
    const outgoing = request({ port, host: "127.0.0.1", method, path: url, headers, agent: false }, (received) => {
      if (isCut) {
        received.resume();
        received.on("end", () => (cut?.when === "failed" ? answer.writeHead(500).end() : incoming.socket.destroy()));
        return;
      }
      answer.writeHead(received.statusCode ?? 500, received.headers);
      received.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (write, when) => {
      cut = { write, when };
      writes = 0;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
