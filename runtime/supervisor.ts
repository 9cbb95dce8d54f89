import { type Change, isDamage } from "../storage/store.js";
import { addressText } from "./address.js";
import type { Cell } from "./cell.js";
import { defaultSupervision } from "./crash-count.js";
import type { DamageLog } from "./damage-log.js";
import { deadLetterPut } from "./dead-letters.js";
import type { Envelope } from "./envelope.js";
import { type RuntimeLog, TurnFailed } from "./runtime.js";

/** The wake-up that ends a suspension; no machine may use its name. */
export const backoffTimer = "~rest";

/**
 * Delay in milliseconds after which a wake-up whose turn met a damaged row is delivered again: what recurs by wake-ups
 * continues once the row is repaired or removed.
 */
export const DAMAGED_RETRY_MS = 60 * 60 * 1_000;

const NEEDS_DAMAGED = "a row that this needs is damaged in the store";

/** What happens to a message that crashed its actor, and to the actor. */
export interface CrashDecision {
  /** Rejects the ask, which may be repeated unless what it read is damaged; null for any other message. */
  readonly rejection: Error | null;
  /** Sets the message aside; null when it is retried or was an ask. */
  readonly deadLetter: Change | null;
  /** When a wake-up whose turn met damage is delivered again, in milliseconds since the epoch; else null. */
  readonly retryAtMs: number | null;
  /** When the actor's suspension ends, in milliseconds since the epoch; null when it is not suspended. */
  readonly suspendUntilMs: number | null;
}

/** Decides about crashes by the actor's supervision. Counts in memory, so counts start at zero in a new process. */
export class Supervisor {
  crashes = 0;
  deadLetters = 0;
  /** Turns that were not taken because something that they need is damaged. */
  damagedTurns = 0;
  readonly #log: RuntimeLog;
  readonly #damage: DamageLog;
  readonly #newId: (prefix: string) => string;

  constructor(log: RuntimeLog, damage: DamageLog, newId: (prefix: string) => string) {
    this.#log = log;
    this.#damage = damage;
    this.#newId = newId;
  }

  decide(cell: Cell, envelope: Envelope, error: unknown, nowMs: number): CrashDecision {
    const supervision = cell.behaviour?.supervision ?? defaultSupervision;
    this.crashes += 1;
    envelope.crashes += 1;
    const actor = addressText(cell.to);
    const type = envelope.message.type;
    this.#log.error("a turn crashed", { actor, type, attempt: envelope.crashes, error });
    // Nothing that is tried again or waited for repairs a damaged row.
    const isDamaged = isDamage(error);
    if (isDamaged) this.damagedTurns += 1;
    this.#damage.met(error);
    // The store's own message names its folder.
    const reason = isDamaged ? NEEDS_DAMAGED : error instanceof Error ? error.message : String(error);
    const isLast = isDamaged || cell.behaviour === undefined || envelope.crashes >= supervision.attempts;
    const retryAtMs = isDamaged && envelope.wakeUp !== null ? nowMs + DAMAGED_RETRY_MS : null;
    const setAside = envelope.asker === null && isLast && retryAtMs === null;
    const suspends = !isDamaged && cell.crashes.exceeds(supervision, nowMs);
    if (suspends) this.#log.error("an actor rests after too many crashes", { actor, restMs: supervision.backoffMs });
    const failed = isDamaged ? error : new TurnFailed(`${type} crashed ${cell.to.kind}`, { cause: error });
    return {
      rejection: envelope.asker === null ? null : failed,
      retryAtMs,
      deadLetter: setAside ? this.setAside(envelope, reason, nowMs) : null,
      suspendUntilMs: suspends ? nowMs + supervision.backoffMs : null,
    };
  }

  /** The change that sets a message aside. */
  setAside({ to, message }: Envelope, error: string, atMs: number): Change {
    this.deadLetters += 1;
    this.#log.error("a message was set aside", { actor: addressText(to), type: message.type });
    return deadLetterPut({ id: this.#newId("dead"), to, message, error, atMs });
  }
}
