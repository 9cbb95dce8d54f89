import { z } from "zod";
import { findTopicSubject, type StreamTopic, seesSubject } from "../../actors/access/visibility/stream-topic.js";
import type { Caller } from "../../actors/caller.js";
import { writeJson } from "../../actors/exact-json.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { type FeedEntry, isDamage, type Runtime } from "../../runtime/runtime.js";
import { type Credential, findCaller, readCredential } from "../access/authenticate.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";
import { RateLimit } from "../limits/rate-limit.js";
import type { CallerNow, Credentials } from "../transport/entry.js";
import type { Socket, SocketHandler, SocketRoute } from "../wire/socket.js";
import { type Announced, Announcements } from "./announcements.js";
import { isStillAdmitted, type StreamReader } from "./reader-rights.js";

export interface StreamOptions {
  /** The topics by their kind, the first part of `<kind>/<id>`. */
  readonly topics: ReadonlyMap<string, StreamTopic>;
  readonly runtime: Runtime;
  readonly callerOf: (credentials: Credentials) => CallerNow;
  readonly expired: ExpiredCredentials;
}

/** A message from a client. */
const commandSchema = z.union([
  z.strictObject({ subscribe: z.string().max(200), after: z.int().min(0).optional() }),
  z.strictObject({ unsubscribe: z.string().max(200) }),
]);

const MAX_SUBSCRIPTIONS = 200;
/**
 * Limits on subscriptions: the rate per second, and the maximum burst. They apply to one user or token, over all its
 * sockets. A subscription may cost as much as a request.
 */
const SUBSCRIPTIONS_A_SECOND = 200;
const SUBSCRIPTIONS_AT_ONCE = 4_000;
/** Maximum number of buffered bytes of a slow reader. Beyond it, its topics are reset when it has caught up. */
const MAX_BEHIND_BYTES = 1024 * 1024;
/** Interval between checks of an open socket's credential, in milliseconds. */
const RECHECK_MS = 5_000;
/** Close codes of this endpoint. Codes 4000 to 4999 are for applications (RFC 6455, 7.4.2). */
const NOT_ADMITTED = 4401;
const BAD_COMMAND = 4400;
/** From the registry of RFC 6455: try again later. */
const TOO_SLOW = 1013;
/** RFC 6455, 7.4.1: the server cannot fulfil the request. */
const INTERNAL_ERROR = 1011;
const NOTHING_HERE = "This topic does not exist, or you do not have access to it.";
const DAMAGED = "The stored data of this topic is damaged.";

/**
 * The WebSocket endpoint for changes. A subscriber of a topic gets its current state, or the changes that it missed,
 * and then later changes.
 */
export function streamSocket(options: StreamOptions): SocketRoute {
  const { topics, runtime, expired } = options;
  const { clock } = runtime;
  const callerNow = (credential: Credential) => findCaller(credential, runtime, expired);
  const rights = { runtime, expired, findCaller: callerNow };
  const announcements = new Announcements(rights);
  const rate = new RateLimit({ max: SUBSCRIPTIONS_A_SECOND, perMs: 1_000, burst: SUBSCRIPTIONS_AT_ONCE, clock });
  return {
    path: "/api/stream",
    summary: "Stream changes of the data that the caller may read",
    description:
      'After that, send `{"subscribe": "<topic>"}`, with `after` to continue after a sequence number, or ' +
      '`{"unsubscribe": "<topic>"}`. A topic is `workspace`, `team`, `task`, `run`, `hook-occurrence`, ' +
      "`replay-set`, `replay` or `search`, then `/` and an id. The service sends `{topic, seq, kind, data}` " +
      "with a `kind` of `snapshot`, `change`, `reset` or `error`.",
    credentials: ["session", "token"],
    isServedReadOnly: true,
    maxMessageBytes: 4_096,
    open: async (request) => {
      // Pages of other hosts can open sockets with a person's cookie, so an upgrade counts as a write.
      const caller = options.callerOf({ method: "POST", header: (name) => request.header(name) })();
      const credential = readCredential(request);
      if (caller === null || credential === null) return NO_CALLER;
      if (isRefusal(caller)) return caller;
      const holder = caller.kind === "person" ? caller.userId : caller.tokenId;
      const forReader = {
        runtime,
        topics,
        announcements,
        rate,
        holder,
        isStillAdmitted: (reader: StreamReader) => isStillAdmitted(rights, reader),
        findCaller: () => callerNow(credential),
      };
      return { holder, open: (socket) => new Stream(forReader, credential, socket) };
    },
  };
}

