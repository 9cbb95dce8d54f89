import type { Turn, TurnReading } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findAttempt, recordAttempt } from "./idempotency.table.js";
import type { Idempotency } from "./resource.messages.js";

/**
 * Requests that a client may repeat under a key, besides creates of resources: their `Idempotency-Key` is optional. An
 * actor looks for the earlier request before it takes a message, and records the message in the turn that takes it.
 * Turns of a partition see each other's rows, so of two requests at once the later one is the repeat, also where each
 * is sent to an actor of its own.
 */

/** A message whose request has a key; absent when it has none. */
export interface Keyed {
  readonly idempotency?: Idempotency | undefined;
}

/** The id that the earlier request under this key made or was about, the refusal of another body, or null. */
export function findRequestBefore(turn: TurnReading, { idempotency }: Keyed): string | Refusal | null {
  if (idempotency === undefined) return null;
  const earlier = findAttempt(turn, turn.self.partition, idempotency, turn.now);
  return earlier === null || isRefusal(earlier) ? earlier : earlier.resourceId;
}

/** Records what the request made or is about; nothing without a key. */
export function recordRequest(turn: Turn, { idempotency }: Keyed, resourceId: string): void {
  if (idempotency !== undefined) recordAttempt(turn, turn.self.partition, idempotency, resourceId);
}
