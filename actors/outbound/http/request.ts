import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Agent, type buildConnector } from "undici";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import { AddressRefused, guardedAddress, type Resolve } from "./address-guard.js";
import type { AllowList } from "./allow-list.js";
import { ACCEPTED_CODINGS, decoded } from "./content-coding.js";
import { type BytesAnswer, HttpExchange, type OutboundAnswer, toTextAnswer } from "./http-exchange.js";
import { resolveNames } from "./name-resolution.js";

/** A request was not sent because it is not allowed. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
}

/** No connection could be opened for a request. `code` is the network's or TLS's error code, if there is one. */
export class ConnectionFailed extends Error {
  override readonly name = "ConnectionFailed";
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}

export interface OutboundRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: RunSignal;
  /**
   * Maximum size of the decoded answer body, in bytes; the rest is not read. The default is in {@link OutboundOptions}.
   */
  readonly maxBodyBytes?: number;
}

export type OutboundMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request of any method. Its answer has the headers, and the body as bytes. */
export interface AnyRequest extends OutboundRequest {
  readonly method: OutboundMethod;
  readonly body: string | null;
  readonly maxBodyBytes: number;
}

/** Sends requests to hosts on the allow-list only. */
export interface Outbound {
  /**
   * Sends a POST request. Rejects with {@link RequestRefused} if the host or its address is not allowed. Other failures
   * reject with a network error, `TimeoutError` or `AbortError`. After the head of an answer has arrived, only an abort
   * by the signal rejects. Any other failure resolves with an answer whose `unread` says why the body is incomplete.
   *
   * It does not follow redirects and ignores proxy settings of the environment. Unless the headers say otherwise, a
   * request accepts the content codings that the service can decode.
   */
  post(request: OutboundRequest & { readonly body: string }): Promise<OutboundAnswer>;
  /** Like `post`, but sends a GET request without a body. */
  get(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Like `post`, with any method. The answer contains the headers, and the body as bytes. */
  send(request: AnyRequest): Promise<BytesAnswer>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  readonly allowList: AllowList;
  readonly resolve?: Resolve;
  /** Maximum size of an answer body in bytes, if the request sets no limit. */
  readonly maxBodyBytes: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Creates a sender. Each connection is checked by the address that it actually connects to. */
export function createOutbound({ allowList, resolve = resolveNames, maxBodyBytes }: OutboundOptions): Outbound {
  const agentFor = (admitsPrivate: boolean) =>
    new Agent({
      connect: guardedConnector(admitsPrivate, resolve),
      // Each request has its own timeout.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Lanes already limit the number of requests, so requests do not wait for a connection here.
      connections: null,
      pipelining: 1,
    });
  const agents = { guarded: agentFor(false), named: agentFor(true) };
  // Name the fields one by one, because copying whole requests is expensive.
  const send = ({ url, method, headers, body, maxBodyBytes, timeoutMs, signal }: AnyRequest): Promise<BytesAnswer> => {
    const admission = allowList.admits(url);
    if (!admission.admitted) return Promise.reject(new RequestRefused(admission.reason));
    const agent = admission.admitsPrivate ? agents.named : agents.guarded;
    const exchange = new HttpExchange({ maxBodyBytes, timeoutMs, signal });
    const all = { "accept-encoding": ACCEPTED_CODINGS, ...headers };
    const request = { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers: all, body };
    decoded((options, decoding) => agent.dispatch(options, exchange.before(decoding)))(request, exchange);
    return exchange.answer;
  };
  return {
    post: ({ url, headers, body, timeoutMs, signal, maxBodyBytes: maxBytes = maxBodyBytes }) =>
      send({ url, headers, body, timeoutMs, signal, method: "POST", maxBodyBytes: maxBytes }).then(toTextAnswer),
    get: ({ url, headers, timeoutMs, signal, maxBodyBytes: maxBytes = maxBodyBytes }) =>
      send({ url, headers, body: null, timeoutMs, signal, method: "GET", maxBodyBytes: maxBytes }).then(toTextAnswer),
    send,
    close: async () => {
      await Promise.all([agents.guarded.destroy(), agents.named.destroy()]);
    },
  };
}

/** Opens connections only to the checked address, even if the name now resolves to another one. */
function guardedConnector(admitsPrivate: boolean, resolve: Resolve): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    const connect = async () => {
      const host = await guardedAddress(hostname, admitsPrivate, resolve);
      const to = { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
      const servername = isIP(hostname) === 0 ? hostname : "";
      const socket =
        protocol === "https:" ? connectTls({ ...to, servername, ALPNProtocols: ["http/1.1"] }) : connectPlain(to);
      await opened(socket, protocol === "https:" ? "secureConnect" : "connect");
      return socket;
    };
    connect().then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(failure(error), null),
    );
  };
}

function failure(error: unknown): Error {
  if (error instanceof AddressRefused) return new RequestRefused(error.message, { cause: error });
  return new ConnectionFailed(error);
}

function opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error("the connection took too long")));
    socket.once("error", reject);
    socket.once(event, () => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.off("error", reject);
      resolve();
    });
  });
}
