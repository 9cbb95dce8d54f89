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

/** A topic with its subject. */
export interface Announced {
  readonly name: string;
  readonly topic: StreamTopic;
  readonly subject: TopicSubject;
}

/** What a reader gets of an entry: a message in UTF-8, or why none. */
export type Told = Uint8Array | "nothing-for-them" | "may-not-see-topic" | "credential-over";

/**
 * What entries tell the readers of their topics. All readers of an entry get it in one go, during which nothing that is
 * stored changes: so what it says, and who may see it, is read once for all of them, and written once for all who get
 * the same. Nothing of it is kept after that.
 */
export class Announcements {
  readonly #options: RightsOptions;
  #latest: Announcement | null = null;

  constructor(options: RightsOptions) {
    this.#options = options;
  }

  /** What a reader gets of the entry, as of now. Throws when a row that this needs is damaged. */
  tell(announced: Announced, entry: FeedEntry, reader: StreamReader): Told {
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

/** A message for some of the readers, written when the first of them gets it. */
interface Message {
  readonly audience: Audience;
  readonly data: unknown;
  bytes: Uint8Array | null;
}

class Announcement {
  readonly entry: FeedEntry;
  readonly #announced: Announced;
  /** Who may see the topic; undefined when its subject is gone. */
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
    this.#messages = this.#audience === undefined ? [] : messagesOf(announced, options, entry);
  }

  tell(reader: StreamReader): Told {
    const rights = this.#rights.of(reader);
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

function messagesOf({ topic, subject }: Announced, { runtime }: RightsOptions, { data }: FeedEntry): Message[] {
  const changes: readonly ChangeFor[] = topic.change?.(runtime.reading, subject, data) ?? toAll(data);
  return changes.map(({ audience, data }) => ({ audience, data, bytes: null }));
}
