import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Socket, SocketHandler } from "../wire/socket.js";
import { BodyBytes } from "./body-bytes.js";
import { writeAnswer } from "./node-answer.js";
import { dropBody, readBody } from "./node-body.js";
import type { LiveResponses } from "./node-live.js";
import { rawAnswer, refuseBytes } from "./node-refusal.js";
import { isChunkedAlone, OTHER_ENCODING, REPEATED_HOST } from "./request-faults.js";
import {
  ClientGone,
  DROP_IDLE_MS,
  LIVE_END_MS,
  MAX_HEADER_BYTES,
  SOCKET_BUFFER_BYTES,
  SOCKET_IDLE_SECONDS,
  type Transport,
  type TransportHandlers,
  type TransportRequest,
} from "./transport.js";

/** Maximum time for a request's headers to arrive, in milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Maximum idle time of a connection between requests, in milliseconds. */
const KEEP_ALIVE_MS = 65_000;

/** The transport on `node:http` and `ws`. It works wherever Node works. */
export function createNodeTransport(handlers: TransportHandlers): Transport {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    // Join duplicate headers: by default, Node drops all but the first of some headers, for example `authorization`.
    joinDuplicateHeaders: true,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 1_000,
    // `lookUpFault` checks the header instead, because Node's own refusal has no problem body.
    requireHostHeader: false,
  });
  const sockets = new Set<WebSocket>();
  const lives: LiveResponses = new Set();
  const upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: () => false,
  });

  let draining = false;
  // Connections that have sent no request yet, or only bytes that are not a request. Node's server does not count such
  // connections as idle, so a drain must close them itself.
  const fresh = new Set<Duplex>();
  const answer = (incoming: IncomingMessage, response: ServerResponse) => {
    fresh.delete(incoming.socket);
    // During a drain, close the connection after the response. If the response's headers were sent before the drain,
    // nothing else closes the connection.
    response.once("finish", () => {
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
    serve(handlers, { incoming, response, lives }, () => draining);
  };

  server.on("connection", (connection) => {
    fresh.add(connection);
    connection.once("close", () => fresh.delete(connection));
  });
  server.on("request", answer);
  server.on("checkContinue", answer);
  server.on("clientError", (error: NodeJS.ErrnoException, connection) => {
    fresh.add(connection);
    refuseBytes(handlers, error, connection);
  });
  server.on("upgrade", (incoming, connection, head) => {
    fresh.delete(connection);
    void upgrade(handlers, upgrader, sockets, incoming, connection, head);
  });

  const heartbeat = startBeating(sockets, lives);

  return {
    name: "node",
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", (error) => reject(new Error(`cannot listen on ${host}:${port}: ${error.message}`)));
        server.listen(port, host, () => {
          const bound = server.address();
          resolve(typeof bound === "object" && bound !== null ? bound.port : port);
        });
      }),
    close: async (graceMs) => {
      draining = true;
      clearInterval(heartbeat);
      for (const connection of fresh) connection.destroy();
      await drain(server, { sockets, lives }, graceMs);
    },
  };
}

/** Looks regularly for sockets and live responses whose peer is gone. */
function startBeating(sockets: ReadonlySet<WebSocket>, lives: LiveResponses): NodeJS.Timeout {
  const beatAll = () => {
    beat(sockets);
    for (const live of lives) live.beat();
  };
  return setInterval(beatAll, (SOCKET_IDLE_SECONDS * 1_000) / 2).unref();
}

/** Closes all sockets and connections. In-flight requests may finish first, within `graceMs`. */
async function drain(
  server: Server,
  { sockets, lives }: { readonly sockets: ReadonlySet<WebSocket>; readonly lives: LiveResponses },
  graceMs: number,
): Promise<void> {
  for (const live of [...lives]) live.end();
  const closed = [
    new Promise<void>((resolve) => server.close(() => resolve())),
    ...[...sockets].map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))),
  ];
  for (const socket of sockets) socket.close(1001, "the service is shutting down");
  server.closeIdleConnections();
  const cutLives = setTimeout(() => {
    for (const live of [...lives]) live.cut();
  }, LIVE_END_MS);
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.terminate();
    server.closeAllConnections();
  }, graceMs);
  await Promise.all(closed);
  clearTimeout(cutLives);
  clearTimeout(cut);
}

interface Serving {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly lives: LiveResponses;
}

function serve(handlers: TransportHandlers, { incoming, response, lives }: Serving, isDraining: () => boolean): void {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new ClientGone());
  });
  const request = toRequest(incoming, response, gone.signal);
  const detail = lookUpFault(incoming);
  if (detail !== null) {
    const problem = handlers.malformed({ refused: "bad-request", detail }, 400);
    const isHead = incoming.method === "HEAD";
    void request.dropBody().then(() => writeAnswer(response, problem, { isHead, closes: true, rest: request.rest() }));
    return;
  }
  handlers.request(request, (answer) => {
    // Close the connection if the body has an unread rest: Node would parse the rest as the next request.
    const closes = isDraining() || (!incoming.complete && hasBody(incoming));
    void writeAnswer(response, answer, {
      isHead: incoming.method === "HEAD",
      closes,
      lives,
      isFlooding: request.isFlooding(),
      rest: request.rest(),
    });
  });
}

/** Returns a fault in a request that `node:http` accepts, or null. */
function lookUpFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion === "1.1" && headers.host === undefined) return "the header host is missing";
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  if (hosts > 1) return REPEATED_HOST;
  return isChunkedAlone(headers["transfer-encoding"]) ? null : OTHER_ENCODING;
}

