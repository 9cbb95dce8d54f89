import { listStoredEntries } from "../../runtime/feeds/feed.js";
import type { FeedEntry, Runtime } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import type { History } from "./history.js";

/** Follows one topic across all lives of the process, like a stream client. */
export class Reader {
  readonly heard: FeedEntry[] = [];
  readonly complaints: string[] = [];
  readonly #partition: string;
  readonly #topic: string;
  readonly #durable: Reading;
  readonly #history: History;

  constructor(partition: string, topic: string, durable: Reading, history: History) {
    this.#partition = partition;
    this.#topic = topic;
    this.#durable = durable;
    this.#history = history;
  }

  /** Resumes on a new process after the last received entry. */
  resume({ feed }: Runtime): void {
    const missed = feed.since(this.#partition, this.#topic, this.#last);
    if (missed === "too-old") this.complaints.push(`${this.#topic} was told to start afresh`);
    else for (const entry of missed) this.#hear(entry);
    feed.listen(this.#partition, this.#topic, (entry) => this.#hear(entry));
  }

  get #last(): number {
    return this.heard.at(-1)?.seq ?? 0;
  }

  #hear(entry: FeedEntry): void {
    // An entry that became durable just before the call of `since` arrives a second time through `listen`.
    if (entry.seq <= this.#last) return;
    if (listStoredEntries(this.#durable, this.#partition, entry.seq - 1)[0]?.seq !== entry.seq) {
      this.complaints.push(`entry ${entry.seq} of ${this.#partition} was heard before it was durable`);
    }
    this.heard.push(entry);
    this.#history.note(`heard ${this.#partition} ${entry.seq}`);
  }

  /** Compares the received entries with the entries on disk. */
  check(): readonly string[] {
    const rows = listStoredEntries(this.#durable, this.#partition)
      .filter(({ topic }) => topic === this.#topic)
      .map(({ seq }) => seq);
    const heard = this.heard.map((entry) => entry.seq);
    const same = rows.length === heard.length && rows.every((seq, index) => seq === heard[index]);
    return same ? this.complaints : [...this.complaints, `${this.#topic} was heard as ${heard}, written as ${rows}`];
  }
}
