import type { Socket } from "node:net";
import type { Clock } from "../../../runtime/clock.js";

/** Bytes that count as a message: each has to be parsed, in the process that works other runs too. */
const BYTES_OF_A_MESSAGE = 1_024;
/** What each client of a run may send at once, and then in a second, in messages, whatever the others send. */
const OWN = { atOnce: 200, aSecond: 50 };
/** What all clients of a run may send beyond that: no agent comes near it. */
const TOGETHER = { atOnce: 2_000, aSecond: 1_000 };

const NEWLINE = "\n".charCodeAt(0);

/** Reads the clients of a run no faster than that, so that other runs have their turn, and its other clients too. */
export class Pace {
  readonly #clock: Clock;
  readonly #together: Allowance;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#together = new Allowance(clock, TOGETHER);
  }

  /** From now on the client is read so. */
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

/** So many at once, and so many a second from then on. */
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

  /** Takes what there is of it; returns how much. */
  takeUpTo(wanted: number): number {
    this.#refill();
    const taken = Math.min(wanted, this.#left);
    this.#left -= taken;
    return taken;
  }

  /** Takes it, if need be of what is still to come; returns how long that takes, in milliseconds. */
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
