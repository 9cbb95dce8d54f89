import type { Supervision } from "./actor-type.js";

/** The supervision of an actor type that names none: quick retries, then a pause in which what failed may recover. */
export const defaultSupervision: Supervision = { attempts: 3, maxRestarts: 10, withinMs: 60_000, backoffMs: 30_000 };

/** Counts the crashes of one actor within a sliding window. */
export class CrashCount {
  #atMs: number[] = [];

  get isEmpty(): boolean {
    return this.#atMs.length === 0;
  }

  /** Counts a crash. True when it exceeds the limit; the count then starts again at zero. */
  exceeds(supervision: Supervision, nowMs: number): boolean {
    this.#atMs = this.#atMs.filter((atMs) => atMs > nowMs - supervision.withinMs && atMs <= nowMs);
    this.#atMs.push(nowMs);
    if (this.#atMs.length <= supervision.maxRestarts) return false;
    this.#atMs = [];
    return true;
  }
}
