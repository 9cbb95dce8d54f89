import type { Change, Reading } from "../storage/store.js";
import type { Picture } from "./picture.js";

/**
 * What reads work out from durable rows of a partition. A reading of what is durable holds it between reads and changes
 * it with each row that becomes durable, so that a read need not go over the rows: {@link readPicture} gives it.
 */
export interface ReadPicture<Held> {
  /** The rows it stands for, as a {@link Picture} has them. */
  readonly rows: Picture<unknown>["rows"];
  /** Works it out from the rows as they are. */
  build(reading: Reading, partition: string): Held;
  /**
   * Brings in a change of one of its rows; false where it has to be built anew. A change may come again, and changes of
   * one batch come in any order.
   */
  apply(held: Held, change: Change): boolean;
}

/** A reading that holds pictures of what it reads. */
export interface PictureReading extends Reading {
  /** What the picture says of the partition's rows as this reading gives them now. */
  readPicture<Held>(picture: ReadPicture<Held>, partition: string): Held;
}

/**
 * What the picture says of the partition's rows as the reading gives them now: as the reading holds it, or built from
 * the rows where it holds none (in a turn, and over a view). Good until the caller lets anything else run.
 */
export function readPicture<Held>(reading: Reading, picture: ReadPicture<Held>, partition: string): Held {
  return isPictureReading(reading) ? reading.readPicture(picture, partition) : picture.build(reading, partition);
}

function isPictureReading(reading: Reading): reading is PictureReading {
  return "readPicture" in reading;
}
