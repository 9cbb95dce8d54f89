import type { ChangeEntry } from "../../runtime/topic.js";
import type { Turn } from "../../runtime/turn.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { referToBlobs } from "./blobs.js";

/** What writes a row whose changes are published to streams: a turn. */
export type TellingWriting = Writing & Pick<Turn, "publishRow">;

/** Declares that changes of rows are published to streams. */
export interface Told<Listed> {
  /**
   * The stream entries of a row that was written. A turn publishes the entries of its last write of the row, at the
   * position of that write. A write without entries does not replace the entries of an earlier one.
   */
  readonly changes: (row: Listed, reading: Reading, write: ToldWrite<Listed>) => readonly ChangeEntry[];
}

/** The write that is published. */
export interface ToldWrite<Listed> {
  readonly workspaceId: string;
  /** The previous row; null for a new one. */
  readonly before: Listed | null;
}

/** Declares that rows refer to bodies (`blobs.ts`), whose references are counted. */
export interface Referring<Listed> {
  /** The digests of the bodies that a row refers to. */
  readonly blobs: (row: Listed) => readonly string[];
}

/** A write of a row: the new row, null when it is removed, and the previous one, null for a new row. */
interface RowWrite<Listed> {
  readonly row: Listed | null;
  readonly before: Listed | null;
}

/** What else is done in a turn that writes a row. */
export interface Follows<Listed, Into> {
  write(into: Into, key: Key, write: RowWrite<Listed>): void;
  blobsOf(row: Listed): readonly string[];
}

/** Does nothing else. */
export const nothingFollows: Follows<unknown, unknown> = { write: () => undefined, blobsOf: () => [] };

/** Publishes the changes of rows. */
export function tells<Listed>({ changes }: Told<Listed>): Follows<Listed, TellingWriting> {
  return {
    blobsOf: () => [],
    write: (turn, key, { row, before }) => {
      const entries = row === null ? [] : changes(row, turn, { workspaceId: String(key[0]), before });
      if (entries.length > 0) turn.publishRow(key, entries);
    },
  };
}

/** Counts references to bodies, and publishes the changes of rows if declared. */
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
