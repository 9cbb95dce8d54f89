import { deadLetterSpace } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import type { Change, Reading } from "../../storage/store.js";
import type { Address } from "../cells/address.js";

/** Maximum number of dead letters per partition. The oldest ones are removed first. */
export const MAX_DEAD_LETTERS = 1_000;
/** Number of dead letters removed at a time when the limit is reached, oldest first. */
const REMOVED_AT_ONCE = 100;

/** Limits the dead letters of each partition. Keeps counts in memory, only for partitions with new dead letters. */
export class DeadLetterLimit {
  readonly #reading: Reading;
  /** Upper bounds of the counts, by partition: dead letters that were retried in the meantime are still counted. */
  readonly #counts = new Map<string, number>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /**
   * Returns the changes that make space for one more dead letter: they remove the oldest ones if the limit is reached.
   */
  evictOldest({ partition }: Pick<Address, "partition">): Change[] {
    const known = this.#counts.get(partition);
    if (known !== undefined && known < MAX_DEAD_LETTERS) {
      this.#counts.set(partition, known + 1);
      return [];
    }
    const prefix = [partition, deadLetterSpace];
    const keys = listKeys(this.#reading, { prefix, limit: MAX_DEAD_LETTERS });
    const removed = keys.length < MAX_DEAD_LETTERS ? [] : keys.slice(0, REMOVED_AT_ONCE);
    this.#counts.set(partition, keys.length - removed.length + 1);
    return removed.map((key) => ({ op: "remove", key }));
  }
}
