import { type Change, isDamage } from "../../storage/store.js";
import { deadLetterPut } from "../messages/dead-letters.js";
import type { Envelope } from "../messages/envelope.js";
import type { DamageLog } from "../rows/damage-log.js";
import { type RuntimeLog, TurnFailed } from "../runtime.js";
import { addressText } from "./address.js";
import type { Cell } from "./cell.js";
import { defaultSupervision } from "./crash-count.js";

/** The name of the wake-up that ends a suspension. No machine may use it. */
export const backoffTimer = "~rest";

/**
 * Delay before the runtime redelivers a wake-up whose turn read a damaged row, in milliseconds. So a recurring wake-up
 * continues once the row is repaired or removed.
 */
export const DAMAGED_RETRY_MS = 60 * 60 * 1_000;

const NEEDS_DAMAGED = "a required row is damaged in the store";

/** What to do with a message that crashed its actor, and with the actor. */
export interface CrashDecision {
  /**
   * The error that rejects an ask; null for any other message. The asker may repeat the ask, unless the turn needs
   * damaged data.
   */
  readonly rejection: Error | null;
  /** Stores the message as a dead letter; null if the message is retried or was an ask. */
  readonly deadLetter: Change | null;
  /**
   * When the runtime redelivers a wake-up whose turn read a damaged row, in milliseconds since the epoch; null for
   * other crashes.
   */
  readonly retryAtMs: number | null;
  /** When the actor's suspension ends, in milliseconds since the epoch; null if the crash does not suspend it. */
  readonly suspendUntilMs: number | null;
}

/**
 * Handles crashes according to the actor's supervision. Crash counts are in memory, so a new process starts at zero.
 */
export class Supervisor {
  crashes = 0;
  deadLetters = 0;
  /** Number of turns that could not run because they needed a damaged row. */
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
    // Neither a retry nor a pause repairs a damaged row.
    const isDamaged = isDamage(error);
    if (isDamaged) this.damagedTurns += 1;
    this.#damage.met(error);
    // Do not use the store's own message, because it contains the path of the data folder.
    const reason = isDamaged ? NEEDS_DAMAGED : error instanceof Error ? error.message : String(error);
    const isLast = isDamaged || cell.behaviour === undefined || envelope.crashes >= supervision.attempts;
    const retryAtMs = isDamaged && envelope.wakeUp !== null ? nowMs + DAMAGED_RETRY_MS : null;
    const setAside = envelope.asker === null && isLast && retryAtMs === null;
    const suspends = !isDamaged && cell.crashes.exceeds(supervision, nowMs);
    if (suspends)
      this.#log.error("an actor is suspended after too many crashes", { actor, restMs: supervision.backoffMs });
    const failed = isDamaged ? error : new TurnFailed(`${type} crashed ${cell.to.kind}`, { cause: error });
    return {
      rejection: envelope.asker === null ? null : failed,
      retryAtMs,
      deadLetter: setAside ? this.setAside(envelope, reason, nowMs) : null,
      suspendUntilMs: suspends ? nowMs + supervision.backoffMs : null,
    };
  }

  /** Returns the change that stores a message as a dead letter. */
  setAside({ to, message }: Envelope, error: string, atMs: number): Change {
    this.deadLetters += 1;
    this.#log.error("a message moved to the dead-letter queue", { actor: addressText(to), type: message.type });
    return deadLetterPut({ id: this.#newId("dead"), to, message, error, atMs });
  }
}
