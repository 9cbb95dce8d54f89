import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Agent, type buildConnector } from "undici";
import type { RunSignal } from "../../runtime/run-signal.js";
import { AddressRefused, guardedAddress, type Resolve, resolveWithSystem } from "./address-guard.js";
import type { AllowList } from "./allow-list.js";

/** A request that was not sent because it may not be. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
}

export interface OutboundRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: RunSignal;
}

export interface OutboundAnswer {
  readonly status: number;
  /** The beginning of the body. */
  readonly body: string;
  /** The `retry-after` header as it came, or null. */
  readonly retryAfter: string | null;
}

/** Sends requests to hosts on the allow-list, and to nowhere else. */
export interface Outbound {
  /**
   * Rejects with {@link RequestRefused} when the host or the address it leads to is not admitted, and with a network
   * error or `AbortError` otherwise. Redirects are answers like any other; no proxy of the environment is used.
   */
  post(request: OutboundRequest & { readonly body: string }): Promise<OutboundAnswer>;
  /** As `post`, without a body. */
  get(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  readonly allowList: AllowList;
  readonly resolve?: Resolve;
  /** Bytes kept of a body; the rest is not read. */
  readonly keepBytes: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_HOST = 64;

/** An outbound path whose every connection is checked on the address it really goes to. */
export function createOutbound({ allowList, resolve = resolveWithSystem, keepBytes }: OutboundOptions): Outbound {
  const agentFor = (admitsPrivate: boolean) =>
    new Agent({
      connect: guardedConnector(admitsPrivate, resolve),
      connections: CONNECTIONS_PER_HOST,
      pipelining: 1,
    });
  const agents = { guarded: agentFor(false), named: agentFor(true) };
  const send = async (method: "GET" | "POST", request: OutboundRequest, body: string | null) => {
    const { url, headers, timeoutMs, signal } = request;
    const admission = allowList.admits(url);
    if (!admission.admitted) throw new RequestRefused(admission.reason);
    const agent = admission.admitsPrivate ? agents.named : agents.guarded;
    const { signal: cut, end } = cutBy(signal, timeoutMs);
    try {
      const answer = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { ...headers },
        body,
        signal: cut,
      });
      const wait = answer.headers["retry-after"];
      const retryAfter = typeof wait === "string" ? wait : null;
      return { status: answer.statusCode, body: await readStart(answer.body, keepBytes), retryAfter };
    } catch (error) {
      throw error instanceof AddressRefused ? new RequestRefused(error.message) : error;
    } finally {
      end();
    }
  };
  return {
    post: (request) => send("POST", request, request.body),
    get: (request) => send("GET", request, null),
    close: async () => {
      await Promise.all([agents.guarded.destroy(), agents.named.destroy()]);
    },
  };
}

/** A signal that ends with the given one or when the time is up; cheaper than `AbortSignal.any` with a timeout. */
function cutBy(signal: RunSignal, timeoutMs: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new DOMException("the time is up", "TimeoutError")), timeoutMs);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

/** Opens connections only to the address that was checked, whatever the name resolves to a moment later. */
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
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
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

async function readStart(body: AsyncIterable<Buffer>, keepBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early ends the connection instead of reading what is not kept.
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= keepBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, keepBytes).toString("utf8");
}
