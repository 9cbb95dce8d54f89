import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Agent, type buildConnector } from "undici";
import type { RunSignal } from "../../runtime/run-signal.js";
import { AddressRefused, guardedAddress, type Resolve } from "./address-guard.js";
import type { AllowList } from "./allow-list.js";
import { ACCEPTED_CODINGS, decoded } from "./content-coding.js";
import { type BytesAnswer, HttpExchange, type OutboundAnswer, toTextAnswer } from "./http-exchange.js";
import { resolveNames } from "./name-resolution.js";

/** A request was not sent because it is not allowed. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
}

/** There was no connection to send a request over. Its code, where it has one, is the network's, or TLS's. */
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
  /** Most bytes of the answer's body, decoded; the rest is not read. That of {@link OutboundOptions} unless given. */
  readonly maxBodyBytes?: number;
}

export type OutboundMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request of any method, whose answer is wanted as it came. */
export interface AnyRequest extends OutboundRequest {
  readonly method: OutboundMethod;
  readonly body: string | null;
  readonly maxBodyBytes: number;
}

/** Sends requests to hosts on the allow-list only. */
export interface Outbound {
  /**
   * Rejects with {@link RequestRefused} when the host or its address is not admitted, and with a network error,
   * `TimeoutError` or `AbortError` otherwise. Redirects are not followed; proxy settings of the environment are
   * ignored. Each request asks for the content codings that are decoded here, unless its headers name others. Once the
   * head of an answer has arrived, it resolves: an answer whose body could not be read whole says why.
   */
  post(request: OutboundRequest & { readonly body: string }): Promise<OutboundAnswer>;
  /** As `post`, without a body. */
  get(request: OutboundRequest): Promise<OutboundAnswer>;
  /** As `post`, with any method. The answer has its body as bytes, and its headers. */
  send(request: AnyRequest): Promise<BytesAnswer>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  readonly allowList: AllowList;
  readonly resolve?: Resolve;
  /** Most bytes of an answer's body where the request sets no limit. */
  readonly maxBodyBytes: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Sends requests over connections that are checked by the address that they really go to. */
export function createOutbound({ allowList, resolve = resolveNames, maxBodyBytes }: OutboundOptions): Outbound {
  const agentFor = (admitsPrivate: boolean) =>
    new Agent({
      connect: guardedConnector(admitsPrivate, resolve),
      // Each request has its own time limit.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
      // Lanes bound how many requests there are, so that none waits in here.
      connections: null,
      pipelining: 1,
    });
  const agents = { guarded: agentFor(false), named: agentFor(true) };
  // Fields are named one by one: copies of whole requests are dear.
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
    post: ({ url, headers, body, timeoutMs, signal, maxBodyBytes: most = maxBodyBytes }) =>
      send({ url, headers, body, timeoutMs, signal, method: "POST", maxBodyBytes: most }).then(toTextAnswer),
    get: ({ url, headers, timeoutMs, signal, maxBodyBytes: most = maxBodyBytes }) =>
      send({ url, headers, body: null, timeoutMs, signal, method: "GET", maxBodyBytes: most }).then(toTextAnswer),
    send,
    close: async () => {
      await Promise.all([agents.guarded.destroy(), agents.named.destroy()]);
    },
  };
}

/** Opens connections only to the checked address, even if the name now resolves to another. */
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
