import type { Supervision } from "./actor-type.js";

/** How an actor is looked after when its type does not say: quick tries, then a rest that lets its surroundings mend. */
export const defaultSupervision: Supervision = { attempts: 3, maxRestarts: 10, withinMs: 60_000, backoffMs: 30_000 };

/** Counts the crashes of one actor within a time. */
export class CrashCount {
  #atMs: number[] = [];

  get isEmpty(): boolean {
    return this.#atMs.length === 0;
  }

  /** Notes a crash; true when it is one more than the supervision allows, after which the count begins anew. */
  exceeds(supervision: Supervision, nowMs: number): boolean {
    this.#atMs = this.#atMs.filter((atMs) => atMs > nowMs - supervision.withinMs);
    this.#atMs.push(nowMs);
    if (this.#atMs.length <= supervision.maxRestarts) return false;
    this.#atMs = [];
    return true;
  }
}
