import type { Change } from "../storage/store.js";
import type { Cell } from "./cell.js";
import type { Asker, Envelope } from "./envelope.js";
import type { PendingEntry } from "./feed.js";
import type { PendingEffect } from "./pending-effect.js";

/** What a batch answers once it is durable. */
interface Answer {
  readonly asker: Pick<Asker, "resolve" | "reject">;
  readonly answer: unknown;
  readonly error: Error | null;
}

/** What the turns since the last commit have done, and what they hold back until it is on disk. */
export class Batch {
  turns = 0;
  /** Changes that no turn reads back before the flush; all others lie in the layers. */
  readonly changes: Change[] = [];
  /** Actors whose record is to be written. */
  readonly touched: Cell[] = [];
  /** Messages handed over in memory; those undelivered at the commit get a row. */
  readonly sent: Envelope[] = [];
  readonly answers: Answer[] = [];
  readonly entries: PendingEntry[] = [];
  readonly started: PendingEffect[] = [];
  readonly cancelled: PendingEffect[] = [];
  /** Names of figures, each to be raised by one. */
  readonly counted: string[] = [];

  constructor(readonly number: number) {}

  /** Nothing is to be written or answered. */
  get isEmpty(): boolean {
    const { changes, touched, sent, answers, entries, counted } = this;
    return changes.length + touched.length + sent.length + answers.length + entries.length + counted.length === 0;
  }

  /** Has the record of a cell written with this batch. */
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

  /** The changes kept here; the records of touched actors as they are now. */
  collect(): Change[] {
    for (const cell of this.touched) cell.collectChanges(this.changes);
    return this.changes;
  }
}
