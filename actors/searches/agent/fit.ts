import { writeJson } from "../../exact-json.js";
import { MAX_FILE_BYTES } from "./bounds.js";

/** How much of texts a file has room for: `room` parts of their usual bounds, from 1 down. */
export type Room = (bytes: number) => number;

/** Halvings of the bounds: after them any text is cut to nothing that counts. */
const MOST_TRIES = 12;

/**
 * A file as JSON in at most {@link MAX_FILE_BYTES}: `make` is asked again with half the room for its texts until it fits,
 * since what a text takes in JSON depends on what is in it. What it says without texts must fit.
 */
export function fitJson(make: (room: Room) => object): string {
  for (let tried = 0; ; tried++) {
    const text = `${writeJson(
      make((bytes) => Math.floor(bytes / 2 ** tried)),
      2,
    )}\n`;
    if (Buffer.byteLength(text) <= MAX_FILE_BYTES) return text;
    if (tried === MOST_TRIES) throw new Error("a file that does not fit without its texts");
  }
}
