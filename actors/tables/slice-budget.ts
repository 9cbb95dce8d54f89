import { estimateWeight } from "../../runtime/rows/weight.js";

/** The remaining budget of one slice. */
export class SliceBudget {
  #rows: number;
  #bytes: number;

  constructor({ rows, bytes }: { readonly rows: number; readonly bytes: number }) {
    this.#rows = rows;
    this.#bytes = bytes;
  }

  get isSpent(): boolean {
    return this.#rows <= 0 || this.#bytes <= 0;
  }

  /** Counts work that costs as much as this many rows. */
  spend(rows: number): void {
    this.#rows -= rows;
  }

  /** Counts a row that was read, removed, or both. */
  take(row: unknown): void {
    this.#rows -= 1;
    this.#bytes -= estimateWeight(row, this.#bytes);
  }
}
