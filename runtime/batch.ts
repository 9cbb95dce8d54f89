import type { Change, Writing } from "../storage/store.js";
import type { Cell } from "./cell.js";
import type { Asker, Envelope } from "./envelope.js";
import type { PendingEntry } from "./feed.js";
import { begunKey, type PendingEffect } from "./pending-effect.js";

/** An answer or rejection that leaves once the batch is durable. */
export interface Answer {
  readonly asker: Pick<Asker, "resolve" | "reject">;
  readonly answer: unknown;
  readonly error: Error | null;
}

/** What the turns since the last commit have written, and what has to wait until that is durable. */
export class Batch {
  turns = 0;
  /** Changes that no turn reads before the flush; all others are in the overlays. */
  readonly changes: Change[] = [];
  /** Actors whose record this batch writes. */
  readonly touched: Cell[] = [];
  /** Messages delivered to mailboxes in memory; those not yet taken at the commit get a row. */
  readonly sent: Envelope[] = [];
  readonly answers: Answer[] = [];
  readonly entries: PendingEntry[] = [];
  readonly started: PendingEffect[] = [];
  readonly cancelled: PendingEffect[] = [];
  /** Effects with a place whose mark this batch writes: they begin after its flush. */
  readonly marked: PendingEffect[] = [];
  /** Names of counters to increment, one entry for each increment. */
  readonly counted: string[] = [];

  constructor(readonly number: number) {}

  /** Marks an effect that begins after the flush. */
  mark(pending: PendingEffect, writing: Pick<Writing, "put">): void {
    writing.put(begunKey(pending.owner, pending.id), true);
    this.marked.push(pending);
  }

  /** There is nothing to write or to answer. */
  get isEmpty(): boolean {
    const { changes, touched, sent, answers, entries, counted } = this;
    return changes.length + touched.length + sent.length + answers.length + entries.length + counted.length === 0;
  }

  /** Marks a cell so that its record is written with this batch. */
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

  /** The changes of this batch, with the records of touched actors as they are now. */
  collect(): Change[] {
    for (const cell of this.touched) cell.collectChanges(this.changes);
    return this.changes;
  }
}
