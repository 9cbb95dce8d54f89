import type { Socket } from "node:net";
import type { Clock } from "../../../runtime/clock.js";

/** How many bytes count as one more message. The runner parses messages in the same process that serves other runs. */
const BYTES_OF_A_MESSAGE = 1_024;
/** Limits for each client of a run, regardless of the other clients, in messages: a burst, then a rate per second. */
const OWN = { atOnce: 200, aSecond: 50 };
/** Limits for all clients of a run together, in messages. Only messages that exceed a client's own limit count. */
const TOGETHER = { atOnce: 2_000, aSecond: 1_000 };

const NEWLINE = "\n".charCodeAt(0);

/**
 * Limits the rate at which the runner reads messages from a run's clients, so that other runs and other clients are not
 * blocked.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #together: Allowance;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#together = new Allowance(clock, TOGETHER);
  }

  /** Limits the rate of this client from now on. */
  add(client: Socket): void {
    const own = new Allowance(this.#clock, OWN);
    let cancel: () => void = () => undefined;
    client.on("data", (chunk: Buffer) => {
      const messages = countLines(chunk) + chunk.length / BYTES_OF_A_MESSAGE;
      const beyond = messages - own.takeUpTo(messages);
      const waitMs = beyond === 0 ? 0 : this.#together.take(beyond);
      if (waitMs === 0) return;
      client.pause();
      cancel();
      cancel = this.#clock.at(this.#clock.now() + waitMs, () => client.resume());
    });
    client.once("close", () => cancel());
  }
}

/** A token bucket: a burst of `atOnce`, then `aSecond` per second. */
class Allowance {
  readonly #clock: Clock;
  readonly #limits: { readonly atOnce: number; readonly aSecond: number };
  #left: number;
  #sinceMs: number;

  constructor(clock: Clock, limits: { readonly atOnce: number; readonly aSecond: number }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.atOnce;
    this.#sinceMs = clock.now();
  }

  /** Takes at most the available amount. Returns the amount taken. */
  takeUpTo(wanted: number): number {
    this.#refill();
    const taken = Math.min(wanted, this.#left);
    this.#left -= taken;
    return taken;
  }

  /**
   * Takes the whole amount, even if it exceeds the current balance. Returns the time until the balance is back at zero,
   * in milliseconds.
   */
  take(wanted: number): number {
    this.#refill();
    this.#left -= wanted;
    return this.#left >= 0 ? 0 : (-this.#left * 1_000) / this.#limits.aSecond;
  }

  #refill(): void {
    const { atOnce, aSecond } = this.#limits;
    const now = this.#clock.now();
    this.#left = Math.min(atOnce, this.#left + ((now - this.#sinceMs) * aSecond) / 1_000);
    this.#sinceMs = now;
  }
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
