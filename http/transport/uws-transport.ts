import type uws from "uWebSockets.js";
import type { HttpRequest, HttpResponse, us_listen_socket, us_socket_context_t } from "uWebSockets.js";
import { createRequire } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Socket, SocketHandler } from "../wire/socket.js";
import type { Fault } from "./request-faults.js";
import {
  DROP_IDLE_MS,
  LIVE_END_MS,
  SOCKET_BUFFER_BYTES,
  SOCKET_IDLE_SECONDS,
  type Transport,
  type TransportAnswer,
  type TransportHandlers,
} from "./transport.js";
import { BIG_BODY, write, writeBig, writeCorked, writePaused } from "./uws-answer.js";
import { IncomingBody } from "./uws-body.js";
import { LIVE_BEAT_MS, type LiveResponses, writeLive } from "./uws-live.js";
import { Client, hasBody, lookUpFault, readHeaders, toRequest } from "./uws-request.js";
import { writeStreamed } from "./uws-stream.js";

/** The user data that the library stores with a socket. */
interface SocketData {
  open: (socket: Socket) => SocketHandler;
  maxMessageBytes: number;
  handler: SocketHandler | null;
  socket: OpenSocket | null;
}

type UwsSocket = uws.WebSocket<SocketData>;

/** Maximum message size of any endpoint, in bytes. The endpoint's own limit is checked when a message arrives. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Number of attempts to bind a free port. Another process may take a port after it was found. */
const FREE_PORT_TRIES = 20;

// Declarations that are missing in the library's types.
declare module "uWebSockets.js" {
  const LIBUS_LISTEN_EXCLUSIVE_PORT: uws.ListenOptions;
  interface TemplatedApp {
    listen(
      host: uws.RecognizedString,
      port: number,
      options: uws.ListenOptions,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}

/**
 * The library. Loading it throws on systems that cannot load its binary. It is loaded with `require`, because a dynamic
 * import could end the process: Node 20 exits if an imported module imports a CommonJS module that throws, even if the
 * import's rejection is handled.
 */
const library: typeof uws = createRequire(import.meta.url)("uWebSockets.js");

/** The transport on uWebSockets.js. Importing this module throws if its native binary does not load. */
export function createUwsTransport(handlers: TransportHandlers): Transport {
  const app = library.App();
  const sockets = new Set<UwsSocket>();
  let listening: us_listen_socket | false = false;
  let draining = false;
  const lives: LiveResponses = new Set();
  const underWay = serveAll(app, handlers, { lives, isDraining: () => draining });
  const beating = startBeating(lives);
  app.ws<SocketData>("/*", {
    idleTimeout: SOCKET_IDLE_SECONDS,
    sendPingsAutomatically: true,
    maxPayloadLength: MAX_MESSAGE_BYTES,
    maxBackpressure: SOCKET_BUFFER_BYTES,
    closeOnBackpressureLimit: 1,
    upgrade: (response, request, context) => void upgrade(handlers, response, request, context),
    open: (ws) => {
      sockets.add(ws);
      const data = ws.getUserData();
      data.socket = new OpenSocket(ws);
      data.handler = data.open(data.socket);
    },
    message: (ws, message, isBinary) => {
      const data = ws.getUserData();
      if (isBinary) ws.end(1003, "text frames only");
      else if (message.byteLength > data.maxMessageBytes) ws.end(1009, "the message is too long");
      else data.handler?.message(Buffer.from(message).toString("utf8"));
    },
    drain: (ws) => notifyDrained(ws, sockets),
    close: (ws) => {
      sockets.delete(ws);
      const { socket, handler } = ws.getUserData();
      socket?.closed();
      handler?.closed();
    },
  });

  return {
    name: "uws",
    listen: async (host, port) => {
      listening = listenOn(app, host, port);
      return library.us_socket_local_port(listening);
    },
    close: async (graceMs) => {
      draining = true;
      if (listening !== false) library.us_listen_socket_close(listening);
      listening = false;
      clearInterval(beating);
      for (const ws of sockets) ws.end(1001, "the service is shutting down");
      for (const live of [...lives]) live.end();
      const cutLives = setTimeout(() => {
        for (const live of [...lives]) live.cut();
      }, LIVE_END_MS);
      await underWay.endedWithin(graceMs);
      clearTimeout(cutLives);
      app.close();
    },
  };
}

/** Listens on the port, or on a free one if the port is 0. Throws if that is not possible. */
function listenOn(app: uws.TemplatedApp, host: string, port: number): us_listen_socket {
  for (let tries = 0; tries < FREE_PORT_TRIES; tries += 1) {
    const chosen = port === 0 ? freePort(app, host) : port;
    const socket = chosen !== null && bind(app, host, chosen);
    if (socket !== false) return socket;
    if (port !== 0) break;
  }
  throw new Error(
    `cannot listen on ${host}:${port}: the address is in use, or this machine does not have the host's address`,
  );
}

/** Keeps live responses open, and cuts those whose client is gone. */
function startBeating(lives: LiveResponses): NodeJS.Timeout {
  const beatAll = () => {
    for (const live of lives) live.beat();
  };
  return setInterval(beatAll, LIVE_BEAT_MS).unref();
}

/** The state of a transport that its requests share. */
interface Serving {
  readonly lives: LiveResponses;
  readonly isDraining: () => boolean;
}

/** Serves the requests of an app. Returns the counter of in-flight requests. */
function serveAll(app: uws.TemplatedApp, handlers: TransportHandlers, serving: Serving): UnderWay {
  const underWay = new UnderWay();
  app.any("/*", (response, request) => serve(handlers, response, request, { underWay, ...serving }));
  return underWay;
}

/** Counts in-flight requests. */
class UnderWay {
  #count = 0;
  #ended: (() => void) | null = null;
  readonly #end = (): void => {
    this.#count -= 1;
    if (this.#count === 0) this.#ended?.();
  };

