import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Refusal } from "../refusal.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows, storedAs } from "../tables/table-declaration.js";
import type { Idempotency } from "./resource.messages.js";

/** How long a repeated request is recognised (configuration API, Limits). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1_000;
/** Rows removed in one turn. */
const SWEEP_SLICE = 500;

interface Attempt extends Idempotency {
  /** What the request made, or was about. */
  readonly resourceId: string;
  readonly workspaceId: string;
  readonly atMs: number;
}

/** `[atMs, scope, key]`, oldest first. */
const ages = table<true>("idempotency-age");
/** `[scope, key]` */
export const attempts = indexedTable<Attempt>("idempotency", {
  under: ["scope"],
  order: ["key"],
  derived: [derivedRows(ages, ({ atMs, scope, key }) => [[[atMs, scope, key], true]])],
  stored: storedAs(
    ({ scope: _scope, key: _key, ...stored }: Attempt) => stored,
    (stored, key) => ({ ...stored, scope: String(key.at(-2)), key: String(key.at(-1)) }),
  ),
});

/** The earlier attempt with this key within the window, a refusal when its body differed, or null. */
export function findAttempt(
  reading: Reading,
  partition: string,
  idempotency: Idempotency,
  nowMs: number,
): Attempt | Refusal | null {
  const found = attempts.get(reading, partition, idempotency.scope, idempotency.key);
  if (found === undefined || found.atMs + IDEMPOTENCY_WINDOW_MS <= nowMs) return null;
  if (found.digest === idempotency.digest) return found;
  return {
    refused: "idempotency-key-reused",
    detail: "This Idempotency-Key was used for a different request body within the last 24 hours.",
  };
}

/** Records what a request made or was about, in the batch of that. */
export function recordAttempt(
  turn: Turn,
  partition: string,
  idempotency: Idempotency,
  made: { readonly resourceId: string; readonly workspaceId: string },
): void {
  const { scope, key, digest } = idempotency;
  const expired = attempts.get(turn, partition, scope, key) ?? null;
  attempts.put(turn, partition, expired, { scope, key, digest, ...made, atMs: turn.now });
}

/** Removes a failed attempt; does nothing when there is none. */
export function forgetAttempt(turn: Turn, partition: string, { scope, key }: Omit<Idempotency, "digest">): void {
  const found = attempts.get(turn, partition, scope, key);
  if (found !== undefined) attempts.remove(turn, partition, found);
}

/** Removes attempts older than the window, one slice; true when more are left. */
export function sweepAttempts(turn: Turn, partition: string): boolean {
  const expired = ages.entries(turn, partition, [], {
    before: [turn.now - IDEMPOTENCY_WINDOW_MS],
    limit: SWEEP_SLICE,
  });
  for (const { key } of expired) {
    const [atMs, scope, attemptKey] = key.slice(-3);
    const found = attempts.get(turn, partition, String(scope), String(attemptKey));
    if (found !== undefined && found.atMs === atMs) attempts.remove(turn, partition, found);
    else turn.remove(key);
  }
  return expired.length === SWEEP_SLICE;
}

/** Whether there are any attempts. */
export function hasAttempts(reading: Reading, partition: string): boolean {
  return ages.entries(reading, partition, [], { limit: 1 }).length > 0;
}
