import { z } from "zod";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { LiveConnection, LiveHandler } from "../wire/live-answer.js";
import type { EdgeRefusal } from "../wire/problem.js";
import { type Route, route } from "../wire/route.js";
import type { Announced } from "./announcements.js";
import { EventIds, type ResumePoint } from "./event-id.js";
import { STREAM_PATH, type StreamReaders } from "./stream-readers.js";
import { findAnnounced, MAX_TOPICS, type MessageKind, type ReaderOptions, TopicStream } from "./topic-stream.js";

/** How long a client waits before it reconnects, in milliseconds. */
const RETRY_MS = 1_000;
/**
 * Interval between comments that keep an idle connection open, in milliseconds. Proxies often close an idle connection
 * after 60 s.
 */
const HEARTBEAT_MS = 15_000;

/**
 * The event names by kind. A browser fires `error` for a lost connection too, so the end of a topic has another name.
 */
const eventNames: Readonly<Record<MessageKind, string>> = {
  snapshot: "snapshot",
  change: "change",
  reset: "reset",
  error: "topic-error",
};

const NO_TOPICS: EdgeRefusal = {
  refused: "upgrade-required",
  detail: "Send the headers of a WebSocket upgrade, or name topics for server-sent events: ?topics=team/<id>,run/<id>",
};

/**
 * Returns the route that sends server-sent events (HTML, section 9.2). The events contain the same messages as the
 * WebSocket.
 */
export function eventStreamRoutes(readers: StreamReaders): readonly Route[] {
  return [
    route({
      method: "GET",
      path: STREAM_PATH,
      operation: "openStream",
      summary: "Stream changes of the data that the caller may read",
      description: `Without the headers of a WebSocket upgrade, the service sends server-sent events about \`topics\`. Each event has the message as \`data\` and its kind as name (\`topic-error\` for \`error\`). The header \`Last-Event-ID\` continues all topics after an event; an event stream in a browser sends it when it reconnects.`,
      access: "any",
      query: z.strictObject({
        topics: z
          .string()
          .optional()
          .describe(
            `Up to ${MAX_TOPICS} topics, separated by commas: a kind such as team, task, run or replay, a slash, an id.`,
          ),
      }),
      answers: {
        200: {
          body: null,
          text: "text/event-stream",
          headers: { "x-accel-buffering": "Always no, so that a proxy passes each event on at once." },
        },
      },
      problems: ["forbidden", "not-found", "upgrade-required"],
      handle: (request) => {
        const admitted = readers.admit(request);
        if (isRefusal(admitted)) return admitted;
        const { options, caller } = admitted;
        if (request.query.topics === undefined) return NO_TOPICS;
        const names = request.query.topics.split(",");
        const wrong = checkNames(names, [...readers.topics.keys()]) ?? takeAll(options, names.length);
        if (wrong !== null) return wrong;
        const announced: Announced[] = [];
        for (const name of names) {
          const found = findAnnounced(options, name, caller);
          if (found === undefined) return noTopic(name);
          announced.push(found);
        }
        const ids = new EventIds(announced);
        const lastId = request.header("last-event-id");
        const from = lastId === undefined ? ids.start() : ids.read(lastId);
        if (from === null) return WRONG_ID;
        const open = (connection: LiveConnection) => new EventStream(options, connection, { announced, ids, from });
        const live = { type: "text/event-stream", holder: options.holder, open };
        return { status: 200, live, headers: { "x-accel-buffering": "no" } };
      },
    }),
  ];
}

const WRONG_ID: Refusal = {
  refused: "bad-request",
  detail: "Last-Event-ID must be the id of an event of this stream.",
};

function noTopic(name: string): Refusal {
  return { refused: "not-found", detail: `The topic ${name} does not exist, or you do not have access to it.` };
}

function checkNames(names: readonly string[], kinds: readonly string[]): Refusal | null {
  const refuse = (detail: string): Refusal => ({ refused: "bad-request", detail: `topics: ${detail}` });
  if (names.length > MAX_TOPICS) return refuse(`at most ${MAX_TOPICS} topics can be named, not ${names.length}`);
  for (const [index, name] of names.entries()) {
    const [kind = "", id = "", ...rest] = name.split("/");
    if (!kinds.includes(kind) || id === "" || rest.length > 0) {
      return refuse(`"${name}" must be <kind>/<id>, with a kind of ${kinds.join(", ")}`);
    }
    if (names.indexOf(name) < index) return refuse(`"${name}" is named twice`);
  }
  return null;
}

/** Counts `count` subscriptions against the reader's limit. Returns a refusal beyond the limit, otherwise null. */
function takeAll({ rate, holder }: ReaderOptions, count: number): Refusal | null {
  const retryAfterSeconds = rate.take(holder, count);
  if (retryAfterSeconds === 0) return null;
  return { refused: "too-many-requests", detail: "Too many subscriptions to topics.", retryAfterSeconds };
}

interface EventStreamStart {
  readonly announced: readonly Announced[];
  readonly ids: EventIds;
  readonly from: ResumePoint;
}

/** One reader's event stream. */
class EventStream implements LiveHandler {
  readonly #connection: LiveConnection;
  readonly #stream: TopicStream;
  readonly #ids: EventIds;
  readonly #clock: ReaderOptions["runtime"]["clock"];
  #cancelHeartbeat: () => void = () => undefined;
  #isClosing = false;

  constructor(options: ReaderOptions, connection: LiveConnection, { announced, ids, from }: EventStreamStart) {
    this.#connection = connection;
    this.#ids = ids;
    this.#clock = options.runtime.clock;
    this.#stream = new TopicStream(options, {
      send: (kind, json) => this.#send(kind, json),
      get bufferedBytes() {
        return connection.bufferedBytes;
      },
      close: ({ code, reason }) => this.#close(`${code} ${reason}`),
    });
    connection.send(`retry: ${RETRY_MS}\n\n`);
    this.#beatLater();
    this.#stream.unlessDamaged(null, () => this.#stream.resume(announced, from.after, from.behind));
  }

  drained(): void {
    if (!this.#isClosing) this.#stream.drained();
  }

  closed(): void {
    this.#cancelHeartbeat();
    this.#stream.closed();
  }

  /** Sends an event. JSON has no line breaks, so it is one line of data. An error has no id: nothing follows it. */
  #send(kind: MessageKind, json: string | Uint8Array): void {
    const id = kind === "error" ? "" : `id: ${this.#ids.write(this.#stream)}\n`;
    const head = `event: ${eventNames[kind]}\n${id}data: `;
    if (typeof json === "string") this.#connection.send(`${head}${json}\n\n`);
    else this.#connection.send(Buffer.concat([Buffer.from(head), json, END]));
  }

  /**
   * Ends the response, with the reason as a comment. If the credential is no longer valid, the service refuses the
   * client's next request with a problem.
   */
  #close(reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#connection.send(`: closed: ${reason}\n\n`);
    this.#connection.end();
  }

  #beatLater(): void {
    this.#cancelHeartbeat = this.#clock.at(this.#clock.now() + HEARTBEAT_MS, () => {
      if (this.#connection.bufferedBytes === 0) this.#connection.send(":\n\n");
      this.#beatLater();
    });
  }
}

const END = Buffer.from("\n\n");
