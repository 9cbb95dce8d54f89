import type { ChangeEntry } from "../../runtime/feeds/topic.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { type CountingWriting, referToBlobs } from "./blobs.js";

/** The part of a turn that writes a row and publishes its changes to streams. */
export type PublishingWriting = Writing & Pick<Turn, "publishRow">;

/** Declares that changes of rows are published to streams. */
export interface PublishedRows<Listed> {
  /**
   * Returns the stream entries of a written row. If a turn writes the row several times, it publishes only the entries
   * of the last write that has entries, at the position of that write.
   */
  readonly changes: (row: Listed, reading: Reading, write: PublishedWrite<Listed>) => readonly ChangeEntry[];
}

/** The published write. */
export interface PublishedWrite<Listed> {
  readonly workspaceId: string;
  /** The previous row; null for a new one. */
  readonly before: Listed | null;
  /** The row as it was before the turn, which is what readers have seen. Null if the turn created the row. */
  readonly first: Listed | null;
}

/** Declares that rows refer to bodies (`blobs.ts`). Writes of such rows also count the references. */
export interface RowsWithBlobs<Listed> {
  /** The digests of the bodies that a row refers to. */
  readonly blobs: (row: Listed) => readonly string[];
}

/** A write of a row: the new row (null for a removal) and the previous row (null for a new row). */
interface RowWrite<Listed> {
  readonly row: Listed | null;
  readonly before: Listed | null;
}

/** Additional work in a turn that writes a row. */
export interface OnWrite<Listed, Into> {
  write(into: Into, key: Key, write: RowWrite<Listed>): void;
  readonly hasBodies: boolean;
  listBlobs(row: Listed): readonly string[];
}

/** No additional work. */
export const nothingOnWrite: OnWrite<unknown, unknown> = {
  hasBodies: false,
  write: () => undefined,
  listBlobs: () => [],
};

/** Publishes the changes of rows. */
export function publishOnWrite<Listed>({ changes }: PublishedRows<Listed>): OnWrite<Listed, PublishingWriting> {
  return {
    hasBodies: false,
    listBlobs: () => [],
    write: (turn, key, { row, before }) => {
      if (row === null) return;
      const workspaceId = String(key[0]);
      turn.publishRow(key, before, (first) => changes(row, turn, { workspaceId, before, first }));
    },
  };
}

/** Counts references to bodies. If `changes` is declared, also publishes the changes of rows. */
export function countOnWrite<Listed>({
  blobs,
  changes,
}: RowsWithBlobs<Listed> & Partial<PublishedRows<Listed>>): OnWrite<Listed, PublishingWriting & CountingWriting> {
  const published = changes === undefined ? null : publishOnWrite({ changes });
  const listBlobs = (row: Listed | null) => (row === null ? [] : blobs(row));
  return {
    hasBodies: true,
    listBlobs,
    write: (turn, key, written) => {
      published?.write(turn, key, written);
      referToBlobs(turn, String(key[0]), listBlobs(written.before), listBlobs(written.row));
    },
  };
}
