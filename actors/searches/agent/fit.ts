import { writeJson } from "../../exact-json.js";
import { MAX_FILE_BYTES } from "./bounds.js";

/**
 * Returns the maximum size of a text, in bytes, for the current attempt. The argument is the maximum for the first
 * attempt.
 */
export type TextLimit = (bytes: number) => number;

/** Maximum number of halvings. After 12 halvings, any text is negligibly short. */
const MAX_TRIES = 12;

/**
 * Writes a file as JSON of at most {@link MAX_FILE_BYTES}. Calls `make` with half the previous text sizes until the
 * file fits, because the size of a text in JSON is not known in advance. The file without its texts must fit.
 */
export function fitJson(make: (limit: TextLimit) => object): string {
  for (let tried = 0; ; tried++) {
    const text = `${writeJson(
      make((bytes) => Math.floor(bytes / 2 ** tried)),
      2,
    )}\n`;
    if (Buffer.byteLength(text) <= MAX_FILE_BYTES) return text;
    if (tried === MAX_TRIES) throw new Error("a file that does not fit without its texts");
  }
}
