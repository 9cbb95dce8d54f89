import type { Address } from "./address.js";
import type { PendingEffect } from "./pending-effect.js";
import type { Message } from "./turn.js";

/** Who waits for the answer to a message. */
export interface Asker {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  readonly messageId: string | null;
}

/** A wake-up as it was set. */
export interface WakeUp {
  readonly name: string;
  readonly dueMs: number;
}

/**
 * A message on its way to one actor, with what makes it durable: an asker in memory, a mail row, a timer row or an
 * effect row. All are of one shape, so that the loop over them stays fast.
 */
export class Envelope {
  /** Turns that this message has crashed. */
  crashes = 0;
  /** Its mail row is written, in this batch or an earlier one. */
  stored = false;
  /** Its turn is over. */
  taken = false;

  private constructor(
    readonly to: Address,
    readonly message: Message,
    readonly asker: Asker | null,
    /** Rises with each mail; 0 for what is no mail. */
    readonly sequence: number,
    readonly wakeUp: WakeUp | null,
    readonly effect: PendingEffect | null,
  ) {}

  static ask(to: Address, message: Message, asker: Asker): Envelope {
    return new Envelope(to, message, asker, 0, null, null);
  }

  static sent(to: Address, message: Message, sequence: number): Envelope {
    return new Envelope(to, message, null, sequence, null, null);
  }

  static wakeUp(to: Address, wakeUp: WakeUp): Envelope {
    const message: Message & WakeUp = { type: "woken", name: wakeUp.name, dueMs: wakeUp.dueMs };
    return new Envelope(to, message, null, 0, wakeUp, null);
  }

  static effectEnded(to: Address, message: Message, effect: PendingEffect): Envelope {
    return new Envelope(to, message, null, 0, null, effect);
  }
}
