import type { Clock } from "../../runtime/clock.js";
import { createRecentEntries } from "../../runtime/recent-entries.js";

/**
 * Maximum number of remembered sources. Beyond it, a source is evicted. An evicted source starts a new window with its
 * next mail, so it may send more mails than the limit allows.
 */
const MAX_SOURCES = 10_000;

/**
 * Limits the mails that a source may cause per time window. A window starts with the first mail in it. The counts are
 * only in memory.
 */
export class MailLimit {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #windows = createRecentEntries<{ count: number; readonly endsMs: number }>(MAX_SOURCES);

  constructor(options: { readonly max: number; readonly windowMs: number; readonly clock: Clock }) {
    this.#max = options.max;
    this.#windowMs = options.windowMs;
    this.#clock = options.clock;
  }

  /**
   * Counts `count` mails of the source in its current window and returns 0. If this would exceed the limit, counts none
   * of them and returns the seconds until the window ends. A new window accepts any `count`.
   */
  take(source: string, count = 1): number {
    const now = this.#clock.now();
    const current = this.#windows.get(source);
    // Start a new window if the current window has ended. Also start one if the current window ends later than a new
    // one would: the clock was then ahead when the current window started.
    if (current === undefined || current.endsMs <= now || current.endsMs - now > this.#windowMs) {
      this.#windows.set(source, { count, endsMs: now + this.#windowMs });
      return 0;
    }
    if (current.count + count > this.#max) return Math.ceil((current.endsMs - now) / 1_000);
    current.count += count;
    return 0;
  }
}
