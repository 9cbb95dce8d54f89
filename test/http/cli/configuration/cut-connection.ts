import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy of a service that can cut a connection at a write. */
export interface CutConnection {
  readonly url: string;
  /**
   * Cuts the connection at the given write, counted from 1:
   *
   * - `before`: the service does not get the write.
   * - `after`: the service gets the write, and the client does not get the response.
   * - `failed`: the service gets the write, and the client gets 500.
   * - `refused`, `moved-on`, `invalid`: the service does not get the write, and the client gets 403, 409 or 422.
   *
   * In all these cases, the service gets no later write either, as after a kill.
   *
   * With `old`, the proxy cuts nothing. It answers dry runs with 404, as an older release does. A dry run does not
   * count as a write.
   */
  cut(write: number, when: CutWhen): void;
  close(): Promise<void>;
}

const MOVED_ON = JSON.stringify({ type: "urn:service:problem:moved-on", status: 409, detail: "has another version" });

const INVALID = JSON.stringify({
  type: "urn:service:problem:invalid",
  status: 422,
  title: "One or more fields are wrong",
  detail: "files[0].content: is not allowed here",
  errors: [{ path: "files[0].content", message: "is not allowed here", severity: "error" }],
});

type CutWhen = "before" | "after" | "failed" | "refused" | "moved-on" | "invalid" | "old";

/** Starts a proxy of a service. */
export async function openCutConnection(port: number): Promise<CutConnection> {
  let cut: { readonly write: number; readonly when: CutWhen } | null = null;
  let writes = 0;
  const server = createServer((incoming, answer) => {
    const isOld = cut?.when === "old";
    if (isOld && incoming.url === "/api/resources/dry-run") return void answer.writeHead(404).end();
    const isWrite = incoming.method !== "GET" && incoming.url !== "/api/resources/dry-run";
    if (isWrite) writes += 1;
    const isCut = isWrite && cut !== null && !isOld && writes >= cut.write;
    if (isCut && (cut?.when === "before" || writes > (cut?.write ?? 0))) return void incoming.socket.destroy();
    if (isCut && cut?.when === "moved-on") return void answer.writeHead(409).end(MOVED_ON);
    if (isCut && cut?.when === "invalid") return void answer.writeHead(422).end(INVALID);
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
