import type { Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import { type DerivedRows, derivedRows } from "../tables/table-declaration.js";

/**
 * Indexes of what waits for a person, the longest wait first. Tasks and approvals each have one. An item has two
 * entries: one under {@link ANYBODY}, and one under the person whom it waits for, or {@link NOBODY}. So every view of
 * an inbox is a range.
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
  /** The user id of the person whom it waits for; null if it has none. */
  readonly whom: string | null;
  /** Start of the wait, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The run of an approval; "" for a task. */
  readonly runId: string;
}

/** Declares that the entries of an index derive from rows. `toWait` returns null for a row that does not wait. */
export function waitEntries<Row>(index: WaitIndex, toWait: (row: Row) => Wait | null): DerivedRows<Row> {
  return derivedRows(index, (row: Row) => {
    const wait = toWait(row);
    if (wait === null) return [];
    const { id, teamId, whom, sinceMs, runId } = wait;
    return [ANYBODY, whom ?? NOBODY].map((under) => [[teamId, under, sinceMs, id], runId] as const);
  });
}

/** The position of an item: longer waits come first, and of equal ones the lower id. */
export type WaitPosition = Pick<Wait, "id" | "sinceMs">;

/** Selects items of a team. */
export interface WaitsUnder {
  readonly teamId: string;
  /** A user id, {@link ANYBODY} or {@link NOBODY}. */
  readonly whom: string;
}

/** Lists items of an index, the longest wait first, optionally only those after a position. */
export function listWaits(
  index: WaitIndex,
  reading: Reading,
  workspaceId: string,
  { teamId, whom, after, limit }: WaitsUnder & { readonly after: WaitPosition | null; readonly limit: number },
): readonly (WaitPosition & { readonly runId: string })[] {
  const under = [teamId, whom];
  const page = after === null ? { limit } : { limit, after: [...under, after.sinceMs, after.id] };
  return index
    .entries(reading, workspaceId, under, page)
    .map(({ key, value }) => ({ sinceMs: Number(key.at(-2)), id: String(key.at(-1)), runId: value }));
}
