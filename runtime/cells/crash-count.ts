import type { Supervision } from "./actor-type.js";

/**
 * The default supervision of an actor type: quick retries, then a pause in which the cause of the crashes may recover.
 */
export const defaultSupervision: Supervision = { attempts: 3, maxRestarts: 10, withinMs: 60_000, backoffMs: 30_000 };

/** Counts the crashes of one actor within a sliding window. */
export class CrashCount {
  #atMs: number[] = [];

  get isEmpty(): boolean {
    return this.#atMs.length === 0;
  }

  /** Counts a crash. Returns true if the actor has now crashed too often; the count then restarts at zero. */
  exceeds(supervision: Supervision, nowMs: number): boolean {
    this.#atMs = this.#atMs.filter((atMs) => atMs > nowMs - supervision.withinMs && atMs <= nowMs);
    this.#atMs.push(nowMs);
    if (this.#atMs.length <= supervision.maxRestarts) return false;
    this.#atMs = [];
    return true;
  }
}
