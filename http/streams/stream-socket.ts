import { z } from "zod";
import { isRefusal } from "../../actors/refusal.js";
import type { Socket, SocketHandler, SocketRoute } from "../wire/socket.js";
import { STREAM_PATH, type StreamReaders } from "./stream-readers.js";
import { type ReaderOptions, type StreamClose, TopicStream } from "./topic-stream.js";

/** A message from a client. */
const commandSchema = z.union([
  z.strictObject({ subscribe: z.string().max(200), after: z.int().min(0).optional() }),
  z.strictObject({ unsubscribe: z.string().max(200) }),
]);

/** Codes 4000 to 4999 are for applications (RFC 6455, 7.4.2). */
const BAD_COMMAND: StreamClose = {
  code: 4400,
  reason: 'send {"subscribe": "<topic>", "after": <number from 0>?} or {"unsubscribe": "<topic>"}',
};

/**
 * The WebSocket endpoint for changes. A subscriber gets a topic's current state, or the changes that the subscriber
 * missed, and then later changes.
 */
export function streamSocket(readers: StreamReaders): SocketRoute {
  return {
    path: STREAM_PATH,
    summary: "Stream changes of the data that the caller may read",
    description:
      'After that, send `{"subscribe": "<topic>"}`, with `after` to continue after a sequence number, or ' +
      '`{"unsubscribe": "<topic>"}`. The service sends `{topic, seq, kind, data}` ' +
      "with a `kind` of `snapshot`, `change`, `reset` or `error`.",
    credentials: ["session", "token"],
    isServedReadOnly: true,
    maxMessageBytes: 4_096,
    open: async (request) => {
      const admitted = readers.admit(request);
      if (isRefusal(admitted)) return admitted;
      const { options } = admitted;
      return { holder: options.holder, open: (socket) => new SocketStream(options, socket) };
    },
  };
}

/** One reader's socket. */
class SocketStream implements SocketHandler {
  readonly #socket: Socket;
  readonly #stream: TopicStream;

  constructor(options: ReaderOptions, socket: Socket) {
    this.#socket = socket;
    this.#stream = new TopicStream(options, {
      send: (_kind, json) => socket.send(json),
      get bufferedBytes() {
        return socket.bufferedBytes;
      },
      close: (close) => this.#close(close),
    });
  }

  message(text: string): void {
    this.#stream.unlessDamaged(null, () => this.#take(text));
  }

  drained(): void {
    this.#stream.drained();
  }

  closed(): void {
    this.#stream.closed();
  }

  #take(text: string): void {
    const caller = this.#stream.caller();
    if (caller === null) return;
    const command = parseCommand(text);
    if (command === null) return this.#close(BAD_COMMAND);
    if ("unsubscribe" in command) return this.#stream.unsubscribe(command.unsubscribe);
    this.#stream.subscribe(command.subscribe, command.after, caller);
  }

  #close({ code, reason }: StreamClose): void {
    this.#socket.close(code, reason);
  }
}

function parseCommand(text: string): z.output<typeof commandSchema> | null {
  try {
    const parsed = commandSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
