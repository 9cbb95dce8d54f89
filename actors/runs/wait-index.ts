import { listKeys } from "../../storage/list-keys.js";
import { isBelow } from "../../storage/ranges.js";
import type { Key, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import type { InSteps } from "../in-steps.js";
import { type DerivedRows, derivedRows } from "../tables/table-declaration.js";

/**
 * Indexes of open approvals, questions and failures, oldest first. Tasks have one index, approvals another. Each item
 * has two entries: one under {@link ANYBODY}, and one under the person whom it waits for, or under {@link NOBODY}. So
 * each view of an inbox reads one range of keys.
 *
 * Lists and counts read only keys. A damaged entry does not hide other items.
 */

/** An index: `[team, whom, since (ms), id]` -> the run of an approval, or "". */
export type WaitIndex = Table<string>;

/** The entries of all items of a team. */
export const ANYBODY = "all";
/** The entries of the items that wait for no person in particular. */
export const NOBODY = "none";

/** An item that waits for a person. */
export interface Wait {
  readonly id: string;
  readonly teamId: string;
  /** User id of the person whom the item waits for; null if it waits for no person in particular. */
  readonly whom: string | null;
  /** Start of the wait, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The run of an approval; "" for a task. */
  readonly runId: string;
}

/**
 * Declares that the entries of an index derive from rows. `toWait` returns null if nothing in the row waits for a
 * person.
 */
export function waitEntries<Row>(index: WaitIndex, toWait: (row: Row) => Wait | null): DerivedRows<Row> {
  return derivedRows(index, (row: Row) => {
    const wait = toWait(row);
    if (wait === null) return [];
    const { id, teamId, whom, sinceMs, runId } = wait;
    return [ANYBODY, whom ?? NOBODY].map((under) => [[teamId, under, sinceMs, id], runId] as const);
  });
}

/** The position of an item. Longer waits come first. Among equal waits, the lower id comes first. */
export type WaitPosition = Pick<Wait, "id" | "sinceMs">;

/** Compares positions for sorting. */
export function comparePositions(left: WaitPosition, right: WaitPosition): number {
  if (left.sinceMs !== right.sinceMs) return left.sinceMs - right.sinceMs;
  return left.id === right.id ? 0 : left.id < right.id ? -1 : 1;
}

/** The items of one team in one index. */
export interface TeamWaits {
  readonly index: WaitIndex;
  readonly workspaceId: string;
  readonly teamId: string;
}

/** Selects items of a team. */
interface WaitPage {
  /** A user id, {@link ANYBODY} or {@link NOBODY}. */
  readonly whom: string;
  /** Only items after this position; null for all. */
  readonly after: WaitPosition | null;
  readonly limit: number;
}

/**
 * Lists the positions of items, the longest wait first. Items whose entries are damaged do not count against the limit.
 */
export function listWaits(
  reading: Reading,
  { index, workspaceId, teamId }: TeamWaits,
  { whom, after, limit }: WaitPage,
): readonly WaitPosition[] {
  const prefix = index.key(workspaceId, teamId, whom);
  const from = after === null ? {} : { after: [...prefix, after.sinceMs, after.id] };
  return listKeysBelow(reading, prefix, { limit, ...from }).flatMap((key) => {
    const [sinceMs, id] = key.slice(prefix.length);
    if (typeof sinceMs !== "number" || typeof id !== "string") return [];
    const position = { sinceMs, id };
    return after === null || comparePositions(after, position) < 0 ? [position] : [];
  });
}

/** Number of reads in one step: about 0.1 ms of work. */
export const READS_AT_ONCE = 8;

/**
 * Lists in steps the teams of `teamIds` (ascending) that have items. The list may also contain a few teams without
 * items. Reads about one key for each listed team, because it skips the teams between them.
 */
export function* listWaitingTeams(
  index: WaitIndex,
  reading: Reading,
  workspaceId: string,
  teamIds: readonly string[],
): InSteps<readonly string[]> {
  const prefix = index.key(workspaceId);
  const found: string[] = [];
  let next = 0;
  for (let reads = 1; next < teamIds.length; reads += 1) {
    const passed = teamIds[next - 1];
    const from = passed === undefined ? {} : { after: [...prefix, passed] };
    const first = listKeysBelow(reading, prefix, { limit: 1, ...from })[0]?.[prefix.length];
    if (first === undefined) break;
    while (next < teamIds.length && (teamIds[next] ?? "") < first) next += 1;
    found.push(...teamIds.slice(next, next + 1));
    next += 1;
    if (reads % READS_AT_ONCE === 0) yield;
  }
  return found;
}

/** Number of entries in the first read of a team. If the team has fewer entries, this read returns all of them. */
const FEW = 32;
/** Number of keys to count in one step: about 0.1 ms of work. */
const KEYS_AT_ONCE = 100;

/**
 * Counts the team's items in steps, for each key of `counts`, and adds the number to that key's count. No count exceeds
 * `most`. One read is enough for a team with few items.
 */
export function* addWaitCounts(
  reading: Reading,
  { index, workspaceId, teamId }: TeamWaits,
  counts: Map<string, number>,
  most: number,
): InSteps<void> {
  const prefix = index.key(workspaceId, teamId);
  const first = listKeysBelow(reading, prefix, { limit: FEW });
  const end = first.length < FEW ? undefined : first.at(-1);
  for (const whom of counts.keys()) {
    const own = first.filter((key) => key[prefix.length] === whom);
    let count = (counts.get(whom) ?? 0) + own.length;
    // True if the first read has all entries under `whom`: it reached the end of the team's entries, or a later key
    // than `whom`.
    let isWhole = end === undefined || String(end[prefix.length]) > whom;
    let after = own.at(-1);
    while (!isWhole && count < most) {
      yield;
      const limit = Math.min(KEYS_AT_ONCE, most - count);
      const more = listKeysBelow(reading, [...prefix, whom], after === undefined ? { limit } : { limit, after });
      count += more.length;
      isWhole = more.length < limit;
      after = more.at(-1);
    }
    counts.set(whom, Math.min(most, count));
  }
}

/** Lists the keys below a prefix. Omits damaged keys outside the prefix, which the read of a range may return too. */
function listKeysBelow(
  reading: Reading,
  prefix: Key,
  page: { readonly limit: number; readonly after?: Key },
): readonly Key[] {
  return listKeys(reading, { prefix, ...page }).filter((key) => isBelow(key, prefix));
}
