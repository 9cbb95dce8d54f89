import { STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { DROP_BYTES, DROP_IDLE_MS, DROP_MS, type TransportHandlers, type WholeAnswer } from "./transport.js";

/** For each refused connection, the total number of received bytes beyond which it is cut off. */
const maxBytes = new WeakMap<Duplex, number>();

/**
 * Responds to bytes that are not an HTTP request and closes the connection. Reads and drops the rest from the client,
 * within the limits of `TransportRequest.dropBody`. Node calls this function again for each further packet.
 */
export function refuseBytes(handlers: TransportHandlers, error: NodeJS.ErrnoException, connection: Duplex): void {
  const max = maxBytes.get(connection);
  if (max !== undefined) {
    if (bytesFrom(connection) > max) connection.destroy();
    return;
  }
  if (!connection.writable || error.code === "ECONNRESET") {
    connection.destroy();
    return;
  }
  const [status, detail] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "the headers are longer than 16 KiB"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "the request did not arrive in time"]
        : [400, "this is not an HTTP request"];
  connection.end(rawAnswer(handlers.malformed({ refused: "bad-request", detail }, status)));
  maxBytes.set(connection, bytesFrom(connection) + DROP_BYTES);
  cutOff(connection);
}

/** Destroys the connection when it received no byte for {@link DROP_IDLE_MS}, or after {@link DROP_MS} in any case. */
function cutOff(connection: Duplex): void {
  let seen = bytesFrom(connection);
  const idle = setInterval(() => {
    if (bytesFrom(connection) === seen) connection.destroy();
    seen = bytesFrom(connection);
  }, DROP_IDLE_MS);
  const whole = setTimeout(() => connection.destroy(), DROP_MS);
  connection.once("close", () => {
    clearInterval(idle);
    clearTimeout(whole);
  });
}

function bytesFrom(connection: Duplex): number {
  return connection instanceof Socket ? connection.bytesRead : 0;
}

/** Encodes a response that closes the connection. */
export function rawAnswer(answer: WholeAnswer): string {
  const head = Object.entries({
    ...answer.headers,
    "content-length": String(Buffer.byteLength(answer.body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}`);
  const text = typeof answer.body === "string" ? answer.body : Buffer.from(answer.body).toString("utf8");
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${head.join("\r\n")}\r\n\r\n${text}`;
}
