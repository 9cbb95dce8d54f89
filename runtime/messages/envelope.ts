import type { Address } from "../cells/address.js";
import type { PendingEffect } from "../effects/pending-effect.js";
import type { Span } from "../tracing.js";
import type { Message } from "../turns/turn.js";

/** The caller that waits for the answer to a message. */
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
 * A message for one actor, with its origin: an asker in memory, another actor, a wake-up or an effect. All envelopes
 * have the same object shape, so that the JavaScript engine processes them fast.
 */
export class Envelope {
  /** Number of turns that this message has crashed. */
  crashes = 0;
  /** Whether the message has its own row, written in this batch or an earlier one. */
  stored = false;
  /** Whether the turn of this message is over. */
  taken = false;
  /** The span that the message follows from; null without a trace. */
  span: Span | null = null;

  private constructor(
    readonly to: Address,
    readonly message: Message,
    readonly asker: Asker | null,
    /** The message's sequence number, which increases with each message between actors. 0 for all other messages. */
    readonly sequence: number,
    readonly wakeUp: WakeUp | null,
    readonly effect: PendingEffect | null,
  ) {}

  static ask(to: Address, message: Message, asker: Asker, span: Span | null = null): Envelope {
    const envelope = new Envelope(to, message, asker, 0, null, null);
    envelope.span = span;
    return envelope;
  }

  static sent(to: Address, message: Message, sequence: number): Envelope {
    return new Envelope(to, message, null, sequence, null, null);
  }

  static wakeUp(to: Address, wakeUp: WakeUp): Envelope {
    const message: Message & WakeUp = { type: "woken", name: wakeUp.name, dueMs: wakeUp.dueMs };
    return new Envelope(to, message, null, 0, wakeUp, null);
  }

  static effectEnded(to: Address, message: Message, effect: PendingEffect): Envelope {
    const envelope = new Envelope(to, message, null, 0, null, effect);
    envelope.span = effect.span;
    return envelope;
  }
}
