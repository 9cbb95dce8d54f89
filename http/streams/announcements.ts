import { type Audience, isAmong } from "../../actors/access/visibility/audience.js";
import {
  type ChangeFor,
  type StreamTopic,
  type TopicSubject,
  toAll,
} from "../../actors/access/visibility/stream-topic.js";
import { writeJson } from "../../actors/exact-json.js";
import type { FeedEntry } from "../../runtime/runtime.js";
import { RightsNow, type RightsOptions, type StreamReader } from "./reader-rights.js";

/** A topic of a stream, with its name and the subject that it is about. */
export interface Announced {
  readonly name: string;
  readonly topic: StreamTopic;
  readonly subject: TopicSubject;
}

/**
 * The result when a feed entry is prepared for one reader: a message in UTF-8, or the reason why the reader gets no
 * message.
 */
export type AnnouncementResult = Uint8Array | "nothing-for-them" | "may-not-see-topic" | "credential-over";

/**
 * Creates the messages that a feed entry causes for the readers of its topic. The feed notifies all readers of an entry
 * in the same tick, and stored data cannot change meanwhile. So this class reads the content and the audience once for
 * all readers, and encodes each message once. A microtask then drops the messages.
 */
export class Announcements {
  readonly #options: RightsOptions;
  #latest: Announcement | null = null;

  constructor(options: RightsOptions) {
    this.#options = options;
  }

  /**
   * Returns the entry's message for a reader, under the reader's current rights. Throws if a required row is damaged.
   */
  tell(announced: Announced, entry: FeedEntry, reader: StreamReader): AnnouncementResult {
    let latest = this.#latest;
    if (latest?.entry !== entry) {
      latest = new Announcement(this.#options, announced, entry);
      this.#latest = latest;
      queueMicrotask(() => {
        this.#latest = null;
      });
    }
    return latest.tell(reader);
  }
}

/** A message for one audience. It is encoded for its first reader, and other readers get the same bytes. */
interface Message {
  readonly audience: Audience;
  readonly data: unknown;
  bytes: Uint8Array | null;
}

class Announcement {
  readonly entry: FeedEntry;
  readonly #announced: Announced;
  /** The audience of the topic; undefined if its subject no longer exists. */
  readonly #audience: Audience | undefined;
  readonly #messages: readonly Message[];
  readonly #rights: RightsNow;

  constructor(options: RightsOptions, announced: Announced, entry: FeedEntry) {
    const { reading } = options.runtime;
    const { topic, subject } = announced;
    this.#announced = announced;
    this.#rights = new RightsNow(options, subject.workspaceId);
    this.entry = entry;
    this.#audience = topic.audience(reading, subject);
    this.#messages = this.#audience === undefined ? [] : listMessages(announced, options, entry);
  }

  tell(reader: StreamReader): AnnouncementResult {
    const rights = this.#rights.find(reader);
    if (rights === null) return "credential-over";
    if (this.#audience === undefined || !isAmong(rights, this.#audience)) return "may-not-see-topic";
    for (const message of this.#messages) {
      if (!isAmong(rights, message.audience)) continue;
      message.bytes ??= this.#write(message.data);
      return message.bytes;
    }
    return "nothing-for-them";
  }

  #write(data: unknown): Uint8Array {
    return Buffer.from(writeJson({ topic: this.#announced.name, seq: this.entry.seq, kind: "change", data }));
  }
}

function listMessages({ topic, subject }: Announced, { runtime }: RightsOptions, { data }: FeedEntry): Message[] {
  const changes: readonly ChangeFor[] = topic.change?.(runtime.reading, subject, data) ?? toAll(data);
  return changes.map(({ audience, data }) => ({ audience, data, bytes: null }));
}
