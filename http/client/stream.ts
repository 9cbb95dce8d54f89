import type { ClientOptions } from "./client.js";
import { ConnectionError } from "./problem.js";

/** A message of a topic. `data` has the form that the documentation of streams gives for the topic. */
export interface StreamMessage {
  readonly topic: string;
  /** The sequence number of the last change that the message includes. Absent if the message is an error. */
  readonly seq?: number;
  readonly kind: "snapshot" | "change" | "reset" | "error";
  readonly data: unknown;
}

/** The part of a WebSocket that the stream uses. The standard `WebSocket` and the package `ws` both have it. */
export interface Socket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

/** The options of a stream: some of the client's settings, and settings of the stream itself. */
export interface StreamOptions extends Pick<ClientOptions, "baseUrl" | "token" | "cookie" | "headers" | "parse"> {
  /**
   * Opens a socket. Default: the global `WebSocket`. Pass your own function on Node 20, or to send credentials from a
   * browser.
   */
  readonly open?: (url: string, headers: Readonly<Record<string, string>>) => Socket;
  /** Called each time the stream is connected, also after a reconnect. */
  readonly onConnected?: () => void;
  /** Called when the connection was lost, before the wait of `waitMs` until the next attempt. */
  readonly onLost?: (waitMs: number) => void;
  /** Calls `run` after a wait; returns a function that cancels it. Default: a timer. */
  readonly later?: (ms: number, run: () => void) => () => void;
}

/** An open stream. It reconnects and continues each topic after the last message. */
export interface Stream {
  /**
   * Subscribes to a topic such as `task/<id>`. With `after`, the `seq` of an earlier message, continues after that
   * message. Returns a function that unsubscribes.
   */
  subscribe(topic: string, listener: (message: StreamMessage) => void, after?: number): () => void;
  close(): void;
  /**
   * Rejects when the service closes the stream for good, for example because the credential is no longer valid.
   * Resolves after `close`.
   */
  readonly ended: Promise<void>;
}

/**
 * The wait before the first attempt to reconnect, in milliseconds. Each further wait is twice as long, up to the
 * maximum below.
 */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** The service closes with 4401 when the credential becomes invalid, and with 4400 after an invalid command. */
const isFinal = (code: number): boolean => code === 4401 || code === 4400;

interface Subscription {
  readonly listener: (message: StreamMessage) => void;
  seq: number | undefined;
}

/** Opens the stream of changes. One connection carries all topics. */
export function openStream(options: StreamOptions = {}): Stream {
  const { parse = JSON.parse, later = laterByTimer, open = openGlobal } = options;
  const subscriptions = new Map<string, Subscription>();
  let socket: Socket | null = null;
  let isOpen = false;
  let isClosed = false;
  let attempts = 0;
  let cancel = (): void => undefined;
  let settle: { resolve(): void; reject(error: Error): void };
  const ended = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Prevent an unhandled rejection if the caller does not use `ended`.
  ended.catch(() => undefined);

  const send = (command: object): void => {
    if (isOpen) socket?.send(JSON.stringify(command));
  };
  const end = (error?: Error): void => {
    isClosed = true;
    cancel();
    socket?.close();
    if (error === undefined) settle.resolve();
    else settle.reject(error);
  };
  const connect = (): void => {
    const now = open(toUrl(options.baseUrl), toHeaders(options));
    socket = now;
    now.onopen = () => {
      isOpen = true;
      for (const [subscribe, { seq: after }] of subscriptions) send({ subscribe, after });
      options.onConnected?.();
    };
    now.onmessage = ({ data }: { readonly data: unknown }) => {
      attempts = 0;
      const message = parse(String(data)) as StreamMessage;
      const subscription = subscriptions.get(message.topic);
      if (subscription === undefined) return;
      subscription.seq = message.seq ?? subscription.seq;
      subscription.listener(message);
    };
    // Ignore the error, because a close event follows it.
    now.onerror = () => undefined;
    now.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) => {
      isOpen = false;
      if (isClosed) return;
      if (isFinal(code)) return end(new ConnectionError(`The service closed the stream: ${reason || code}`));
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
      attempts += 1;
      options.onLost?.(waitMs);
      cancel = later(waitMs, connect);
    };
  };
  connect();
  return {
    ended,
    subscribe: (topic, listener, after) => {
      subscriptions.set(topic, { listener, seq: after });
      send({ subscribe: topic, after });
      return () => {
        if (subscriptions.delete(topic)) send({ unsubscribe: topic });
      };
    },
    close: () => end(),
  };
}

function toUrl(baseUrl: string | undefined): string {
  return `${(baseUrl ?? location.origin).replace(/^http/, "ws")}/api/stream`;
}

function toHeaders({ token, cookie, headers }: StreamOptions): Record<string, string> {
  return {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(cookie === undefined ? {} : { cookie }),
  };
}

/**
 * Opens a global `WebSocket`. Browsers send the page's cookie, and cannot send other headers. In Node, the headers are
 * passed in place of the list of protocols.
 */
function openGlobal(url: string, headers: Readonly<Record<string, string>>): Socket {
  const Make = WebSocket as unknown as new (url: string, options?: object) => Socket;
  return Object.keys(headers).length === 0 ? new Make(url) : new Make(url, { headers });
}

function laterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

declare const location: { readonly origin: string };
