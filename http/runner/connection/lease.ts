import type { Clock } from "../../../runtime/clock.js";

/**
 * The lease as the runner may count on it. The service begins it anew when it hears a beat; the runner hears of that
 * later, so it counts from when it sent the beat, and stops what it runs before the service gives it to another.
 */
export class Lease {
  readonly #clock: Clock;
  readonly #over: () => void;
  #ms = 0;
  #endsMs = 0;
  #beats = 0;
  readonly #sent = new Map<number, number>();
  #cancel: () => void = () => undefined;

  /** `over` is called when a lease has gone by since the last beat that was heard was sent. */
  constructor(clock: Clock, over: () => void) {
    this.#clock = clock;
    this.#over = over;
  }

  /** How often to beat, in milliseconds. */
  get beatMs(): number {
    return this.#ms / 3;
  }

  /** Whether what runs may still be counted on. */
  get holds(): boolean {
    return this.#clock.now() < this.#endsMs;
  }

  /** Whether a beat is on its way that was not answered yet. */
  get isWaiting(): boolean {
    return this.#sent.size > 0;
  }

  /** A lease of so many milliseconds was granted to what was sent at `sinceMs`. */
  begin(ms: number, sinceMs: number): void {
    this.#ms = ms;
    this.#sent.clear();
    this.#extend(sinceMs);
  }

  /** A beat is sent now; gives its number. */
  beat(): number {
    this.#beats += 1;
    this.#sent.set(this.#beats, this.#clock.now());
    return this.#beats;
  }

  /** A beat was heard. */
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
