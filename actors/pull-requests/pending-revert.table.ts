import type { Turn } from "../../runtime/turns/turn.js";
import { listRepositoryKeys, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { PullRequestRow } from "./pull-request.js";

/** A revert that the service learned of before the reverted pull request or its merge. */
interface PendingRevert {
  /** The key of the repository. */
  readonly repository: string;
  /** The reverted item: a merge commit, or `#` and the number of a pull request. */
  readonly reverts: string;
  /** URL of the merged pull request that reverts the item. */
  readonly by: string;
  /** When the service learned of the revert, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Key: `[repository, reverted item]`. */
export const pendingReverts = indexedTable<PendingRevert>("heard-revert", { order: ["repository", "reverts"] });

export const pendingRevertRetention = retain(pendingReverts, {
  period: "work",
  lineParts: 2,
  startedAtMs: ({ atMs }) => atMs,
  endedAtMs: ({ atMs }) => atMs,
  remove: (turn, revert) => {
    pendingReverts.remove(turn, turn.self.partition, revert);
    return true;
  },
});

/**
 * Stores a revert until the service learns of the reverted item. If a revert of the same item is already stored, keeps
 * that revert.
 */
export function storePendingRevert(
  turn: Turn,
  { named, ...revert }: Omit<PendingRevert, "atMs" | "repository"> & { readonly named: NamedRepository },
): void {
  const { partition } = turn.self;
  const [repository = ""] = listRepositoryKeys(turn, partition, named);
  const row = { ...revert, repository, atMs: turn.now };
  if (pendingReverts.get(turn, partition, row.repository, row.reverts) !== undefined) return;
  pendingReverts.insert(turn, partition, row);
}

/**
 * Returns the row. If its number or merge commit is new and a stored revert names that value, the returned row has
 * `revertedBy`. `before` is the row before the change; null for a new row.
 */
export function withPendingRevert(turn: Turn, before: PullRequestRow | null, row: PullRequestRow): PullRequestRow {
  const { number, mergeCommit, revertedBy } = row;
  if (revertedBy !== null) return row;
  const news = [
    number === null || number === before?.number ? [] : `#${number}`,
    mergeCommit === null || mergeCommit === before?.mergeCommit ? [] : mergeCommit,
  ].flat();
  if (news.length === 0) return row;
  const { partition } = turn.self;
  const keys = listRepositoryKeys(turn, partition, row);
  const found = keys.flatMap((key) =>
    news.flatMap((reverts) => pendingReverts.get(turn, partition, key, reverts) ?? []),
  );
  return { ...row, revertedBy: found[0]?.by ?? null };
}
