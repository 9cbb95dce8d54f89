import type { ChangeEntry } from "../../runtime/topic.js";
import type { Turn } from "../../runtime/turn.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { referToBlobs } from "./blobs.js";

/** A turn's writes of rows that streams publish. */
export type TellingWriting = Writing & Pick<Turn, "publishRow">;

/** Rows that streams publish. */
export interface Told<Listed> {
  /**
   * The stream entries of a row as it is now. Once a turn: those of the last put, in its place. A put of which there is
   * nothing to say leaves an earlier one's standing.
   */
  readonly changes: (row: Listed, reading: Reading, write: ToldWrite<Listed>) => readonly ChangeEntry[];
}

/** The write that is published. */
export interface ToldWrite<Listed> {
  readonly workspaceId: string;
  /** The row as it was; null of a new one. */
  readonly before: Listed | null;
}

/** Rows that refer to bodies. */
export interface Referring<Listed> {
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

/** For rows from whose writes nothing follows. */
export const nothingFollows: Follows<unknown, unknown> = { write: () => undefined, blobsOf: () => [] };

/** For rows that streams publish. */
export function tells<Listed>({ changes }: Told<Listed>): Follows<Listed, TellingWriting> {
  return {
    blobsOf: () => [],
    write: (turn, key, { row, before }) => {
      const entries = row === null ? [] : changes(row, turn, { workspaceId: String(key[0]), before });
      if (entries.length > 0) turn.publishRow(key, entries);
    },
  };
}

/** For rows that refer to bodies, and that streams may publish. */
export function refers<Listed>({ blobs, changes }: Referring<Listed> & Partial<Told<Listed>>): Follows<Listed, Turn> {
  const told = changes === undefined ? null : tells({ changes });
  const blobsOf = (row: Listed | null) => (row === null ? [] : blobs(row));
  return {
    blobsOf,
    write: (turn, key, written) => {
      told?.write(turn, key, written);
      referToBlobs(turn, turn.self.partition, blobsOf(written.before), blobsOf(written.row));
    },
  };
}
