/**
 * Big bodies of a workspace, each stored once, under its SHA-256, with a count of the rows that refer to it. They are
 * keyed under their workspace: a digest must not reveal what another workspace has.
 *
 * 1. A body is written in the batch of the row that refers to it first, and counted in the batch of every one that
 *    does: tables declare which bodies their rows refer to.
 * 2. One that no row refers to stays for {@link UNUSED_MS}, so that what goes and comes back is not written twice;
 *    then its sweeper removes it (`blob-sweeper.machine.ts`).
 * 3. A body exists as long as rows refer to it: {@link countedBlobs} counts the references again.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { reference } from "../../runtime/reference.js";
import type { Message, Turn } from "../../runtime/turn.js";
import type { Change, Entry, KeyPart, Reading, Writing } from "../../storage/store.js";
import { type Table, table } from "../../storage/table.js";

/** How long a body stays without references, in milliseconds. */
export const UNUSED_MS = 24 * 60 * 60 * 1_000;

const WAITS = "waits";

interface BlobUse {
  /** Rows that refer to it. */
  readonly count: number;
  /** Since when none does; null while one does. */
  readonly unusedSinceMs: number | null;
}

/** `[digest]` */
const bodies = table<Uint8Array>("blob");
/** `[digest]` */
const uses = table<BlobUse>("blob-use");
/** `[unused since (ms), digest]` -> true */
const unused = table<true>("blob-unused");

/** `["waits"]` -> true: the sweeper knows that there is one. */
const sweeping = table<true>("blob-sweep");

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
  const found = unused.entries(turn, workspaceId, [], { limit: limit + 1 }).map(unusedOf);
  for (const [index, { sinceMs, digest }] of found.entries()) {
    if (index === limit || sinceMs + UNUSED_MS > turn.now) return sinceMs + UNUSED_MS;
    unused.remove(turn, workspaceId, sinceMs, digest);
    uses.remove(turn, workspaceId, digest);
    bodies.remove(turn, workspaceId, digest);
  }
  sweeping.remove(turn, workspaceId, WAITS);
  return null;
}

function unusedOf({ key }: Entry): { readonly sinceMs: number; readonly digest: string } {
  return { sinceMs: Number(key.at(-2)), digest: String(key.at(-1)) };
}

/** A table whose rows refer to bodies. */
export interface Referring {
  /** The bodies that each row of a workspace refers to. */
  referrals(reading: Reading, workspaceId: string): Iterable<readonly string[]>;
}

/**
 * What has to be written for the counts of a workspace's bodies to be what its rows refer to, whatever they were; a
 * body that none refers to is unused from `nowMs` on, if it was not before. `referring` are all the tables that refer;
 * the reading is a view. Holds a number for each body in memory.
 */
export function* countedBlobs(
  reading: Reading,
  workspaceId: string,
  { referring, nowMs }: { readonly referring: readonly Referring[]; readonly nowMs: number },
): Generator<Change> {
  const counts = countsOf(reading, workspaceId, referring);
  for (const { key } of rowsIn(reading, workspaceId, bodies)) {
    const digest = String(key.at(-1));
    const count = counts.get(digest) ?? 0;
    const was = uses.get(reading, workspaceId, digest);
    const use: BlobUse = { count, unusedSinceMs: count > 0 ? null : (was?.unusedSinceMs ?? nowMs) };
    if (isDeepStrictEqual(was, use)) continue;
    yield { op: "put", key: uses.key(workspaceId, digest), value: use };
    if (use.unusedSinceMs === null) continue;
    yield { op: "put", key: unused.key(workspaceId, use.unusedSinceMs, digest), value: true };
  }
  for (const { key } of rowsIn(reading, workspaceId, uses)) {
    if (bodies.get(reading, workspaceId, String(key.at(-1))) === undefined) yield { op: "remove", key };
  }
  for (const entry of rowsIn(reading, workspaceId, unused)) {
    if ((counts.get(unusedOf(entry).digest) ?? 0) > 0) yield { op: "remove", key: entry.key };
  }
}

function countsOf(reading: Reading, workspaceId: string, referring: readonly Referring[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of referring) {
    for (const digests of each.referrals(reading, workspaceId)) {
      for (const digest of new Set(digests)) counts.set(digest, (counts.get(digest) ?? 0) + 1);
    }
  }
  return counts;
}

/** Rows read at once: bodies may be large. */
const ROWS_AT_ONCE = 8;

function* rowsIn<Row>(reading: Reading, workspaceId: string, of: Table<Row>): Generator<Entry<Row>> {
  for (let after: readonly KeyPart[] | null = null; ; ) {
    const page = { limit: ROWS_AT_ONCE, ...(after === null ? {} : { after }) };
    const entries: Entry<Row>[] = of.entries(reading, workspaceId, [], page);
    yield* entries;
    after = entries.at(-1)?.key.slice(3) ?? null;
    if (after === null || entries.length < ROWS_AT_ONCE) return;
  }
}
