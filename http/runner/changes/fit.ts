import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { OutputTooLong } from "../checkout/git.js";
import { diffBetween, LIST_CHANGES, measureDiff } from "./diff.js";
import type { Gathered, Source } from "./gather.js";
import { type Entry, gitAt, inOrder, type LeftOut, listRecords, type Place, putEntries } from "./place.js";

/** The trees that a run's changes are relative to, and the size limits of the diffs. */
export interface FitWish {
  /** The tree that the whole diff is relative to. */
  readonly base: string;
  /** The tree that the run started from. */
  readonly begun: string;
  /** Whether to also return the run's own changes, relative to the tree in `begun`. */
  readonly own: boolean;
  /** Maximum size of each diff, in bytes. */
  readonly maxBytes: number;
  /** Maximum size of both diffs together, in bytes of JSON. */
  readonly maxJsonBytes: number;
  readonly signal: AbortSignal;
}

/** Changes that fit into the limits. */
export interface Fitted extends Gathered {
  readonly diff: string;
  /** The diff of the run's own changes. Absent unless the caller asked for it. */
  readonly own?: string;
}

/**
 * Returns the changes as diffs. If the diffs are too long, leaves out the run's largest changes until the rest fits.
 * The left-out paths keep their original content. Rejects with `OutputTooLong` if the diffs are still too long without
 * the run's changes.
 */
export async function fitChanges(source: Source, gathered: Gathered, wish: FitWish): Promise<Fitted> {
  let { tree, leftOut } = gathered;
  let { maxBytes } = wish;
  for (;;) {
    const diffs = await findDiffs(source, tree, { ...wish, maxBytes });
    const bytes = diffs === null ? 0 : Buffer.byteLength(JSON.stringify(diffs));
    if (diffs !== null && bytes <= wish.maxJsonBytes) return { tree, leftOut, ...diffs };
    // Convert the limit of JSON bytes to a limit of the diff, because a character may need more bytes in JSON.
    if (diffs !== null) maxBytes = Math.floor((diffs.diff.length * Math.max(0, wish.maxJsonBytes)) / bytes);
    const dropped = await dropLargest(source, tree, { ...wish, maxBytes });
    if (dropped === null) throw new OutputTooLong(`a diff has more than ${maxBytes} bytes`);
    tree = dropped.tree;
    leftOut = inOrder([...leftOut, ...dropped.leftOut]);
  }
}

/** Returns the diffs, or null if one exceeds the limit. */
async function findDiffs(
  source: Source,
  tree: string,
  { base, begun, own, maxBytes, signal }: FitWish,
): Promise<Pick<Fitted, "diff" | "own"> | null> {
  try {
    const of = { to: tree, maxBytes, signal };
    const diff = await diffBetween(source, { ...of, from: base });
    if (!own) return { diff };
    return { diff, own: begun === base ? diff : await diffBetween(source, { ...of, from: begun }) };
  } catch (error) {
    if (error instanceof OutputTooLong) return null;
    throw error;
  }
}

/**
 * Returns the tree without the run's changes that take the most space in the diff. Returns null if the run has no
 * changes.
 */
async function dropLargest(source: Source, tree: string, wish: FitWish): Promise<Gathered | null> {
  const { base, begun, maxBytes, signal } = wish;
  const mine = await listChanges(source, { from: begun, to: tree }, signal);
  const costs = new Map<string, number>();
  let excess = 0;
  for (const from of wish.own ? [base, begun] : [base]) {
    const paths = [...(await listChanges(source, { from, to: tree }, signal)).keys()];
    const sizes = await measureDiff(source, { from, to: tree, signal });
    const total = sizes.reduce((sum, size) => sum + size, 0);
    excess = Math.max(excess, total - maxBytes);
    for (const [index, path] of paths.entries()) {
      if (mine.has(path)) costs.set(path, Math.max(costs.get(path) ?? 0, sizes[index] ?? 0));
    }
  }
  const entries = new Map<string, Entry | null>();
  const leftOut: LeftOut[] = [];
  for (const [path, bytes] of [...costs].sort(([, left], [, right]) => right - left)) {
    if (excess <= 0 && leftOut.length > 0) break;
    excess -= bytes;
    entries.set(path, mine.get(path) ?? null);
    leftOut.push({ path, why: `its change takes ${bytes} bytes, which do not fit into the diff` });
  }
  if (leftOut.length === 0) return null;
  return { tree: await changedTree(source, { tree, entries }, signal), leftOut };
}

/**
 * Lists the paths that differ between two trees, in git's order. Each path has its entry in the first tree; null if the
 * first tree lacks the path.
 */
async function listChanges(
  source: Source,
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Entry | null>> {
  const place = { ...source, scratch: source.gitDir, index: join(source.gitDir, "index"), signal };
  const records = listRecords(await gitAt(place, [...LIST_CHANGES, "--raw", from, to]));
  const found = new Map<string, Entry | null>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [mode = "", , oid = ""] = (records[at] ?? "").slice(1).split(" ");
    found.set(records[at + 1] ?? "", mode === "000000" ? null : { mode, oid });
  }
  return found;
}

async function changedTree(
  source: Source,
  { tree, entries }: { readonly tree: string; readonly entries: ReadonlyMap<string, Entry | null> },
  signal: AbortSignal,
): Promise<string> {
  const scratch = await mkdtemp(join(source.gitDir, "fit-"));
  const index = join(scratch, "index");
  const place: Place = { ...source, scratch, index, begun: index, laidOut: new Map(), signal };
  try {
    await gitAt(place, ["read-tree", tree]);
    await putEntries(place, entries);
    return (await gitAt(place, ["write-tree"])).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