const NO_CALLER: Refusal = {
  refused: "unauthenticated",
  detail: "This endpoint requires a signed-in user or a token.",
};

/** The dependencies of one reader's socket. */
interface ReaderOptions {
  readonly runtime: Runtime;
  readonly topics: ReadonlyMap<string, StreamTopic>;
  readonly announcements: Announcements;
  /** Limits subscriptions by holder. */
  readonly rate: RateLimit;
  /** The person or token that opened the socket. */
  readonly holder: string;
  /** Whether the reader's cached rights are known to be still valid, without a lookup of the credential. */
  readonly isStillAdmitted: (reader: StreamReader) => boolean;
  /** Returns the current holder of the credential. */
  readonly findCaller: () => Caller | Refusal;
}

interface Subscription extends Announced {
  /** The sequence number of the last entry that was sent, or that the snapshot includes. */
  seq: number;
  /** Set while the reader is too slow: the kind of message that will send the state when the reader has caught up. */
  behind: "snapshot" | "reset" | null;
  end: () => void;
}

/**
 * One reader's socket. Invariants:
 *
 * 1. The state of a topic and its sequence number are of the same moment. Changes up to that number are never sent
 *    after the state.
 * 2. Changes are not buffered for a slow reader. Its topics are marked, and when it has caught up, their state is sent
 *    again, one topic after the other. A reader that is too slow even for errors is disconnected.
 * 3. A reader never gets data that it may no longer see, because visibility is checked for each entry.
 * 4. A topic that needs a damaged row ends with an error. The socket closes if its caller cannot be read.
 */
class Stream implements SocketHandler {
  readonly #options: ReaderOptions;
  readonly #reader: StreamReader;
  readonly #socket: Socket;
  readonly #subscriptions = new Map<string, Subscription>();
  #cancelRecheck: () => void = () => undefined;

  constructor(options: ReaderOptions, credential: Credential, socket: Socket) {
    this.#options = options;
    this.#reader = { credential, held: null };
    this.#socket = socket;
    this.#recheckLater();
  }

  message(text: string): void {
    this.#unlessDamaged(null, () => this.#take(text));
  }