function hasBody(incoming: IncomingMessage): boolean {
  return incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0;
}

/** Whether the client waits for a 100 Continue before it sends its body. */
function isAwaited(incoming: IncomingMessage): boolean {
  return incoming.headers.expect?.toLowerCase() === "100-continue";
}

function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf("?");
  return mark < 0 ? { path: url, query: "" } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function findHeader(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A request of `node:http`. */
interface NodeRequest extends TransportRequest {
  /** Whether the client was still sending its body when `dropBody` gave up. */
  isFlooding(): boolean;
  /**
   * For a client that asked for 100 Continue and did not get it: reads and drops the body after the response, because
   * such a client may send the body without waiting (RFC 9110, 10.1.1). Null for any other request.
   */
  rest(): (() => Promise<unknown>) | null;
}

function toRequest(incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal): NodeRequest {
  let isUnrequested = isAwaited(incoming);
  let isFlooding = false;
  const isSending = () => hasBody(incoming) && !incoming.complete && !incoming.destroyed && !isUnrequested;
  return {
    method: incoming.method ?? "GET",
    ...splitUrl(incoming.url ?? "/"),
    header: (name) => findHeader(incoming, name),
    headers: () => new Map(Object.keys(incoming.headers).map((name) => [name, findHeader(incoming, name) ?? ""])),
    remoteAddress: incoming.socket.remoteAddress ?? "",
    get isGone() {
      return signal.aborted;
    },
    signal,
    body: async (limitBytes, timeoutMs, holdBytes) => {
      if (!hasBody(incoming)) return new Uint8Array();
      const declared = incoming.headers["content-length"];
      const bytes = new BodyBytes(declared === undefined ? null : Number(declared), limitBytes, holdBytes);
      if (isUnrequested) response.writeContinue();
      isUnrequested = false;
      return readBody(incoming, bytes, timeoutMs);
    },
    get isSending() {
      return isSending();
    },
    isFlooding: () => isFlooding,
    rest: () => (isUnrequested && hasBody(incoming) ? () => dropBody(incoming, DROP_IDLE_MS) : null),
    dropBody: async (idleMs = DROP_IDLE_MS) => {
      if (!isSending()) return;
      isFlooding = await dropBody(incoming, idleMs);
      if (isFlooding) incoming.pause();
    },
  };
}

async function upgrade(
  handlers: TransportHandlers,
  upgrader: WebSocketServer,
  sockets: Set<WebSocket>,
  incoming: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): Promise<void> {
  stream.on("error", () => stream.destroy());
  const detail = lookUpFault(incoming);
  if (detail !== null) {
    stream.end(rawAnswer(handlers.malformed({ refused: "bad-request", detail }, 400)));
    return;
  }
  const { path, query } = splitUrl(incoming.url ?? "/");
  const answer = await handlers.upgrade({
    path,
    query: new URLSearchParams(query),
    header: (name) => findHeader(incoming, name),
    remoteAddress: incoming.socket.remoteAddress ?? "",
    requestId: "",
  });
  if (stream.destroyed) return;
  if ("refused" in answer) {
    stream.end(rawAnswer(answer.refused));
    return;
  }
  // One upgrader serves all endpoints. So set this endpoint's message limit and this response's headers before the
  // upgrade.
  upgrader.options.maxPayload = answer.maxMessageBytes;
  const addHeaders = (lines: string[]) => {
    for (const [name, value] of Object.entries(answer.headers)) lines.push(`${name}: ${value}`);
  };
  upgrader.once("headers", addHeaders);
  upgrader.handleUpgrade(incoming, stream, head, (ws) => {
    sockets.add(ws);
    ws.once("close", () => sockets.delete(ws));
    connect(ws, answer.open);
  });
  // Remove the listener, which is still there after a malformed upgrade: such an upgrade emits no `headers` event.
  upgrader.off("headers", addHeaders);
}

const alive = new WeakSet<WebSocket>();

function beat(sockets: ReadonlySet<WebSocket>): void {
  for (const ws of sockets) {
    if (!alive.has(ws)) ws.terminate();
    else {
      alive.delete(ws);
      ws.ping();
    }
  }
}

function connect(ws: WebSocket, open: (socket: Socket) => SocketHandler): void {
  alive.add(ws);
  let isBuffering = false;
  const socket: Socket = {
    send: (text) => {
      if (ws.readyState !== ws.OPEN) return;
      ws.send(text, { binary: false }, () => {
        if (isBuffering && ws.bufferedAmount === 0) {
          isBuffering = false;
          handler.drained();
        }
      });
      isBuffering = isBuffering || ws.bufferedAmount > 0;
      if (ws.bufferedAmount > SOCKET_BUFFER_BYTES) ws.close(1013, "too slow");
    },
    get bufferedBytes() {
      return ws.bufferedAmount;
    },
    close: (code, reason) => ws.close(code, reason),
    ping: () => {
      if (ws.readyState === ws.OPEN) ws.ping();
    },
  };
  const handler = open(socket);
  ws.on("message", (data, isBinary) => {
    alive.add(ws);
    if (isBinary) ws.close(1003, "text frames only");
    else handler.message(data.toString());
  });
  ws.on("pong", () => alive.add(ws));
  ws.on("ping", () => alive.add(ws));
  ws.on("error", () => undefined);
  ws.once("close", () => handler.closed());
}