  begin(): void {
    this.#count += 1;
  }

  /** Removes one request from the count, now or when the promise settles. */
  end(settled: Promise<void> | null): void {
    if (settled === null) this.#end();
    else settled.then(this.#end, this.#end);
  }

  /** Resolves when no request is in flight, or after `graceMs`. */
  async endedWithin(graceMs: number): Promise<void> {
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
      timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
  }
}

/**
 * Listens exclusively. By default, the library lets several processes share an address (SO_REUSEPORT). Leftover
 * connections of a killed process do not block the address (SO_REUSEADDR).
 */
function bind(app: uws.TemplatedApp, host: string, port: number): us_listen_socket | false {
  let bound: us_listen_socket | false = false;
  app.listen(host, port, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    bound = socket;
  });
  return bound;
}

/**
 * Finds a free port and releases it, so that {@link bind} can use its number. The library sets SO_REUSEADDR only for a
 * given number, not for a port that the system chooses. Returns null if the host cannot be bound.
 */
function freePort(app: uws.TemplatedApp, host: string): number | null {
  const socket = bind(app, host, 0);
  if (socket === false) return null;
  const port = library.us_socket_local_port(socket);
  library.us_listen_socket_close(socket);
  return port;
}

/**
 * Serves a request. If its handler returns no promise, as for most reads, sends the response in this tick. Only a
 * request that has no response at the end of the tick watches for a disconnect.
 */
function serve(
  handlers: TransportHandlers,
  response: HttpResponse,
  request: HttpRequest,
  { underWay, lives, isDraining }: Serving & { readonly underWay: UnderWay },
): void {
  const client = new Client();
  const method = request.getCaseSensitiveMethod();
  const headers = readHeaders(request);
  const fault = lookUpFault(headers, method);
  if (fault !== null) {
    const body = hasBody(headers) ? new IncomingBody(response, client) : null;
    underWay.begin();
    underWay.end(refuse(handlers, response, { client, body }, fault));
    return;
  }
  const incoming = toRequest(response, request, headers.byName, method, client);
  let isFirstTick = true;
  const send = (answer: TransportAnswer): Promise<void> | void => {
    if (client.isGone && !("stream" in answer)) return;
    const isLast = incoming.isLast();
    const isFlooding = incoming.isFlooding();
    incoming.forget();
    client.isAnswered = true;
    const closes = isLast || isDraining();
    const isHead = method === "HEAD";
    // The library treats a HEAD response with a length as incomplete until the connection closes.
    const isEndedLater = isHead && closes;
    if (isFirstTick && "body" in answer && answer.body.length <= BIG_BODY && !isEndedLater) {
      writeCorked(response, answer, { isHead, closes });
      return;
    }
    if (isFirstTick) client.watch(response);
    if ("stream" in answer) return writeStreamed(response, answer, { client, isHead, closes });
    if ("open" in answer) return writeLive(response, answer, { client, isHead, closes, all: lives });
    if (isFlooding && !isHead && answer.body.length > 0) return writePaused(response, answer);
    if (answer.body.length > BIG_BODY && !isHead && !isLast) return writeBig(response, answer, client, closes);
    write(response, answer, { isHead, closes });
  };
  underWay.begin();
  handlers.request(incoming, (answer) => {
    let sent: Promise<void> | null = null;
    try {
      sent = send(answer) ?? null;
    } finally {
      underWay.end(sent);
    }
  });
  isFirstTick = false;
  if (!client.isAnswered) client.watch(response);
}

/**
 * Refuses a malformed request. The response is sent after the first tick. This makes the library close the connection
 * instead of parsing the remaining bytes as the next request.
 */
async function refuse(
  handlers: TransportHandlers,
  response: HttpResponse,
  { client, body }: { readonly client: Client; readonly body: IncomingBody | null },
  { status, detail }: Fault,
): Promise<void> {
  client.watch(response);
  await nextTurn();
  await body?.drop(DROP_IDLE_MS);
  if (client.isGone) return;
  write(response, handlers.malformed({ refused: "bad-request", detail }, status), { isHead: false, closes: true });
}

async function upgrade(
  handlers: TransportHandlers,
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t,
): Promise<void> {
  const client = new Client();
  client.watch(response);
  const headers = readHeaders(request);
  const path = request.getUrl();
  const query = new URLSearchParams(request.getQuery() ?? "");
  const remoteAddress = Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
  const header = (name: string) => headers.byName.get(name);
  const fault = lookUpFault(headers, "GET");
  if (fault !== null) return refuse(handlers, response, { client, body: null }, fault);
  const answer = await handlers.upgrade({ path, query, header, remoteAddress, requestId: "" });
  if (client.isGone) return;
  if ("refused" in answer) {
    write(response, answer.refused, { isHead: false, closes: true });
    return;
  }
  const { open, maxMessageBytes, headers: sent } = answer;
  response.cork(() => {
    response.writeStatus("101 Switching Protocols");
    for (const [name, value] of Object.entries(sent)) response.writeHeader(name, value);
    response.upgrade<SocketData>(
      { open, maxMessageBytes, handler: null, socket: null },
      header("sec-websocket-key") ?? "",
      // Select no subprotocol.
      "",
      header("sec-websocket-extensions") ?? "",
      context,
    );
  });
}

/**
 * Notifies the handler that the send buffer is empty, after the library's own drain handler has returned. If a message
 * were sent inside that handler and only partly accepted, the library would not send the rest before the next send.
 */
function notifyDrained(ws: UwsSocket, open: ReadonlySet<UwsSocket>): void {
  if (ws.getBufferedAmount() > 0) return;
  setImmediate(() => {
    if (open.has(ws) && ws.getBufferedAmount() === 0) ws.getUserData().handler?.drained();
  });
}

/**
 * This is a class, because broadcasts call each socket, and a class instance has all the needed state in one object.
 */
class OpenSocket implements Socket {
  /** The library's socket. Null after the close, because the library then throws at any use of the socket. */
  #ws: UwsSocket | null;

  constructor(ws: UwsSocket) {
    this.#ws = ws;
  }

  send(text: string | Uint8Array): void {
    this.#ws?.send(text);
  }

  get bufferedBytes(): number {
    return this.#ws === null ? 0 : this.#ws.getBufferedAmount();
  }

  close(code: number, reason: string): void {
    this.#ws?.end(code, reason);
  }

  ping(): void {
    this.#ws?.ping();
  }

  closed(): void {
    this.#ws = null;
  }
}
