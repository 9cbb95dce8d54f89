import type { Supervision } from "./actor-type.js";

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
