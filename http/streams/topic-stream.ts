import { findTopicSubject, type StreamTopic, seesSubject } from "../../actors/access/visibility/stream-topic.js";
import type { Caller } from "../../actors/caller.js";
import { writeJson } from "../../actors/exact-json.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { type FeedEntry, isDamage, type Runtime } from "../../runtime/runtime.js";
import type { Credential } from "../access/authenticate.js";
import type { RateLimit } from "../limits/rate-limit.js";
import type { Announced, Announcements } from "./announcements.js";
import type { Backlogs } from "./backlogs.js";
import type { StreamReader } from "./reader-rights.js";

/** Maximum number of topics of one connection. */
export const MAX_TOPICS = 200;
/**
 * Maximum number of bytes to buffer for a slow reader. Beyond it, the stream skips changes. When the reader has caught
 * up, the stream sends the current state of the topics whose changes it skipped.
 */
const MAX_BEHIND_BYTES = 1024 * 1024;
/** Interval between checks of an open connection's credential, in milliseconds. */
const RECHECK_MS = 5_000;

/** Why the service closes a stream: a WebSocket close code and a reason. */
export interface StreamClose {
  readonly code: number;
  readonly reason: string;
}

/** Codes 4000 to 4999 are for applications (RFC 6455, 7.4.2). */
const NOT_ADMITTED: StreamClose = {
  code: 4401,
  reason: "the credential is not valid, or it was revoked or expired",
};
/** From the registry of RFC 6455: try again later. */
const TOO_SLOW: StreamClose = { code: 1013, reason: "too slow" };
/** Code 1011: the server cannot fulfil the request (RFC 6455, 7.4.1). */
const INTERNAL_ERROR: StreamClose = { code: 1011, reason: "stored data is damaged" };

export const NOTHING_HERE = "This topic does not exist, or you do not have access to it.";
const DAMAGED = "The stored data of this topic is damaged.";

/** The kind of a message. `error` ends its topic. */
export type MessageKind = "snapshot" | "change" | "reset" | "error";

/** A reader's connection: a WebSocket, or a response with server-sent events. */
export interface StreamConnection {
  /** Sends a message. `json` is the message `{topic, seq, kind, data}`, as text or UTF-8 bytes. */
  send(kind: MessageKind, json: string | Uint8Array): void;
  /** Bytes that were sent and that the reader has not received yet. */
  readonly bufferedBytes: number;
  close(close: StreamClose): void;
}

/** The dependencies of one reader's stream. */
export interface ReaderOptions {
  readonly runtime: Runtime;
  readonly topics: ReadonlyMap<string, StreamTopic>;
  readonly announcements: Announcements;
  /** Limits subscriptions by holder. */
  readonly rate: RateLimit;
  /** The unsent bytes of all streams, by holder. */
  readonly backlogs: Backlogs;
  /** The person or token that opened the connection. */
  readonly holder: string;
  readonly credential: Credential;
  /** Whether the reader's cached rights are known to be still valid, without a lookup of the credential. */
  readonly isStillAdmitted: (reader: StreamReader) => boolean;
  /** Returns the current holder of the credential. */
  readonly findCaller: () => Caller | Refusal;
}

interface Subscription extends Announced {
  /** The sequence number of the last entry that the reader got, either in a message or as part of the state. */
  seq: number;
  /** Set while the state of the topic is still to be sent: the kind of message that will send it. */
  behind: "snapshot" | "reset" | null;
  end: () => void;
}

/** Finds the topic with this name; undefined if there is none or the caller may not see it. */
export function findAnnounced(
  { topics, runtime }: Pick<ReaderOptions, "topics" | "runtime">,
  name: string,
  caller: Caller,
): Announced | undefined {
  const [kind = "", id = "", ...rest] = name.split("/");
  const topic = rest.length === 0 ? topics.get(kind) : undefined;
  const subject = topic === undefined ? undefined : findTopicSubject(topic, runtime.reading, caller, id);
  return topic === undefined || subject === undefined ? undefined : { name, topic, subject };
}

/**
 * The stream of one reader, for both encodings. Invariants:
 *
 * 1. The state of a topic and its sequence number are of the same moment. Changes up to that number are never sent
 *    after the state.
 * 2. Changes are not buffered for a slow reader. The stream marks the topics of skipped changes. When the reader has
 *    caught up, the stream sends the state of each marked topic. A reader that is too slow even for errors is
 *    disconnected. So is a reader that needs a state while the streams of its holder together have too many unsent bytes.
 * 3. A reader never gets data that it may no longer see, because visibility is checked for each entry.
 * 4. If a topic needs a damaged row, the topic ends with an error. If the row of the caller is damaged, the stream
 *    closes.
 * 5. The messages of a workspace leave in the order of their sequence numbers. So the reader has received every message
 *    of an unmarked topic up to the last sequence number of the workspace ({@link lastSeq}).
 */
