import WebSocket from "ws";
import { readJson } from "../../../actors/exact-json.js";
import { openStream, type StreamMessage } from "../../client/entry.js";
import type { Context } from "./context.js";

/** Topics of the service's stream, read one message after the other. */
export interface Topics {
  /** Subscribes to a topic such as `task/<id>`; see `http/streams/README.md`. */
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /**
   * Resolves with the next message of any topic. Rejects when the command is interrupted, or when the stream ends for
   * good. Do not call `next` again before the previous promise has settled.
   */
  next(): Promise<StreamMessage>;
  close(): void;
}

interface ConnectionListener {
  readonly onLost?: () => void;
  readonly onConnected?: () => void;
}

/**
 * Opens the stream. After a lost connection, prints a note, connects again and continues after the last received
 * message.
 */
export function openTopics(
  { login, signal, terminal }: Context,
  { onLost, onConnected }: ConnectionListener = {},
): Topics {
  const { url, token, cookie } = login;
  const messages: StreamMessage[] = [];
  let end: { readonly reason: unknown } | null = signal.aborted ? { reason: signal.reason } : null;
  let look = (): void => undefined;
  const stream = openStream({
    baseUrl: url,
    parse: readJson,
    ...(token === undefined ? {} : { token }),
    ...(cookie === undefined ? {} : { cookie }),
    open: (address, headers) => new WebSocket(address, { headers }),
    onLost: (waitMs) => {
      onLost?.();
      terminal.note(`connection lost: reconnecting in ${waitMs / 1_000} s`);
    },
    ...(onConnected === undefined ? {} : { onConnected }),
  });
  const endWith = (reason: unknown): void => {
    end ??= { reason };
    look();
  };
  const interrupt = (): void => endWith(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  stream.ended.catch(endWith);
  const receive = (message: StreamMessage): void => {
    messages.push(message);
    look();
  };
  const subscriptions = new Map<string, () => void>();
  return {
    subscribe: (topic) => {
      if (!subscriptions.has(topic)) subscriptions.set(topic, stream.subscribe(topic, receive));
    },
    unsubscribe: (topic) => {
      subscriptions.get(topic)?.();
      subscriptions.delete(topic);
    },
    next: async () => {
      for (;;) {
        if (end !== null) throw end.reason;
        const message = messages.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          look = resolve;
        });
      }
    },
    close: () => {
      signal.removeEventListener("abort", interrupt);
      stream.close();
    },
  };
}
