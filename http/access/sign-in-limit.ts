import type { Clock } from "../../runtime/clock.js";

/** Sources remembered at once; past that the oldest is forgotten, which only ever admits. */
const MAX_SOURCES = 10_000;

/** At most so many in a window that begins with the first, for each source. Kept in memory. */
export class SignInLimit {
  readonly #most: number;
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #windows = new Map<string, { count: number; readonly endsMs: number }>();

  constructor(options: { readonly most: number; readonly windowMs: number; readonly clock: Clock }) {
    this.#most = options.most;
    this.#windowMs = options.windowMs;
    this.#clock = options.clock;
  }

  /** Counts one; gives 0 when it is admitted, else the seconds to wait. */
  take(source: string): number {
    const now = this.#clock.now();
    const current = this.#windows.get(source);
    if (current === undefined || current.endsMs <= now) {
      this.#windows.delete(source);
      const oldest = this.#windows.size >= MAX_SOURCES ? this.#windows.keys().next() : undefined;
      if (oldest?.done === false) this.#windows.delete(oldest.value);
      this.#windows.set(source, { count: 1, endsMs: now + this.#windowMs });
      return 0;
    }
    if (current.count >= this.#most) return Math.ceil((current.endsMs - now) / 1_000);
    current.count += 1;
    return 0;
  }
}
