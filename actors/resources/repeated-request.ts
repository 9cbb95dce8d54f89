import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findAttempt, recordAttempt } from "./idempotency.table.js";
import type { Idempotency } from "./resource.messages.js";

/**
 * Requests, other than creates of resources, that a client may repeat with a key. Their `Idempotency-Key` is optional.
 * An actor looks for the earlier request before it processes a message, and records the message in the same turn. Turns
 * of a partition see each other's rows, so of two simultaneous requests the later one is the repetition, even if they
 * go to different actors.
 */

/** A message whose request may have an idempotency key. `idempotency` is absent if the request has none. */
export interface Keyed {
  readonly idempotency?: Idempotency | undefined;
}

/**
 * Finds the id that the earlier request with this key created or was about. Returns a refusal if that request had a
 * different body. Returns null if there is no earlier request, or if this request has no key.
 */
export function findRequestBefore(turn: TurnReading, { idempotency }: Keyed): string | Refusal | null {
  if (idempotency === undefined) return null;
  const earlier = findAttempt(turn, turn.self.partition, idempotency, turn.now);
  return earlier === null || isRefusal(earlier) ? earlier : earlier.resourceId;
}

/** Records the id that the request created or is about. Does nothing without a key. */
export function recordRequest(turn: Turn, { idempotency }: Keyed, resourceId: string): void {
  if (idempotency !== undefined) recordAttempt(turn, turn.self.partition, idempotency, resourceId);
}
