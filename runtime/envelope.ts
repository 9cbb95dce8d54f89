import type { Address } from "./address.js";
import type { PendingEffect } from "./pending-effect.js";
import type { Message } from "./turn.js";

/** Who waits for the answer to a message. */
export interface Asker {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  readonly messageId: string | null;
}

export interface WakeUp {
  readonly name: string;
  readonly dueMs: number;
}

/**
 * A message on its way to one actor, with its origin: an asker in memory, another actor, a wake-up or an effect. All
 * have one shape, which keeps the loop over them fast.
 */
export class Envelope {
  /** Turns that this message has crashed. */
  crashes = 0;
  /** It has a row of its own, written in this batch or an earlier one. */
  stored = false;
  /** Its turn is over. */
  taken = false;

  private constructor(
    readonly to: Address,
    readonly message: Message,
    readonly asker: Asker | null,
    /** Rises with each message sent between actors; 0 for any other. */
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