  #take(text: string): void {
    const caller = this.#caller();
    if (caller === null) return;
    const command = parseCommand(text);
    if (command === null)
      return this.#socket.close(
        BAD_COMMAND,
        'send {"subscribe": "<topic>", "after": <number from 0>?} or {"unsubscribe": "<topic>"}',
      );
    if ("unsubscribe" in command) return this.#unsubscribe(command.unsubscribe);
    const waitSeconds = this.#options.rate.take(this.#options.holder);
    if (waitSeconds > 0) {
      const message = `Too many requests on this socket: try again in ${waitSeconds} s.`;
      return this.#send(command.subscribe, 0, "error", { message });
    }
    const { subscribe: name, after } = command;
    this.#unlessDamaged(name, () => this.#subscribe(name, after, caller));
  }

  drained(): void {
    for (const subscription of this.#subscriptions.values()) {
      if (this.#isBehind()) return;
      const { name, behind } = subscription;
      if (behind !== null) this.#unlessDamaged(name, () => this.#begin(subscription, behind));
    }
  }

  closed(): void {
    this.#cancelRecheck();
    for (const { end } of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  #isBehind(): boolean {
    return this.#socket.bufferedBytes > MAX_BEHIND_BYTES;
  }

  #subscribe(name: string, after: number | undefined, caller: Caller): void {
    const { runtime, topics } = this.#options;
    this.#unsubscribe(name);
    const [kind = "", id = "", ...rest] = name.split("/");
    const topic = rest.length === 0 ? topics.get(kind) : undefined;
    const subject = topic === undefined ? undefined : findTopicSubject(topic, runtime.reading, caller, id);
    if (topic === undefined || subject === undefined) {
      return this.#send(name, 0, "error", { message: NOTHING_HERE });
    }
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      return this.#send(name, 0, "error", {
        message: `At most ${MAX_SUBSCRIPTIONS} topics can be subscribed at once.`,
      });
    }
    const subscription: Subscription = { name, subject, topic, seq: after ?? 0, behind: null, end: noop };
    this.#subscriptions.set(name, subscription);
    const missed = after === undefined ? "too-old" : runtime.feed.since(subject.workspaceId, name, after);
    subscription.end = runtime.feed.listen(subject.workspaceId, name, (entry) => this.#hear(subscription, entry));
    if (missed === "too-old") this.#begin(subscription, after === undefined ? "snapshot" : "reset");
    else for (const entry of missed) this.#forward(subscription, entry);
  }

  #unsubscribe(name: string): void {
    this.#subscriptions.get(name)?.end();
    this.#subscriptions.delete(name);
  }

  /** Sends the current state together with its sequence number. Nothing is flushed between the two reads. */
  #begin(subscription: Subscription, kind: "snapshot" | "reset"): void {
    const { runtime } = this.#options;
    const caller = this.#caller();
    if (caller === null) return;
    if (this.#isBehind()) {
      subscription.behind = kind;
      return;
    }
    const { name, subject, topic } = subscription;
    const seq = runtime.feed.lastSeq(subject.workspaceId);
    if (!seesSubject(topic, runtime.reading, caller, subject)) return this.#gone(name);
    subscription.seq = seq;
    subscription.behind = null;
    this.#send(name, seq, kind, topic.view(runtime.reading, subject));
  }

  #hear(subscription: Subscription, entry: FeedEntry): void {
    try {
      this.#forward(subscription, entry);
    } catch (error) {
      this.#endDamaged(subscription.name, error);
    }
  }

  #forward(subscription: Subscription, entry: FeedEntry): void {
    if (subscription.behind !== null || entry.seq <= subscription.seq) return;
    if (this.#isBehind()) {
      subscription.behind = "reset";
      return;
    }
    const result = this.#options.announcements.tell(subscription, entry, this.#reader);
    if (result === "credential-over") return this.#endNotAdmitted();
    if (result === "may-not-see-topic") return this.#gone(subscription.name);
    subscription.seq = entry.seq;
    if (result !== "nothing-for-them") this.#socket.send(result);
  }

  #gone(name: string): void {
    this.#unsubscribe(name);
    this.#send(name, 0, "error", { message: NOTHING_HERE });
  }

  /** Returns the current caller. If the credential is no longer valid, closes the socket and returns null. */
  #caller(): Caller | null {
    const caller = this.#options.findCaller();
    if (!isRefusal(caller)) return caller;
    this.#endNotAdmitted();
    return null;
  }

  #endNotAdmitted(): void {
    this.#socket.close(NOT_ADMITTED, "the credential is not valid, or it was revoked or expired");
  }

  #recheckLater(): void {
    const { clock } = this.#options.runtime;
    this.#cancelRecheck = clock.at(clock.now() + RECHECK_MS, () => {
      this.#unlessDamaged(null, () => {
        if (this.#options.isStillAdmitted(this.#reader) || this.#caller() !== null) this.#recheckLater();
      });
    });
  }

  /** Ends the topic if `work` reads a damaged row; without a topic, closes the socket. */
  #unlessDamaged(topic: string | null, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#endDamaged(topic, error);
    }
  }

  #endDamaged(topic: string | null, error: unknown): void {
    if (!isDamage(error)) throw error;
    this.#options.runtime.damageMet(error);
    if (topic === null) return this.#socket.close(INTERNAL_ERROR, "stored data is damaged");
    this.#unsubscribe(topic);
    this.#send(topic, 0, "error", { message: DAMAGED });
  }

  #send(topic: string, seq: number, kind: "snapshot" | "change" | "reset" | "error", data: unknown): void {
    if (kind === "error" && this.#isBehind()) return this.#socket.close(TOO_SLOW, "too slow");
    this.#socket.send(writeJson({ topic, seq, kind, data }));
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

function noop(): void {
  // There is no listener yet.
}
