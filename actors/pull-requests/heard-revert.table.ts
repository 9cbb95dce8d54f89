import type { Turn } from "../../runtime/turn.js";
import { listRepositoryKeys, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { PullRequestRow } from "./pull-request.js";

/** A revert that was heard of before what it reverts: that is not known yet, or not known to be merged. */
interface HeardRevert {
  /** The key of the repository. */
  readonly repository: string;
  /** What is reverted: the commit of a merge, or `#` and the number of a pull request. */
  readonly reverts: string;
  /** Address of the merged pull request that reverts it. */
  readonly by: string;
  /** When that was heard, in milliseconds since 1970. */
  readonly atMs: number;
}

/** `[repository, what is reverted]` */
export const heardReverts = indexedTable<HeardRevert>("heard-revert", { order: ["repository", "reverts"] });

export const heardRevertRetention = retain(heardReverts, {
  period: "work",
  lineParts: 2,
  begunAtMs: ({ atMs }) => atMs,
  endedAtMs: ({ atMs }) => atMs,
  remove: (turn, heard) => {
    heardReverts.remove(turn, turn.self.partition, heard);
    return true;
  },
});

/** Keeps a revert until what it reverts is heard of; the first one of the same counts. */
export function keepHeardRevert(
  turn: Turn,
  { named, ...heard }: Omit<HeardRevert, "atMs" | "repository"> & { readonly named: NamedRepository },
): void {
  const { partition } = turn.self;
  const [repository = ""] = listRepositoryKeys(turn, partition, named);
  const row = { ...heard, repository, atMs: turn.now };
  if (heardReverts.get(turn, partition, row.repository, row.reverts) !== undefined) return;
  heardReverts.insert(turn, partition, row);
}

/** The row with the revert that was heard of before its number, or its merge, was; `before` is null for a new one. */
export function withHeardRevert(turn: Turn, before: PullRequestRow | null, row: PullRequestRow): PullRequestRow {
  const { number, mergeCommit, revertedBy } = row;
  if (revertedBy !== null) return row;
  const news = [
    number === null || number === before?.number ? [] : `#${number}`,
    mergeCommit === null || mergeCommit === before?.mergeCommit ? [] : mergeCommit,
  ].flat();
  if (news.length === 0) return row;
  const { partition } = turn.self;
  const keys = listRepositoryKeys(turn, partition, row);
  const found = keys.flatMap((key) => news.flatMap((reverts) => heardReverts.get(turn, partition, key, reverts) ?? []));
  return { ...row, revertedBy: found[0]?.by ?? null };
}
