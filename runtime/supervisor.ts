import type { Change } from "../storage/store.js";
import { addressText } from "./address.js";
import type { Cell } from "./cell.js";
import { defaultSupervision } from "./crash-count.js";
import { deadLetterPut } from "./dead-letters.js";
import type { Envelope } from "./envelope.js";
import { type RuntimeLog, TurnFailed } from "./runtime.js";

/** The wake-up that ends a suspension; no machine may use its name. */
export const backoffTimer = "~rest";

/** What happens to a message that crashed its actor, and to the actor. */
export interface CrashDecision {
  /** Rejects the ask, which may be repeated; null for any other message. */
  readonly rejection: TurnFailed | null;
  /** Sets the message aside; null when it is retried or was an ask. */
  readonly deadLetter: Change | null;
  /** When the actor's suspension ends, in milliseconds since the epoch; null when it is not suspended. */
  readonly suspendUntilMs: number | null;
}

/** Decides about crashes by the actor's supervision. Counts in memory, so counts start at zero in a new process. */
export class Supervisor {
  crashes = 0;
  deadLetters = 0;
  readonly #log: RuntimeLog;
  readonly #newId: (prefix: string) => string;

  constructor(log: RuntimeLog, newId: (prefix: string) => string) {
    this.#log = log;
    this.#newId = newId;
  }

  decide(cell: Cell, envelope: Envelope, error: unknown, nowMs: number): CrashDecision {
    const supervision = cell.behaviour?.supervision ?? defaultSupervision;
    this.crashes += 1;
    envelope.crashes += 1;
    const reason = error instanceof Error ? error.message : String(error);
    const actor = addressText(cell.to);
    const type = envelope.message.type;
    this.#log.error("a turn crashed", { actor, type, attempt: envelope.crashes, error });
    const setAside =
      envelope.asker === null && (cell.behaviour === undefined || envelope.crashes >= supervision.attempts);
    if (setAside) {
      this.deadLetters += 1;
      this.#log.error("a message was set aside", { actor, type });
    }
    const letter = { id: setAside ? this.#newId("dead") : "", to: cell.to, message: envelope.message, error: reason };
    const suspends = cell.crashes.exceeds(supervision, nowMs);
    if (suspends) this.#log.error("an actor rests after too many crashes", { actor, restMs: supervision.backoffMs });
    return {
      rejection: envelope.asker === null ? null : new TurnFailed(`${type} crashed ${cell.to.kind}`, { cause: error }),
      deadLetter: setAside ? deadLetterPut({ ...letter, atMs: nowMs }) : null,
      suspendUntilMs: suspends ? nowMs + supervision.backoffMs : null,
    };
  }
}