export class TopicStream {
  readonly #options: ReaderOptions;
  readonly #reader: StreamReader;
  readonly #connection: StreamConnection;
  readonly #subscriptions = new Map<string, Subscription>();
  /** The last sequence number that was sent, by workspace. */
  readonly #lastSeqs = new Map<string, number>();
  readonly #leaveBacklogs: () => void;
  #cancelRecheck: () => void = () => undefined;

  constructor(options: ReaderOptions, connection: StreamConnection) {
    this.#options = options;
    this.#reader = { credential: options.credential, held: null };
    this.#connection = connection;
    this.#leaveBacklogs = options.backlogs.add(options.holder, connection);
    this.#recheckLater();
  }

  /** Returns the current caller. If the credential is no longer valid, closes the stream and returns null. */
  caller(): Caller | null {
    const caller = this.#options.findCaller();
    if (!isRefusal(caller)) return caller;
    this.#connection.close(NOT_ADMITTED);
    return null;
  }

  /**
   * Subscribes to a topic. Without `after`, sends the topic's state first. If the caller may not subscribe, sends an
   * error with the reason.
   */
  subscribe(name: string, after: number | undefined, caller: Caller): void {
    const waitSeconds = this.#options.rate.take(this.#options.holder);
    if (waitSeconds > 0) {
      const message = `Too many requests on this socket: try again in ${waitSeconds} s.`;
      return this.#sendError(name, message);
    }
    this.unlessDamaged(name, () => this.#subscribe(name, after, caller));
  }

  /**
   * Subscribes to topics that the caller may see. For a topic in `behind`, sends the topic's state. For any other
   * topic, sends the changes after its workspace's sequence number in `after`. If these changes are no longer stored,
   * sends the state instead.
   */
  resume(
    announced: readonly Announced[],
    after: ReadonlyMap<string, number>,
    behind: ReadonlyMap<string, "snapshot" | "reset">,
  ): void {
    for (const each of announced) {
      const subscription = this.#add(each, after.get(each.subject.workspaceId) ?? 0);
      subscription.behind = behind.get(each.name) ?? null;
    }
    for (const [workspaceId, seq] of after) this.#resumeWorkspace(workspaceId, seq);
    this.drained();
  }

  unsubscribe(name: string): void {
    this.#subscriptions.get(name)?.end();
    this.#subscriptions.delete(name);
  }

  /** Returns the sequence number of the last message of a workspace that was sent to the reader; 0 if there is none. */
  lastSeq(workspaceId: string): number {
    return this.#lastSeqs.get(workspaceId) ?? 0;
  }

  /** Whether the reader needs the state of a topic, because it was not sent yet or the topic has ended. */
  needsState(name: string): boolean {
    return this.#subscriptions.get(name)?.behind !== null;
  }

  /** Sends the state of the marked topics, until the reader is too slow again. */
  drained(): void {
    this.#hearUnreleased();
    for (const subscription of this.#subscriptions.values()) {
      if (this.#isSlow()) return;
      const { name, behind } = subscription;
      if (behind !== null) this.unlessDamaged(name, () => this.#begin(subscription, behind));
    }
  }

  closed(): void {
    this.#cancelRecheck();
    this.#leaveBacklogs();
    for (const { end } of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  /**
   * Runs `work`. If `work` reads a damaged row, ends `topic` with an error. If `topic` is null, closes the stream
   * instead.
   */
  unlessDamaged(topic: string | null, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#endDamaged(topic, error);
    }
  }

  #isSlow(): boolean {
    const { bufferedBytes } = this.#connection;
    if (bufferedBytes > MAX_BEHIND_BYTES) return true;
    return bufferedBytes > 0 && this.#options.backlogs.isExceeded(this.#options.holder);
  }

  #subscribe(name: string, after: number | undefined, caller: Caller): void {
    const { feed } = this.#options.runtime;
    this.unsubscribe(name);
    const announced = findAnnounced(this.#options, name, caller);
    if (announced === undefined) return this.#sendError(name, NOTHING_HERE);
    if (this.#subscriptions.size >= MAX_TOPICS) {
      return this.#sendError(name, `At most ${MAX_TOPICS} topics can be subscribed at once.`);
    }
    const missed = after === undefined ? "too-old" : feed.since(announced.subject.workspaceId, name, after);
    const subscription = this.#add(announced, after ?? 0);
    if (missed === "too-old") this.#begin(subscription, after === undefined ? "snapshot" : "reset");
    else for (const entry of missed) this.#forward(subscription, entry);
  }

  /** Adds a subscription that receives all later entries. */
  #add(announced: Announced, seq: number): Subscription {
    const { name, topic, subject } = announced;
    const end = this.#options.runtime.feed.listen(subject.workspaceId, name, (entry) =>
      this.#hear(subscription, entry),
    );
    const subscription: Subscription = { name, topic, subject, seq, behind: null, end };
    this.#subscriptions.set(name, subscription);
    return subscription;
  }

  /**
   * Sends the missed changes of a workspace, in order, for the topics that are not marked. If the feed no longer has
   * these changes, marks the topics instead.
   */
  #resumeWorkspace(workspaceId: string, after: number): void {
    const waiting = [...this.#subscriptions.values()].filter(
      ({ subject, behind }) => subject.workspaceId === workspaceId && behind === null,
    );
    const names = new Set(waiting.map(({ name }) => name));
    const missed = this.#options.runtime.feed.sinceOf(workspaceId, names, after);
    if (missed === "too-old") {
      for (const subscription of waiting) subscription.behind = "reset";
      return;
    }
    this.#lastSeqs.set(workspaceId, after);
    for (const entry of missed) {
      const subscription = this.#subscriptions.get(entry.topic);
      if (subscription !== undefined) this.#hear(subscription, entry);
    }
  }

