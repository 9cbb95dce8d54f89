import type { Change, Reading } from "../../storage/store.js";
import type { Picture } from "./row-view.js";

/**
 * In-memory state that reads derive from durable rows of a partition, so that a read does not have to scan the rows. A
 * reading of durable state caches it between reads and updates it with each durable change. {@link readPicture} returns
 * it.
 */
export interface ReadPicture<Held> {
  /** The rows that the picture is built from; see {@link Picture}. */
  readonly rows: Picture<unknown>["rows"];
  /** Builds the picture from the current rows. */
  build(reading: Reading, partition: string): Held;
  /**
   * Applies a change of one of the picture's rows. Returns false if the picture must be rebuilt instead. A change may
   * be applied twice, and the changes of one batch arrive in any order.
   */
  apply(held: Held, change: Change): boolean;
}

/** A reading that caches pictures. */
export interface PictureReading extends Reading {
  /** Returns the picture of the partition's rows in their current state. */
  readPicture<Held>(picture: ReadPicture<Held>, partition: string): Held;
}

/**
 * Returns the picture of a partition's rows in the reading's current state. If the reading does not cache pictures (in
 * a turn, or on a view), builds it from the rows. The picture is valid until the next await.
 */
export function readPicture<Held>(reading: Reading, picture: ReadPicture<Held>, partition: string): Held {
  return isPictureReading(reading) ? reading.readPicture(picture, partition) : picture.build(reading, partition);
}

function isPictureReading(reading: Reading): reading is PictureReading {
  return "readPicture" in reading;
}
