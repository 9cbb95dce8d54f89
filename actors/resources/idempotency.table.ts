import type { Turn } from "../../runtime/turns/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Refusal } from "../refusal.js";
import type { Idempotency } from "./resource.messages.js";
import type { ResourceTurn } from "./resource-turn.js";

/** How long a repeated request is recognised, in milliseconds. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1_000;
/**
 * Time from the end of a sweep to the next one, in milliseconds. With this interval, sweeps read an attempt at most
 * three times before they remove it.
 */
export const SWEEP_EVERY_MS = IDEMPOTENCY_WINDOW_MS / 2;
/** Number of attempts to read in one turn of a sweep: about a millisecond. */
const SWEEP_SLICE = 256;

interface Attempt {
  /** A digest of the body. */
  readonly digest: string;
  /** The resource that the request created or was about. */
  readonly resourceId: string;
  readonly atMs: number;
}

/**
 * Key: `[scope, key]`. No index orders the rows by age, because a full sweep twice a day costs less than an index row
 * for each request. Rows of earlier releases also have the workspace.
 */
export const attempts = table<Attempt>("idempotency");
/**
 * Key: `["next"]`. Value: the `[scope, key]` of the attempt after which the sweep continues. The row exists only during
 * a sweep.
 */
export const sweeps = table<readonly [scope: string, key: string]>("idempotency-sweep");

/**
 * Finds the earlier attempt with this key that is not older than {@link IDEMPOTENCY_WINDOW_MS}. Returns null if there
 * is none. Returns a refusal if the earlier attempt had a different body.
 */
export function findAttempt(
  reading: Reading,
  partition: string,
  idempotency: Idempotency,
  nowMs: number,
): Attempt | Refusal | null {
  const found = attempts.get(reading, partition, idempotency.scope, idempotency.key);
  if (found === undefined || isOver(found, nowMs)) return null;
  if (found.digest === idempotency.digest) return found;
  return {
    refused: "idempotency-key-reused",
    detail: "This Idempotency-Key was used for a different request body within the last 24 hours.",
  };
}

function isOver({ atMs }: Attempt, nowMs: number): boolean {
  return atMs + IDEMPOTENCY_WINDOW_MS <= nowMs;
}

/**
 * Records the request's idempotency key with the resource that it created or changed, so that `findAttempt` recognizes
 * a repeat. Commits in the same batch as the request's own writes.
 */
export function recordAttempt(
  turn: ResourceTurn,
  partition: string,
  idempotency: Idempotency,
  resourceId: string,
): void {
  const { scope, key, digest } = idempotency;
  attempts.put(turn, partition, [scope, key], { digest, resourceId, atMs: turn.now });
}

/** Removes the attempt of a request that failed; does nothing if there is none. */
export function forgetAttempt(turn: Turn, partition: string, { scope, key }: Omit<Idempotency, "digest">): void {
  attempts.remove(turn, partition, scope, key);
}

/**
 * Removes attempts older than the window, in one slice of a sweep. Returns when to run the next slice. This is now, or
 * {@link SWEEP_EVERY_MS} later if the sweep has read all attempts.
 */
export function sweepAttempts(turn: Turn, partition: string): number {
  const after = sweeps.get(turn, partition, NEXT);
  const page = after === undefined ? { limit: SWEEP_SLICE } : { limit: SWEEP_SLICE, after };
  const entries = attempts.entries(readPastDamage(turn), partition, [], page);
  for (const { key, value } of entries) if (isOver(value, turn.now)) turn.remove(key);
  const last = entries.length < SWEEP_SLICE ? undefined : entries.at(-1);
  if (last !== undefined) {
    const [scope, key] = last.key.slice(-2);
    sweeps.put(turn, partition, NEXT, [String(scope), String(key)]);
    return turn.now;
  }
  if (after !== undefined) sweeps.remove(turn, partition, NEXT);
  return turn.now + SWEEP_EVERY_MS;
}

const NEXT = "next";

/** Whether there are any attempts. */
export function hasAttempts(reading: Reading, partition: string): boolean {
  return attempts.entries(readPastDamage(reading), partition, [], { limit: 1 }).length > 0;
}
