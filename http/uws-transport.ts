import uws, {
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  type us_socket_context_t,
} from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { connect } from "node:net";
import type { Socket, SocketHandler } from "./socket.js";
import {
  BodyTimeout,
  BodyTooLarge,
  ClientGone,
  MAX_HEADER_BYTES,
  SOCKET_BUFFER_BYTES,
  SOCKET_IDLE_SECONDS,
  type Transport,
  type TransportAnswer,
  type TransportHandlers,
  type TransportRequest,
} from "./transport.js";

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
  const gone = new AbortController();
  response.onAborted(() => gone.abort());
  const method = request.getCaseSensitiveMethod();
  const headers = readHeaders(request);
  const fault = faultOf(headers);
  if (fault !== null) {
    const { status, detail } = fault;
    write(response, handlers.malformed({ refused: "bad-request", detail }, status), { isHead: false, closes: true });
    return;
  }
  const incoming = toRequest(response, request, headers, method, gone.signal);
  const answer = await handlers.request(incoming);
  if (gone.signal.aborted) return;
  const closes = incoming.leftover() || isDraining();
  incoming.forget();
  write(response, answer, { isHead: method === "HEAD", closes });
}

/** What the library lets through and `node:http` does not. */
function faultOf(headers: ReadonlyMap<string, string>): { readonly status: number; readonly detail: string } | null {
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length;
  if (bytes > MAX_HEADER_BYTES) return { status: 431, detail: "the headers are longer than 16 KiB" };
  if (!/^\d{1,15}$/.test(headers.get("content-length") ?? "0")) {
    return { status: 400, detail: "content-length must be one number" };
  }
  return null;
}

interface UwsRequest extends TransportRequest {
  /** Whether a body is under way that nobody took to its end. */
  leftover(): boolean;
  /** Lets what still arrives of the body go: the response may not be touched once it was answered. */
  forget(): void;
}

function toRequest(
  response: HttpResponse,
  request: HttpRequest,
  headers: ReadonlyMap<string, string>,
  method: string,
  signal: AbortSignal,
): UwsRequest {
  const remoteAddress = Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
  const declared = Number(headers.get("content-length") ?? 0);
  const hasBody = declared > 0 || headers.has("transfer-encoding");
  // A body is only kept when it is handed to a listener in the tick it arrived in.
  const body = hasBody ? new IncomingBody(response, signal) : null;
  return {
    method,
    path: request.getUrl(),
    query: request.getQuery() ?? "",
    header: (name) => headers.get(name),
    remoteAddress,
    signal,
    body: (limitBytes, timeoutMs) => {
      if (declared > limitBytes) return Promise.reject(new BodyTooLarge());
      return body === null ? Promise.resolve(new Uint8Array()) : body.read(limitBytes, timeoutMs);
    },
    leftover: () => body !== null && !body.complete,
    forget: () => body?.forget(),
  };
}

function readHeaders(request: HttpRequest): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  request.forEach((name, value) => {
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`);
  });
  return headers;
}

/** Bytes held for a body nobody has asked for yet; past that the sender is paused. */
const EARLY_BYTES = 64 * 1024;
/** Time without a byte of a body after which it is given up: the library cuts such a connection soon after. */
const STALLED_MS = 6_000;

/** A body as it arrives; paused until it is asked for once it is more than a little. */
class IncomingBody {
  complete = false;
  readonly #response: HttpResponse;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #limit = EARLY_BYTES;
  #reading = false;
  #paused = false;
  #settle: ((error: Error | null) => void) | null = null;
  #aborted = false;
  #forgotten = false;
  #stalled: NodeJS.Timeout | undefined;

  constructor(response: HttpResponse, signal: AbortSignal) {
    this.#response = response;
    signal.addEventListener("abort", () => {
      this.#aborted = true;
      this.#settle?.(new ClientGone());
    });
    response.onData((chunk, isLast) => this.#hear(chunk, isLast));
  }

  forget(): void {
    this.#forgotten = true;
    this.#chunks.length = 0;
  }

  #hear(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#forgotten) return;
    this.#length += chunk.byteLength;
    this.complete = isLast;
    this.#stalled?.refresh();
    if (this.#length <= this.#limit || !this.#reading) this.#chunks.push(Buffer.from(Buffer.from(chunk)));
    if (this.#reading && this.#length > this.#limit) this.#settle?.(new BodyTooLarge());
    else if (isLast) this.#settle?.(null);
    else if (!this.#reading && this.#length > EARLY_BYTES && !this.#paused) {
      this.#paused = true;
      this.#response.pause();
    }
  }

  read(limitBytes: number, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const giveUp = () => this.#settle?.(new BodyTimeout());
      const timer = setTimeout(giveUp, timeoutMs);
      this.#stalled = setTimeout(giveUp, STALLED_MS);
      this.#settle = (error) => {
        clearTimeout(timer);
        clearTimeout(this.#stalled);
        this.#settle = null;
        if (error === null) resolve(Buffer.concat(this.#chunks));
        else reject(error);
      };
      this.#reading = true;
      this.#limit = limitBytes;
      if (this.#aborted) this.#settle(new ClientGone());
      else if (this.#length > limitBytes) this.#settle(new BodyTooLarge());
      else if (this.complete) this.#settle(null);
      else if (this.#paused) this.#response.resume();
    });
  }
}

interface Writing {
  readonly isHead: boolean;
  /** Whether the connection ends with this answer. */
  readonly closes: boolean;
}

function write(response: HttpResponse, answer: TransportAnswer, { isHead, closes }: Writing): void {
  response.cork(() => {
    response.writeStatus(`${answer.status} ${STATUS_CODES[answer.status] ?? ""}`);
    for (const [name, value] of Object.entries(answer.headers)) response.writeHeader(name, value);
    const length = Buffer.byteLength(answer.body);
    if (answer.status === 204 || answer.status === 304) {
      // The library ends a connection only with an answer that has a length; the client ends this one.
      if (closes) response.writeHeader("connection", "close");
      response.endWithoutBody();
    } else if (isHead && closes) response.endWithoutBody(length, true);
    else if (isHead) {
      // Told a length, the library would wait for that many bytes before it takes the next request.
      response.writeHeader("content-length", String(length));
      response.endWithoutBody();
    } else response.end(answer.body, closes);
  });
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
