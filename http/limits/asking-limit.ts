import type { Caller } from "../../actors/caller.js";
import { ASKING_RATE, askedTooOften } from "../../actors/code-host/refusals.js";
import type { Clock } from "../../runtime/clock.js";
import { Refused } from "../wire/refused.js";
import { RateLimit } from "./rate-limit.js";

/** Creates the limit on requests to the code host that one person or token may cause. */
export function createAskingLimit(clock: Clock): RateLimit {
  return new RateLimit({ ...ASKING_RATE, clock });
}

/**
 * Counts a request of the caller that makes the service send a request to the code host. Throws {@link Refused} when
 * the caller's limit is reached.
 */
export function countAsking(asking: RateLimit, caller: Caller): void {
  const retryAfterSeconds = asking.take(caller.kind === "person" ? caller.userId : caller.tokenId);
  if (retryAfterSeconds > 0) throw new Refused(askedTooOften(retryAfterSeconds));
}
