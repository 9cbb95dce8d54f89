import type { Change, Writing } from "../../storage/store.js";
import type { Cell } from "../cells/cell.js";
import { type PendingEffect, startedKey } from "../effects/pending-effect.js";
import type { PendingEntry } from "../feeds/feed.js";
import type { Asker, Envelope } from "../messages/envelope.js";
import type { Span, Tracing } from "../tracing.js";
import type { Reported } from "./turn.js";

/** An answer or rejection that the runtime sends once the batch is durable. */
export interface Answer {
  readonly asker: Pick<Asker, "resolve" | "reject">;
  readonly answer: unknown;
  readonly error: Error | null;
}

/** The writes of all turns since the last commit, and the work that waits until they are durable. */
export class Batch {
  turns = 0;
  /** Changes that no turn reads before the flush. All other changes are in the overlays. */
  readonly changes: Change[] = [];
  /** Actors whose records this batch writes. */
  readonly touched: Cell[] = [];
  /**
   * Messages that were delivered to mailboxes in memory. Messages that are not taken when the batch closes are stored
   * as rows.
   */
  readonly sent: Envelope[] = [];
  readonly answers: Answer[] = [];
  readonly entries: PendingEntry[] = [];
  readonly started: PendingEffect[] = [];
  readonly cancelled: PendingEffect[] = [];
  /** Effects whose marks this batch writes. Each of them has its place, and begins after the flush. */
  readonly marked: PendingEffect[] = [];
  /** Names of the counters to increment, one entry per increment. */
  readonly counted: string[] = [];
  readonly reports: Reported[] = [];
  /** The spans of the turns in this batch that have a trace. */
  readonly spans: Span[] = [];
  /** The spans of the flush, one below each of {@link spans}. */
  #flushSpans: readonly Span[] = [];
  readonly #tracing: Tracing | undefined;

  constructor(
    readonly number: number,
    tracing?: Tracing,
  ) {
    this.#tracing = tracing;
  }

  /** Writes the mark of an effect that begins after the flush. */
  mark(pending: PendingEffect, writing: Pick<Writing, "put">): void {
    writing.put(startedKey(pending.owner, pending.id), true);
    this.marked.push(pending);
  }

  /** Whether the batch has nothing to write and no answer to send. */
  get isEmpty(): boolean {
    const { changes, touched, sent, answers, entries, counted, reports } = this;
    const written = changes.length + touched.length + sent.length;
    return written + answers.length + entries.length + counted.length + reports.length === 0;
  }

  /** Passes the reports of all turns to the process, and ends the spans of the flush. Call this after the flush. */
  released(reported: ((reported: Reported) => void) | undefined): void {
    for (const span of this.#flushSpans) span.end();
    if (reported !== undefined) for (const each of this.reports) reported(each);
  }

  /** Rejects the asks of this batch. Call this if the batch cannot be committed. */
  failed(error: Error): void {
    for (const span of this.#flushSpans) span.end("failed");
    for (const { asker } of this.answers) asker.reject(error);
  }

  /** Marks a cell so that this batch writes its record. */
  touch(cell: Cell): void {
    if (cell.batch === this.number) return;
    cell.batch = this.number;
    this.touched.push(cell);
  }

  resolve(asker: Pick<Asker, "resolve" | "reject">, answer: unknown): void {
    this.answers.push({ asker, answer, error: null });
  }

  reject(asker: Pick<Asker, "resolve" | "reject">, error: Error): void {
    this.answers.push({ asker, answer: undefined, error });
  }

  /** Closes the batch for its flush. Returns its changes, including the current records of touched actors. */
  collect(): Change[] {
    this.#beginFlushSpans();
    for (const cell of this.touched) cell.collectChanges(this.changes);
    return this.changes;
  }

  #beginFlushSpans(): void {
    const tracing = this.#tracing;
    if (tracing === undefined) return;
    const attributes = { "signalbox.batch": String(this.number), "signalbox.batch.turns": String(this.turns) };
    this.#flushSpans = this.spans.map((turn) => tracing.begin(turn, "flush", attributes));
  }
}
