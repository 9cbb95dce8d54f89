import type { Clock } from "../../../runtime/clock.js";

/**
 * The runner's view of its lease. The service renews the lease when a heartbeat arrives. The runner counts from the
 * time at which it sent that heartbeat, which is earlier. So the runner stops its runs before the service gives them to
 * another runner.
 */
export class Lease {
  readonly #clock: Clock;
  readonly #over: () => void;
  #ms = 0;
  #endsMs = 0;
  #beats = 0;
  readonly #sent = new Map<number, number>();
  #cancel: () => void = () => undefined;

  /**
   * `over` is called when the lease expires. The lease counts from the time at which the runner sent the last
   * acknowledged heartbeat or hello.
   */
  constructor(clock: Clock, over: () => void) {
    this.#clock = clock;
    this.#over = over;
  }

  /** Heartbeat interval, in milliseconds. */
  get beatMs(): number {
    return this.#ms / 3;
  }

  /** Whether the lease is still valid. */
  get holds(): boolean {
    return this.#clock.now() < this.#endsMs;
  }

  /** Whether a heartbeat is not acknowledged yet. */
  get isWaiting(): boolean {
    return this.#sent.size > 0;
  }

  /** Starts a lease of `ms` milliseconds, granted for a hello that the runner sent at `sinceMs`. */
  begin(ms: number, sinceMs: number): void {
    this.#ms = ms;
    this.#sent.clear();
    this.#extend(sinceMs);
  }

  /** Records that the runner sends a heartbeat now. Returns the heartbeat's number. */
  beat(): number {
    this.#beats += 1;
    this.#sent.set(this.#beats, this.#clock.now());
    return this.#beats;
  }

  /** Handles the service's acknowledgment of a heartbeat. */
  acknowledged(beat: number): void {
    const sentMs = this.#sent.get(beat);
    if (sentMs === undefined) return;
    for (const earlier of this.#sent.keys()) if (earlier <= beat) this.#sent.delete(earlier);
    this.#extend(sentMs);
  }

  end(): void {
    this.#cancel();
  }

  #extend(sinceMs: number): void {
    this.#endsMs = Math.max(this.#endsMs, sinceMs + this.#ms);
    this.#cancel();
    this.#cancel = this.#clock.at(this.#endsMs, this.#over);
  }
}
