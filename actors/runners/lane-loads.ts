import type { LaneRow } from "./run-queue.table.js";

/**
 * The lanes of a workspace: their limits, their claim counts, and their order of service. Owns the claim counts.
 *
 * 1. A lane has an entry while it has a row or holds a claim.
 */
export class LaneLoads {
  readonly #rows = new Map<string, LaneRow>();
  readonly #claims = new Map<string, number>();

  put(row: LaneRow): void {
    this.#rows.set(row.lane, row);
  }

  remove(lane: string): void {
    this.#rows.delete(lane);
  }

  /** Returns the row of the lane; default values if the lane has no row. */
  row(lane: string): LaneRow {
    return this.#rows.get(lane) ?? { lane, maxClaims: null, served: 0 };
  }

  has(lane: string): boolean {
    return this.#rows.has(lane);
  }

  /** Returns the state as plain data, for comparisons. */
  describe(): unknown {
    return { rows: this.#rows, held: this.#claims };
  }

  /** Adds `more` claims to the lane. A negative number removes claims. */
  hold(lane: string, more: number): void {
    const claims = this.countClaims(lane) + more;
    if (claims === 0) this.#claims.delete(lane);
    else this.#claims.set(lane, claims);
  }

  countClaims(lane: string): number {
    return this.#claims.get(lane) ?? 0;
  }

  /** Maximum number of simultaneous claims of the lane; infinite without a limit. */
  maxClaims(lane: string): number {
    return this.row(lane).maxClaims ?? Number.POSITIVE_INFINITY;
  }

  isFull(lane: string): boolean {
    return this.countClaims(lane) >= this.maxClaims(lane);
  }

  /** Whether the left lane is served before the right one when both have a run to place. */
  isNext(left: string, right: string): boolean {
    const before = this.row(left).served - this.row(right).served;
    return before < 0 || (before === 0 && left < right);
  }

  /** The next value of {@link LaneRow.served}. */
  nextServed(): number {
    let latest = 0;
    for (const { served } of this.#rows.values()) latest = Math.max(latest, served);
    return latest + 1;
  }
}
