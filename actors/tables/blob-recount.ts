/**
 * Recounts the references to bodies in a store that no runtime uses, and corrects wrong counts.
 *
 * 1. The rows that refer to bodies are authoritative; the stored counts are not.
 * 2. Each finding is corrected in its own batch. So after an interrupted recount, the next recount continues with the
 *   remaining findings.
 * 3. A body without references is stored for a day. If the start of that day is unknown, the day starts at the
 *   recount.
 */
import { isDeepStrictEqual } from "node:util";
import { isStored, offlineSend } from "../../runtime/messages/offline-send.js";
import { listPartitions } from "../../storage/partitions.js";
import type { Change, Entry, KeyPart, Reading, Store } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import { type BlobUse, bodies, sweeping, toUnused, unused, uses, WAITS } from "./blob.table.js";
import { blobSweeperRef } from "./blobs.js";

/** A table whose rows refer to bodies. */
export interface ReferringTable {
  /** Yields, for each row of a workspace, the digests of the bodies that the row refers to. */
  referrals(reading: Reading, workspaceId: string): Iterable<readonly string[]>;
}

export interface RecountOptions {
  /** All tables whose rows refer to bodies. */
  readonly referring: readonly ReferringTable[];
  readonly nowMs: number;
}

/** A wrong count, a wrong entry in the list of unused bodies, or a missing body. */
export interface RecountFinding {
  readonly workspaceId: string;
  /** SHA-256 in hex. */
  readonly digest: string;
  /** The stored count; null if there is none. */
  readonly counted: number | null;
  /** Number of rows that refer to the body. */
  readonly rows: number;
  /** Whether rows refer to the body, but it is missing. A recount cannot restore it. */
  readonly isMissing: boolean;
}

/** A finding with its correction. `changes` is empty if only the body is missing. */
export interface Recount extends RecountFinding {
  readonly changes: readonly Change[];
}

/** Corrects the counts of all workspaces. Yields each finding after its correction is on disk. */
export async function* recountAllBlobs(store: Store, options: RecountOptions): AsyncGenerator<RecountFinding> {
  const { reading } = store;
  for (const workspaceId of listPartitions(reading)) {
    for (const { changes, ...finding } of recountBlobs(reading, workspaceId, options)) {
      if (changes.length > 0) await store.commit(changes);
      yield finding;
    }
    const notice = notifySweeper(reading, workspaceId);
    if (notice.length > 0) await store.commit(notice);
  }
}

/**
 * Yields the findings about the bodies of a workspace, one at a time. Memory holds numbers for each body, but not the
 * bodies.
 */
export function* recountBlobs(reading: Reading, workspaceId: string, options: RecountOptions): Generator<Recount> {
  const counts = countReferences(reading, workspaceId, options.referring);
  const unusedSince = new Map<string, number>();
  const missing = new Set(counts.keys());
  for (const { key } of rowsIn(reading, workspaceId, bodies)) {
    const digest = String(key.at(-1));
    missing.delete(digest);
    const rows = counts.get(digest) ?? 0;
    const use = getUse(rows, uses.get(reading, workspaceId, digest), options.nowMs);
    if (use.unusedSinceMs !== null) unusedSince.set(digest, use.unusedSinceMs);
    const found = { workspaceId, digest, rows, isMissing: false };
    yield* getRecount(reading, found, use);
  }
  for (const digest of missing) {
    const rows = counts.get(digest) ?? 0;
    yield* getRecount(reading, { workspaceId, digest, rows, isMissing: true }, { count: rows, unusedSinceMs: null });
  }
  for (const { key, value } of rowsIn(reading, workspaceId, uses)) {
    const digest = String(key.at(-1));
    if (counts.has(digest) || unusedSince.has(digest)) continue;
    const found = { workspaceId, digest, counted: value.count, rows: 0, isMissing: false };
    yield { ...found, changes: [{ op: "remove", key }] };
  }
  for (const entry of rowsIn(reading, workspaceId, unused)) {
    const { digest, sinceMs } = toUnused(entry);
    if (unusedSince.get(digest) === sinceMs) continue;
    const counted = uses.get(reading, workspaceId, digest)?.count ?? null;
    const found = { workspaceId, digest, counted, rows: counts.get(digest) ?? 0, isMissing: false };
    yield { ...found, changes: [{ op: "remove", key: entry.key }] };
  }
}

/** Returns the use that a body with this number of references should have. `was` is its stored use. */
function getUse(rows: number, was: BlobUse | undefined, nowMs: number): BlobUse {
  return { count: rows, unusedSinceMs: rows > 0 ? null : (was?.unusedSinceMs ?? nowMs) };
}

/**
 * Yields a finding about a body if its stored use differs from `use`, if the list of unused bodies is wrong, or if the
 * body is missing. Yields nothing for a body in order.
 */
function* getRecount(reading: Reading, found: Omit<RecountFinding, "counted">, use: BlobUse): Generator<Recount> {
  const { workspaceId, digest, isMissing } = found;
  const was = uses.get(reading, workspaceId, digest);
  const changes: Change[] = [];
  if (!isDeepStrictEqual(was, use)) changes.push({ op: "put", key: uses.key(workspaceId, digest), value: use });
  const sinceMs = use.unusedSinceMs;
  if (sinceMs !== null && unused.get(reading, workspaceId, sinceMs, digest) === undefined) {
    changes.push({ op: "put", key: unused.key(workspaceId, sinceMs, digest), value: true });
  }
  if (changes.length > 0 || isMissing) yield { ...found, counted: was?.count ?? null, changes };
}

/**
 * Returns the changes that notify the sweeper of unused bodies. Returns none if no body is unused, or if the sweeper
 * already runs.
 */
function notifySweeper(reading: Reading, workspaceId: string): Change[] {
  const sweeper = blobSweeperRef(workspaceId);
  if (unused.entries(reading, workspaceId, [], { limit: 1 }).length === 0 || isStored(reading, sweeper)) return [];
  const noted: Change = { op: "put", key: sweeping.key(workspaceId, WAITS), value: true };
  return [noted, ...offlineSend(reading, sweeper, { type: "blobs.unused" })];
}

function countReferences(
  reading: Reading,
  workspaceId: string,
  referring: readonly ReferringTable[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const each of referring) {
    for (const digests of each.referrals(reading, workspaceId)) {
      for (const digest of new Set(digests)) counts.set(digest, (counts.get(digest) ?? 0) + 1);
    }
  }
  return counts;
}

/** Number of rows to read in one batch, because bodies may be large. */
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
