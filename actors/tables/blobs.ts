/**
 * Large bodies of a workspace, each stored once under its SHA-256, with a count of the rows that refer to it. Each
 * workspace has its own bodies, because a digest must not reveal another workspace's data.
 *
 * 1. The batch that writes the first row that refers to a body also writes the body. Each batch counts the references
 *   of the rows that it writes. For this, tables declare which bodies their rows refer to. {@link holdBlob} stores a
 *   body for a row of a later turn.
 * 2. A body without references is stored for {@link UNUSED_MS}. If a row refers to the body in this time, the body
 *   need not be written again. Otherwise the workspace's sweeper removes the body (`blob-sweeper.machine.ts`).
 * 3. A body exists while rows refer to it: the sweeper never removes a body with references.
 *
 * Operators can recount the references (`blob-recount.ts`).
 */
import { createHash } from "node:crypto";
import { reference } from "../../runtime/cells/reference.js";
import type { Message, Turn } from "../../runtime/turns/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading, Writing } from "../../storage/store.js";
import { bodies, sweeping, toUnused, unused, uses, WAITS } from "./blob.table.js";

/** How long a body without references is stored, in milliseconds. */
export const UNUSED_MS = 24 * 60 * 60 * 1_000;

/** The part of a turn that writes and counts rows with bodies. */
export type CountingWriting = Writing & Pick<Turn, "now" | "send">;

/** Notifies a workspace's sweeper that there is a body without references. */
export interface BlobsUnused extends Message {
  readonly type: "blobs.unused";
}

/** The sweeper of a workspace's bodies. */
export const blobSweeperRef = reference<BlobsUnused, [workspaceId: string]>("blob-sweeper", (workspaceId) => [
  workspaceId,
  "unused",
]);

/** Stores a body in the turn of the row that refers to it. Returns the digest (SHA-256, hex) for the row. */
export function storeBlob(writing: Writing, workspaceId: string, body: Uint8Array): string {
  const digest = createHash("sha256").update(body).digest("hex");
  if (uses.get(writing, workspaceId, digest) === undefined) bodies.put(writing, workspaceId, digest, body);
  return digest;
}

/**
 * Stores a body for a row of a later turn, and returns its digest. If no row refers to the body after {@link
 * UNUSED_MS}, the sweeper removes the body. If the service was down at that time, the sweeper waits another hour.
 */
export function holdBlob(turn: Turn, workspaceId: string, body: Uint8Array): string {
  const digest = storeBlob(turn, workspaceId, body);
  if ((uses.get(turn, workspaceId, digest)?.count ?? 0) === 0) markUnused(turn, workspaceId, digest);
  return digest;
}

/** Finds the body with this digest; undefined if there is none. A body exists while rows refer to it. */
export function findBlob(reading: Reading, workspaceId: string, digest: string): Uint8Array | undefined {
  return bodies.get(reading, workspaceId, digest);
}

/** Updates the counts for a row that refers to the bodies `after` instead of `before`. Throws if a body is missing. */
export function referToBlobs(
  turn: CountingWriting,
  workspaceId: string,
  before: readonly string[],
  after: readonly string[],
): void {
  if (before.length === 0 && after.length === 0) return;
  const [had, has] = [new Set(before), new Set(after)];
  for (const digest of has) if (!had.has(digest)) refer(turn, workspaceId, digest);
  for (const digest of had) if (!has.has(digest)) release(turn, workspaceId, digest);
}

function refer(turn: CountingWriting, workspaceId: string, digest: string): void {
  const use = uses.get(turn, workspaceId, digest);
  if (use === undefined && bodies.get(turn, workspaceId, digest) === undefined) {
    throw new Error(`a row refers to the body ${digest}, which was not kept`);
  }
  if (use !== undefined && use.unusedSinceMs !== null) {
    unused.remove(turn, workspaceId, use.unusedSinceMs, digest);
  }
  uses.put(turn, workspaceId, digest, { count: (use?.count ?? 0) + 1, unusedSinceMs: null });
}

function release(turn: CountingWriting, workspaceId: string, digest: string): void {
  const { count } = uses.get(turn, workspaceId, digest) ?? { count: 0 };
  if (count > 1) {
    uses.put(turn, workspaceId, digest, { count: count - 1, unusedSinceMs: null });
    return;
  }
  markUnused(turn, workspaceId, digest);
}

/** Starts the period after which the sweeper removes a body without references. */
function markUnused(turn: CountingWriting, workspaceId: string, digest: string): void {
  const sinceMs = uses.get(turn, workspaceId, digest)?.unusedSinceMs ?? null;
  if (sinceMs === turn.now) return;
  if (sinceMs !== null) unused.remove(turn, workspaceId, sinceMs, digest);
  uses.put(turn, workspaceId, digest, { count: 0, unusedSinceMs: turn.now });
  unused.put(turn, workspaceId, [turn.now, digest], true);
  if (sweeping.get(turn, workspaceId, WAITS) !== undefined) return;
  sweeping.put(turn, workspaceId, WAITS, true);
  turn.send(blobSweeperRef(workspaceId), { type: "blobs.unused" });
}

/**
 * Removes bodies that have been unused for {@link UNUSED_MS}, longest unused first, at most `limit`. Returns when the
 * next body is due; null if no unused body is left.
 */
export function sweepBlobs(turn: Turn, workspaceId: string, limit: number): number | null {
  const found = unused.entries(readPastDamage(turn), workspaceId, [], { limit: limit + 1 }).map(toUnused);
  for (const [index, { sinceMs, digest }] of found.entries()) {
    if (index === limit || sinceMs + UNUSED_MS > turn.now) return sinceMs + UNUSED_MS;
    unused.remove(turn, workspaceId, sinceMs, digest);
    // If the stored use of a body is damaged, the body stays, because rows may refer to it.
    turn.attempt(() => {
      const use = uses.get(turn, workspaceId, digest);
      if (use !== undefined && use.unusedSinceMs !== sinceMs) return;
      uses.remove(turn, workspaceId, digest);
      bodies.remove(turn, workspaceId, digest);
    });
  }
  sweeping.remove(turn, workspaceId, WAITS);
  return null;
}
