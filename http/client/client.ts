import type { Answer, CallOptions, OptionsArgument, PathWith, Verb } from "./calls.js";
import { ApiError, ConnectionError } from "./problem.js";

/** Settings of a client. In a page of the service itself, none is needed. */
export interface ClientOptions {
  /** The address of the service, such as `https://signalbox.example.com`. Default: the page's own origin. */
  readonly baseUrl?: string;
  /** A workspace token. */
  readonly token?: string;
  /** The `session` cookie of a signed-in person, as `name=value`. Browsers send it themselves. */
  readonly cookie?: string;
  /** Aborts every call that has no `signal` of its own. */
  readonly signal?: AbortSignal;
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Parses JSON. The default, `JSON.parse`, rounds integers above 2^53. */
  readonly parse?: (text: string) => unknown;
  /** Writes JSON bodies. The default, `JSON.stringify`, rejects a `bigint`. */
  readonly stringify?: (value: unknown) => string;
  /**
   * Maximum total time that one call waits before retries, in milliseconds. The client retries responses 429 and 503
   * that have a `retry-after`. Default: 60,000.
   */
  readonly retryMs?: number;
  /** The longest `retry-after` to wait for, in milliseconds. Default: `retryMs`. */
  readonly maxRetryAfterMs?: number;
  /**
   * Whether to retry also after lost responses and temporary errors (see {@link ApiError.isTemporary}). This applies to
   * GET, and to POST, which has an idempotency key. Default: false, so that a call to a wrong address fails at once.
   */
  readonly retriesLost?: boolean;
  /** How long the service may take to answer one attempt, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** The maximum size of a response body, in bytes. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Called before each wait for a retry. */
  readonly onRetry?: (retry: Retry) => void;
  /** Waits before a retry. Rejects when the signal aborts. Default: a timer. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** A failed attempt that the client repeats. */
export interface Retry {
  /** Method and path. */
  readonly call: string;
  /** Null if no response arrived. */
  readonly status: number | null;
  readonly message: string;
  readonly waitMs: number;
}

/** A typed client of the API. Each method takes a path of the API, and then the options that the operation needs. */
export type Client = {
  readonly [V in Verb]: <const Path extends PathWith<V>>(
    path: Path,
    ...options: OptionsArgument<V, Path>
  ) => Promise<Answer<V, Path>>;
} & {
  /**
   * Sends a call whose path is not known to the compiler. Returns the status, the headers and the text of the
   * successful response.
   */
  send(verb: Verb, path: string, options?: AnyOptions): Promise<Received>;
};

/** A complete response. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The options of a call, without the types of its operation. */
export interface AnyOptions extends CallOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly version?: number;
}

/**
 * The wait before the first retry after a lost response, in milliseconds. Each further wait is twice as long, up to the
 * maximum below.
 */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Creates a client of the service's API. */
export function createClient(options: ClientOptions = {}): Client {
  const { parse = JSON.parse } = options;
  const send: Client["send"] = (verb, path, call = {}) => request(options, verb, path, call);
  const call = (verb: Verb) => async (path: string, given?: AnyOptions) => {
    const { headers, text } = await send(verb, path, given);
    const type = headers.get("content-type");
    if (type?.includes("json") === true) return parse(text);
    return type === null && text === "" ? null : text;
  };
  return {
    get: call("get"),
    post: call("post"),
    put: call("put"),
    patch: call("patch"),
    delete: call("delete"),
    send,
  } as Client;
}

async function request(options: ClientOptions, verb: Verb, path: string, call: AnyOptions): Promise<Received> {
  const { retryMs = 60_000, maxRetryAfterMs = retryMs, retriesLost = false, wait = waitFor, onRetry } = options;
  const name = `${verb.toUpperCase()} ${path}`;
  const url = `${options.baseUrl ?? ""}${fill(path, call)}`;
  const init = toInit(options, verb, call);
  const signal = (call.signal === undefined ? options.signal : call.signal) ?? undefined;
  const mayRepeat = retriesLost && (verb === "get" || verb === "post");
  let waitedMs = 0;
  for (let attempt = 0; ; attempt++) {
    const received = await attemptOnce(options, url, init, signal).catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      const { baseUrl = null } = options;
      return new ConnectionError(`${name} got no answer from ${baseUrl ?? "the service"}`, {
        url: baseUrl,
        cause: error,
      });
    });
    const isAnswer = !(received instanceof Error);
    if (isAnswer && received.status >= 200 && received.status < 300) return received;
    const failure = isAnswer ? new ApiError(name, received) : received;
    const afterMs = isAnswer ? toRetryAfter(received) : null;
    const isLost = failure instanceof ConnectionError || failure.isTemporary;
    const backoffMs = isLost && mayRepeat ? Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) : null;
    const waitMs = afterMs === null || backoffMs === null ? (afterMs ?? backoffMs) : Math.max(afterMs, backoffMs);
    if (waitMs === null || (afterMs ?? 0) > maxRetryAfterMs || waitedMs + waitMs > retryMs) throw failure;
    onRetry?.({ call: name, status: isAnswer ? received.status : null, message: failure.message, waitMs });
    await wait(waitMs, signal);
    waitedMs += waitMs;
  }
}

async function attemptOnce(
  { fetch: send = fetch, timeoutMs = 60_000, maxBytes = 64 * 1024 ** 2 }: ClientOptions,
  url: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await send(url, {
    ...init,
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  });
  const { status, headers } = response;
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes += part.value.length;
    if (bytes > maxBytes) {
      await reader?.cancel();
      throw new RangeError(`The response has more than ${maxBytes} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return { status, headers, text: text + decoder.decode() };
}

/** Returns the wait that a 429 or 503 requires in its `retry-after`, in milliseconds; null for any other response. */
function toRetryAfter({ status, headers }: Received): number | null {
  const after = headers.get("retry-after");
  if (after === null || (status !== 429 && status !== 503)) return null;
  const ms = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

function toInit(
  { token, cookie, headers, stringify = JSON.stringify }: ClientOptions,
  verb: Verb,
  call: AnyOptions,
): RequestInit {
  const { body, version } = call;
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const own: Record<string, string | undefined> = {
    ...headers,
    authorization: token === undefined ? headers?.authorization : `Bearer ${token}`,
    cookie,
    "content-type": isJson ? "application/json" : undefined,
    "idempotency-key": verb === "post" ? (call.idempotencyKey ?? createKey()) : undefined,
    "if-match": version === undefined ? undefined : `"${version}"`,
    ...call.headers,
  };
  for (const name in own) if (own[name] === undefined) delete own[name];
  return {
    method: verb.toUpperCase(),
    headers: own as Record<string, string>,
    // Follow no redirects: a redirect could send the token to another host.
    redirect: "manual",
    ...(body === undefined ? {} : { body: (isJson ? stringify(body) : body) as NonNullable<RequestInit["body"]> }),
  };
}

/** Returns 128 random bits. Pages without TLS have no `crypto.randomUUID`. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("-");
}

/** Replaces the path parameters, and appends the query. A list becomes one parameter for each value. */
function fill(path: string, { path: params = {}, query = {} }: AnyOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (hole, name: string) => {
    const value = params[name];
    // Refuse these segments: a URL parser would resolve them, and the call would go to another path.
    if (value === "." || value === "..") throw new TypeError(`The path parameter ${name} must not be ${value}`);
    return value === undefined ? hole : encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort);
  });
}
