import uws, {
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  type us_socket_context_t,
} from "uWebSockets.js";
import { connect } from "node:net";
import type { Socket, SocketHandler } from "./socket.js";
import { SOCKET_BUFFER_BYTES, SOCKET_IDLE_SECONDS, type Transport, type TransportHandlers } from "./transport.js";
import { BIG_BODY, write, writeBig } from "./uws-answer.js";
import { Client, faultOf, readHeaders, toRequest } from "./uws-request.js";

/** What a socket carries from its upgrade to its end. */
interface SocketData {
  open: (socket: Socket) => SocketHandler;
  maxMessageBytes: number;
  handler: SocketHandler | null;
}

type UwsSocket = uws.WebSocket<SocketData>;

/** Largest message any endpoint takes; each endpoint's own limit is checked on arrival. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The transport of uWebSockets.js. Importing this module throws where its native binary does not load. */
export function createUwsTransport(handlers: TransportHandlers): Transport {
  const app = uws.App();
  const sockets = new Set<UwsSocket>();
  const underWay = new Set<Promise<void>>();
  let listening: us_listen_socket | false = false;
  let draining = false;

  app.any("/*", (response, request) => {
    const served = serve(handlers, response, request, () => draining);
    underWay.add(served);
    void served.finally(() => underWay.delete(served));
  });
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
      data.handler = data.open(toSocket(ws, sockets));
    },
    message: (ws, message, isBinary) => {
      const data = ws.getUserData();
      if (isBinary) ws.end(1003, "text frames only");
      else if (message.byteLength > data.maxMessageBytes) ws.end(1009, "the message is too long");
      else data.handler?.message(Buffer.from(message).toString("utf8"));
    },
    drain: (ws) => {
      if (ws.getBufferedAmount() === 0) ws.getUserData().handler?.drained();
    },
    close: (ws) => {
      sockets.delete(ws);
      ws.getUserData().handler?.closed();
    },
  });

  return {
    name: "uws",
    listen: async (host, port) => {
      for (let waited = 0; ; waited += RETRY_MS) {
        const bound = await new Promise<number | null>((resolve) => {
          app.listen(host, port, (socket) => {
            listening = socket;
            resolve(socket === false ? null : uws.us_socket_local_port(socket));
          });
        });
        if (bound !== null) return bound;
        const isHeld = port !== 0 && waited < RELEASE_MS && !(await isAnswered(host, port));
        if (!isHeld) throw new Error(`cannot listen on ${host}:${port}: the address is taken or not ours`);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    },
    close: async (graceMs) => {
      draining = true;
      if (listening !== false) uws.us_listen_socket_close(listening);
      listening = false;
      for (const ws of sockets) ws.end(1001, "the service is going away");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.allSettled([...underWay]), late]);
      clearTimeout(timer);
      app.close();
    },
  };
}

async function serve(
  handlers: TransportHandlers,
  response: HttpResponse,
  request: HttpRequest,
  isDraining: () => boolean,
): Promise<void> {
  const client = new Client(response);
  const method = request.getCaseSensitiveMethod();
  const headers = readHeaders(request);
  const fault = faultOf(headers);
  if (fault !== null) {
    const { status, detail } = fault;
    write(response, handlers.malformed({ refused: "bad-request", detail }, status), { isHead: false, closes: true });
    return;
  }
  const incoming = toRequest(response, request, headers, method, client);
  const answer = await handlers.request(incoming);
  if (client.isGone) return;
  const leftover = incoming.leftover();
  incoming.forget();
  client.isAnswered = true;
  const isBig = answer.body.length > BIG_BODY && method !== "HEAD" && !leftover;
  if (isBig) await writeBig(response, answer, client, isDraining());
  else write(response, answer, { isHead: method === "HEAD", closes: leftover || isDraining() });
}

async function upgrade(
  handlers: TransportHandlers,
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t,
): Promise<void> {
  let gone = false;
  response.onAborted(() => {
    gone = true;
  });
  const headers = readHeaders(request);
  const path = request.getUrl();
  const query = new URLSearchParams(request.getQuery() ?? "");
  const remoteAddress = Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
  const header = (name: string) => headers.get(name);
  const answer = await handlers.upgrade({ path, query, header, remoteAddress, requestId: "" });
  if (gone) return;
  if ("refused" in answer) {
    write(response, answer.refused, { isHead: false, closes: true });
    return;
  }
  const { open, maxMessageBytes } = answer;
  response.cork(() => {
    response.upgrade<SocketData>(
      { open, maxMessageBytes, handler: null },
      header("sec-websocket-key") ?? "",
      // No sub-protocol is spoken.
      "",
      header("sec-websocket-extensions") ?? "",
      context,
    );
  });
}

function toSocket(ws: UwsSocket, open: ReadonlySet<UwsSocket>): Socket {
  return {
    send: (text) => {
      if (open.has(ws)) ws.send(text);
    },
    get bufferedBytes() {
      return open.has(ws) ? ws.getBufferedAmount() : 0;
    },
    close: (code, reason) => {
      if (open.has(ws)) ws.end(code, reason);
    },
    ping: () => {
      if (open.has(ws)) ws.ping();
    },
  };
}

/** How long the system keeps an address for the connections of a process that is gone (TIME_WAIT), with some to spare. */
const RELEASE_MS = 75_000;
const RETRY_MS = 250;

/**
 * Whether a process listens there. uWebSockets.js binds without SO_REUSEADDR, so after a kill its address stays taken
 * for a minute by connections that nobody holds; that is waited out, a live owner is not.
 */
function isAnswered(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ host: host === "0.0.0.0" ? "127.0.0.1" : host, port });
    const settle = (answered: boolean) => {
      probe.destroy();
      resolve(answered);
    };
    probe
      .once("connect", () => settle(true))
      .once("error", (error: NodeJS.ErrnoException) => settle(error.code !== "ECONNREFUSED"));
  });
}
