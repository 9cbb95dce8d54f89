import { deadLetterSpace } from "../storage/keys.js";
import { listKeys } from "../storage/list-keys.js";
import type { Change, Reading } from "../storage/store.js";
import type { Address } from "./address.js";

/** Dead letters that a partition keeps: the latest ones. */
export const MAX_DEAD_LETTERS = 1_000;
/** Removed at once when there are more, the oldest first. */
const REMOVED_AT_ONCE = 100;

/** Bounds the dead letters of each partition. Counts those of partitions that set messages aside, in memory. */
export class DeadLetterLimit {
  readonly #reading: Reading;
  /** At least as many as there are: those that were retried meanwhile still count. */
  readonly #counts = new Map<string, number>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** The changes that make room for another dead letter. */
  makeRoom({ partition }: Pick<Address, "partition">): Change[] {
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
