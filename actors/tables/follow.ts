import type { ChangeEntry, Turn } from "../../runtime/turn.js";
import type { Key, Reading } from "../../storage/store.js";
import { referToBlobs } from "./blobs.js";

/** What else happens in the turn in which a row is written; one of them at least. */
export type Followed<Listed> = Telling<Listed> | Referring<Listed>;

interface Telling<Listed> {
  readonly blobs?: Referring<Listed>["blobs"];
  /**
   * The stream entries of a row as it is now; `before` is null of a new one. Once a turn: those of the last put, in
   * its place. A put of which there is nothing to say leaves an earlier one's standing.
   */
  readonly changes: (row: Listed, reading: Reading, before: Listed | null) => readonly ChangeEntry[];
}

interface Referring<Listed> {
  readonly changes?: Telling<Listed>["changes"];
  /** The digests of the bodies that a row refers to (`blobs.ts`). */
  readonly blobs: (row: Listed) => readonly string[];
}

/** A write of a row: as it is now and as it was, null for none. */
interface RowWrite<Listed> {
  readonly row: Listed | null;
  readonly before: Listed | null;
}

/** What follows from the writes of a table's rows. */
export interface Follows<Listed, Into> {
  write(into: Into, key: Key, write: RowWrite<Listed>): void;
  blobsOf(row: Listed): readonly string[];
}

export function followsOf<Listed>({ changes, blobs }: Partial<Followed<Listed>>): Follows<Listed, Turn> {
  const blobsOf = (row: Listed | null) => (row === null || blobs === undefined ? [] : blobs(row));
  return {
    blobsOf,
    write: (turn, key, { row, before }) => {
      const entries = row === null || changes === undefined ? [] : changes(row, turn, before);
      if (entries.length > 0) turn.publishRow(key, entries);
      if (blobs !== undefined) referToBlobs(turn, turn.self.partition, blobsOf(before), blobsOf(row));
    },
  };
}
