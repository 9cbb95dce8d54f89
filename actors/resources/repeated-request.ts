import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findAttempt, recordAttempt } from "./idempotency.table.js";
import type { Idempotency } from "./resource.messages.js";

/**
 * Requests, other than creates of resources, that a client may repeat with a key. Their `Idempotency-Key` is optional.
 * Before an actor processes a message, it looks for an earlier request with the same key. It records the request in the
 * same turn. All turns of a partition see each other's rows. So the later of two simultaneous requests counts as the
 * repetition, even if they go to different actors.
 */

/** A message whose request may have an idempotency key. `idempotency` is absent if the request has none. */
export interface Keyed {
  readonly idempotency?: Idempotency | undefined;
}

/**
 * Returns the id that the earlier request with this key created or was about. Returns null if there is no earlier
 * request, or if this request has no key. Refuses if the earlier request had a different body.
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
