import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { BodyBytes } from "./body-bytes.js";
import { type Fault, isChunkedAlone, OTHER_ENCODING, REPEATED_HOST } from "./request-faults.js";
import { ClientGone, DROP_IDLE_MS, type HoldBytes, MAX_HEADER_BYTES, type TransportRequest } from "./transport.js";
import { IncomingBody } from "./uws-body.js";

/** The client of a request, and whether it is still connected. */
export class Client {
  isGone = false;
  /** Whether the response is sent. After that, the response object must not be used. */
  isAnswered = false;
  readonly #listeners: (() => void)[] = [];
  #controller: AbortController | null = null;

  #isWatched = false;

  /** Starts to watch for a disconnect. Call it in the first tick, unless the response was sent in that tick. */
  watch(response: HttpResponse): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    response.onAborted(() => {
      this.isGone = true;
      this.#controller?.abort(new ClientGone());
      for (const listener of this.#listeners) listener();
    });
  }

  /** Aborts when the client disconnects. The signal is created on demand, because most requests never need it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isGone) this.#controller.abort(new ClientGone());
    return this.#controller.signal;
  }

  onGone(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** The headers of a request. */
export interface Headers {
  /** The headers by lower-case name. Repeated headers are joined. */
  readonly byName: ReadonlyMap<string, string>;
  /** The number of `Host` lines. */
  readonly hosts: number;
  /** The total length of names and values. */
  readonly bytes: number;
}

/**
 * Returns a fault in a request that `node:http` refuses but this library accepts, or null.
 *
 * Some requests never reach this function:
 *
 * - The library answers some requests itself, without a problem body: 505 for anything but HTTP/1.1 (other bytes,
 *   HTTP/1.0, an absolute URL in the request line), 400 for an unclear length, 431 for headers over 64 KiB.
 * - The library treats a head as incomplete if it has more than 100 headers, no `Host`, or a malformed header. It then
 *   closes the connection without a response after 10 to 12 idle seconds.
 *
 * A header is malformed in these cases:
 *
 * - Its name has characters other than letters, digits and hyphens.
 * - Its line has no colon, is folded, or has a control character.
 *
 * The library accepts some malformed bytes that this function cannot see: other bytes after a chunk size, a chunk
 * without a final CRLF, and WebSocket frames without a mask.
 */
export function lookUpFault({ byName: headers, hosts, bytes }: Headers, method: string): Fault | null {
  if (bytes > MAX_HEADER_BYTES) return { status: 431, detail: "the headers are longer than 16 KiB" };
  if (hosts > 1) return { status: 400, detail: REPEATED_HOST };
  const length = headers.get("content-length");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return { status: 400, detail: "content-length must be one number" };
  }
  const encoding = headers.get("transfer-encoding");
  if (!isChunkedAlone(encoding)) return { status: 400, detail: OTHER_ENCODING };
  // Refuse the request: the connection must close after a chunked body, but the library does not close it after a
  // streamed response.
  if ((method === "GET" || method === "HEAD") && encoding !== undefined) {
    return { status: 400, detail: `a chunked body is not allowed for ${method}` };
  }
  return null;
}

/** Whether the headers announce a body. */
export function hasBody({ byName }: Headers): boolean {
  return byName.has("transfer-encoding") || Number(byName.get("content-length") ?? 0) > 0;
}

/** A request of this library. Its body may still arrive after the response. */
export interface UwsRequest extends TransportRequest {
  /**
   * Whether the connection must close after this request, because the body is incomplete or chunked. So bytes that are
   * hidden behind a chunked body are never parsed as a request.
   */
  isLast(): boolean;
  /** Drops the rest of the body, because the response object must not be used after the response. */
  forget(): void;
  /** Whether the client was still sending its body when `dropBody` gave up. */
  isFlooding(): boolean;
}

/** Reads the parts of a request that the library provides only in the request's first tick. */
export function toRequest(
  response: HttpResponse,
  request: HttpRequest,
  headers: ReadonlyMap<string, string>,
  method: string,
  client: Client,
): UwsRequest {
  return new IncomingRequest(response, request, { headers, method, client });
}

const NO_BYTES = Promise.resolve(new Uint8Array());

/** The parts of a request that were read in its first tick. */
interface Head {
  readonly headers: ReadonlyMap<string, string>;
  readonly method: string;
  readonly client: Client;
}

/** This is a class, because an object literal with getters costs more than all other objects of a request together. */
class IncomingRequest implements UwsRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #response: HttpResponse;
  readonly #client: Client;
  /** The declared length in bytes; null for a chunked body. */
  readonly #declared: number | null;
  readonly #body: IncomingBody | null;
  #remoteAddress: string | null = null;

  constructor(response: HttpResponse, request: HttpRequest, { headers, method, client }: Head) {
    this.method = method;
    this.path = request.getUrl();
    this.query = request.getQuery() ?? "";
    this.#headers = headers;
    this.#response = response;
    this.#client = client;
    this.#declared = headers.has("transfer-encoding") ? null : Number(headers.get("content-length") ?? 0);
    // Listen for the body now, because the library drops a body that has no listener in the first tick.
    this.#body = this.#declared === 0 ? null : new IncomingBody(response, client);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  headers(): ReadonlyMap<string, string> {
    return this.#headers;
  }

  /** Cached, because one call to the library costs half as much as reading the rest of a request. */
  get remoteAddress(): string {
    this.#remoteAddress ??= this.#readRemoteAddress();
    return this.#remoteAddress;
  }

  get isGone(): boolean {
    return this.#client.isGone;
  }

  get signal(): AbortSignal {
    return this.#client.signal;
  }

  body(limitBytes: number, timeoutMs: number, holdBytes: HoldBytes): Promise<Uint8Array> {
    return this.#body?.read(() => new BodyBytes(this.#declared, limitBytes, holdBytes), timeoutMs) ?? NO_BYTES;
  }

  get isSending(): boolean {
    return this.#body !== null && !this.#body.complete && !this.#client.isGone;
  }

  async dropBody(idleMs: number = DROP_IDLE_MS): Promise<void> {
    if (this.isSending) await this.#body?.drop(idleMs);
  }

  #readRemoteAddress(): string {
    const { isGone, isAnswered } = this.#client;
    return isGone || isAnswered ? "" : Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
  }

  isLast(): boolean {
    return this.#declared === null || (this.#body !== null && !this.#body.complete);
  }

  forget(): void {
    this.#body?.forget();
  }

  isFlooding(): boolean {
    return this.#body?.isFlooding === true;
  }
}

/**
 * Reads the headers. Call it in the request's first tick, because later the headers are not available. The library
 * strips bytes above 0x7F from both ends of a value, so `key` and `keyé` are the same `Idempotency-Key`. With
 * `node:http`, a value keeps these bytes, and the service refuses it.
 */
export function readHeaders(request: HttpRequest): Headers {
  const byName = new Map<string, string>();
  let hosts = 0;
  let bytes = 0;
  request.forEach((name, value) => {
    const before = byName.get(name);
    const more = before === undefined ? value : `${name === "cookie" ? "; " : ", "}${value}`;
    byName.set(name, before === undefined ? more : before + more);
    bytes += before === undefined ? name.length + more.length : more.length;
    if (name === "host") hosts += 1;
  });
  return { byName, hosts, bytes };
}