  /**
   * Sends the durable changes that listeners have not received yet, because a state of the same workspace includes them.
   * See invariant 5.
   */
  #hearUnreleased(): void {
    const { feed } = this.#options.runtime;
    const marked = [...this.#subscriptions.values()].filter(({ behind }) => behind !== null);
    for (const workspaceId of new Set(marked.map(({ subject }) => subject.workspaceId))) {
      const heard = Math.max(feed.releasedSeq(workspaceId), this.lastSeq(workspaceId));
      if (heard < feed.lastSeq(workspaceId)) this.#resumeWorkspace(workspaceId, heard);
    }
  }

  /**
   * Sends the topic's current state with its sequence number. No entry is flushed between reading the number and
   * reading the state.
   */
  #begin(subscription: Subscription, kind: "snapshot" | "reset"): void {
    const { runtime } = this.#options;
    const caller = this.caller();
    if (caller === null) return;
    if (this.#isSlow()) {
      subscription.behind = kind;
      return;
    }
    // This reader has received everything, but the holder's other streams have too many unsent bytes. No event would
    // resume this stream later, so close it.
    if (this.#options.backlogs.isExceeded(this.#options.holder)) return this.#connection.close(TOO_SLOW);
    const { name, subject, topic } = subscription;
    const seq = runtime.feed.lastSeq(subject.workspaceId);
    if (!seesSubject(topic, runtime.reading, caller, subject)) return this.#endTopic(name, NOTHING_HERE);
    const data = topic.view(runtime.reading, subject);
    subscription.seq = seq;
    subscription.behind = null;
    this.#lastSeqs.set(subject.workspaceId, seq);
    this.#connection.send(kind, writeJson({ topic: name, seq, kind, data }));
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
    if (this.#isSlow()) {
      subscription.behind = "reset";
      return;
    }
    const result = this.#options.announcements.tell(subscription, entry, this.#reader);
    if (result === "credential-over") return this.#connection.close(NOT_ADMITTED);
    if (result === "may-not-see-topic") return this.#endTopic(subscription.name, NOTHING_HERE);
    subscription.seq = entry.seq;
    this.#lastSeqs.set(subscription.subject.workspaceId, entry.seq);
    if (result !== "nothing-for-them") this.#connection.send("change", result);
  }

  #recheckLater(): void {
    const { clock } = this.#options.runtime;
    this.#cancelRecheck = clock.at(clock.now() + RECHECK_MS, () => {
      this.unlessDamaged(null, () => {
        if (this.#options.isStillAdmitted(this.#reader) || this.caller() !== null) this.#recheckLater();
      });
    });
  }

  #endDamaged(topic: string | null, error: unknown): void {
    if (!isDamage(error)) throw error;
    this.#options.runtime.damageMet(error);
    if (topic === null) this.#connection.close(INTERNAL_ERROR);
    else this.#endTopic(topic, DAMAGED);
  }

  #endTopic(name: string, message: string): void {
    this.unsubscribe(name);
    this.#sendError(name, message);
  }

  #sendError(topic: string, message: string): void {
    if (this.#isSlow()) return this.#connection.close(TOO_SLOW);
    this.#connection.send("error", writeJson({ topic, seq: 0, kind: "error", data: { message } }));
  }
}
