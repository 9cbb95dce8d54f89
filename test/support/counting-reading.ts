import type { Key, Range, Reading } from "../../storage/store.js";

/** Reads from another reading, and counts the rows that were requested or returned. */
export class CountingReading implements Reading {
  rows = 0;
  readonly #inner: Reading;

  constructor(inner: Reading) {
    this.#inner = inner;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    this.rows += 1;
    return this.#inner.get<Value>(key);
  }

  range<Value = unknown>(range: Range) {
    const entries = this.#inner.range<Value>(range);
    this.rows += entries.length;
    return entries;
  }

  /** Returns how many rows `work` reads. */
  during(work: () => unknown): number {
    const before = this.rows;
    work();
    return this.rows - before;
  }
}
