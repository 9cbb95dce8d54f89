import type { Change, Reading } from "../storage/store.js";
import type { Picture } from "./picture.js";

/**
 * In-memory state that reads derive from durable rows of a partition. A reading of the durable state keeps it between
 * reads and updates it with each durable change, so that a read does not have to scan the rows. {@link readPicture}
 * returns it.
 */
export interface ReadPicture<Held> {
  /** The rows it is built from; see {@link Picture}. */
  readonly rows: Picture<unknown>["rows"];
  /** Builds it from the current rows. */
  build(reading: Reading, partition: string): Held;
  /**
   * Applies a change of one of its rows; false when it has to be rebuilt instead. A change may be applied twice, and
   * the changes of one batch come in any order.
   */
  apply(held: Held, change: Change): boolean;
}

/** A reading that keeps pictures. */
export interface PictureReading extends Reading {
  /** The picture of a partition's rows as this reading sees them now. */
  readPicture<Held>(picture: ReadPicture<Held>, partition: string): Held;
}

/**
 * The picture of a partition's rows as the reading sees them now: the reading's own, or built from the rows if the
 * reading keeps none (in a turn, or over a view). Valid until the next await.
 */
export function readPicture<Held>(reading: Reading, picture: ReadPicture<Held>, partition: string): Held {
  return isPictureReading(reading) ? reading.readPicture(picture, partition) : picture.build(reading, partition);
}

function isPictureReading(reading: Reading): reading is PictureReading {
  return "readPicture" in reading;
}
