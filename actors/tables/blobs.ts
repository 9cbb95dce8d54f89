/**
 * Big bodies of a workspace, each stored once, under its SHA-256, with a count of the rows that refer to it. They are
 * keyed under their workspace: a digest must not reveal what another workspace has.
 *
 * 1. A body is written in the batch of the row that refers to it first, and counted in the batch of every one that
 *    does: tables declare which bodies their rows refer to. One that a row of a later turn is to refer to is held until
 *    then ({@link holdBlob}).
 * 2. One that no row refers to stays for {@link UNUSED_MS}, so that what goes and comes back is not written twice;
 *    then its sweeper removes it (`blob-sweeper.machine.ts`).
 * 3. A body exists as long as rows refer to it. The sweeper leaves one that has a count, whatever else is said of it.
 *
 * An operator can have the references counted again (`blob-recount.ts`).
 */
import { createHash } from "node:crypto";
import { reference } from "../../runtime/reference.js";
import type { Message, Turn } from "../../runtime/turn.js";
import type { Reading, Writing } from "../../storage/store.js";
import { bodies, sweeping, toUnused, unused, uses, WAITS } from "./blob.table.js";

/** How long a body stays without references, in milliseconds. */
export const UNUSED_MS = 24 * 60 * 60 * 1_000;

/** Tells a workspace's sweeper that there is a body that no row refers to. */
export interface BlobsUnused extends Message {
  readonly type: "blobs.unused";
}

/** The sweeper of a workspace's bodies. */
export const blobSweeperRef = reference<BlobsUnused, [workspaceId: string]>("blob-sweeper", (workspaceId) => [
  workspaceId,
  "unused",
]);

/** Stores a body, in the turn in which a row first refers to it; returns its SHA-256 in hex, the reference. */
export function keepBlob(writing: Writing, workspaceId: string, body: Uint8Array): string {
  const digest = createHash("sha256").update(body).digest("hex");
  if (uses.get(writing, workspaceId, digest) === undefined) bodies.put(writing, workspaceId, digest, body);
  return digest;
}

/**
 * Stores a body that a row of a later turn is to refer to, and returns its digest. It stays for at least
 * {@link UNUSED_MS}; when no row has come by then it goes.
 */
export function holdBlob(turn: Turn, workspaceId: string, body: Uint8Array): string {
  const digest = keepBlob(turn, workspaceId, body);
  if ((uses.get(turn, workspaceId, digest)?.count ?? 0) === 0) markUnused(turn, workspaceId, digest);
  return digest;
}

/** The body, or undefined when no row refers to it. */
export function blobOf(reading: Reading, workspaceId: string, digest: string): Uint8Array | undefined {
  return bodies.get(reading, workspaceId, digest);
}

/** Updates the counts for the references of a row, now and before. Throws when a body is not stored. */
export function referToBlobs(
  turn: Turn,
  workspaceId: string,
  before: readonly string[],
  after: readonly string[],
): void {
  const [had, has] = [new Set(before), new Set(after)];
  for (const digest of has) if (!had.has(digest)) refer(turn, workspaceId, digest);
  for (const digest of had) if (!has.has(digest)) letGo(turn, workspaceId, digest);
}

function refer(turn: Turn, workspaceId: string, digest: string): void {
  const use = uses.get(turn, workspaceId, digest);
  if (use === undefined && bodies.get(turn, workspaceId, digest) === undefined) {
    throw new Error(`a row refers to the body ${digest}, which was not kept`);
  }
  if (use !== undefined && use.unusedSinceMs !== null) {
    unused.remove(turn, workspaceId, use.unusedSinceMs, digest);
  }
  uses.put(turn, workspaceId, digest, { count: (use?.count ?? 0) + 1, unusedSinceMs: null });
}

function letGo(turn: Turn, workspaceId: string, digest: string): void {
  const { count } = uses.get(turn, workspaceId, digest) ?? { count: 0 };
  if (count > 1) {
    uses.put(turn, workspaceId, digest, { count: count - 1, unusedSinceMs: null });
    return;
  }
  markUnused(turn, workspaceId, digest);
}

/** Has the time of a body that no row refers to begin now. */
function markUnused(turn: Turn, workspaceId: string, digest: string): void {
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
 * Removes bodies whose time is over, longest unused first, at most `limit`; returns when the time of the next one is
 * over, or null when none is unused.
 */
export function sweepBlobs(turn: Turn, workspaceId: string, limit: number): number | null {
  const found = unused.entries(turn, workspaceId, [], { limit: limit + 1 }).map(toUnused);
  for (const [index, { sinceMs, digest }] of found.entries()) {
    if (index === limit || sinceMs + UNUSED_MS > turn.now) return sinceMs + UNUSED_MS;
    unused.remove(turn, workspaceId, sinceMs, digest);
    const use = uses.get(turn, workspaceId, digest);
    if (use !== undefined && use.unusedSinceMs !== sinceMs) continue;
    uses.remove(turn, workspaceId, digest);
    bodies.remove(turn, workspaceId, digest);
  }
  sweeping.remove(turn, workspaceId, WAITS);
  return null;
}
