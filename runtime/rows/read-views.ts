import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { rowSpace } from "../../storage/keys.js";
import type { Change, Key, Reading } from "../../storage/store.js";
import type { Overlay } from "../turns/overlay.js";
import type { ReadPicture } from "./read-view.js";

/** Maximum number of partitions to cache per picture. Beyond it, the least recently read one is dropped. */
const MAX_HELD_PARTITIONS = 64;

/** A picture of one partition. */
interface HeldPicture {
  readonly value: unknown;
  /** The number of the batch being committed, if the picture already includes it; otherwise 0 or an earlier number. */
  batch: number;
}

/** The batch being committed, and a number that identifies it. */
interface Committing {
  readonly number: number;
  readonly changes: Overlay;
}

/**
 * The cached pictures of durable state (see {@link ReadPicture}). The code that commits batches must call
 * {@link committing} and {@link flushed}.
 *
 * 1. A picture equals the result of `build` for the rows that are durable now. A batch may be durable before its commit
 *    resolves. The next read detects this by comparing the batch's rows with the store, and applies the batch.
 * 2. Caches a limited number of pictures, and only for partitions that were read.
 */
export class ReadPictures {
  readonly #durable: Reading;
  /** Pictures by kind and partition. */
  readonly #held = new Map<ReadPicture<unknown>, LRUCache<string, HeldPicture>>();
  #committing: Committing | null = null;
  #batches = 0;

  constructor(durable: Reading) {
    this.#durable = durable;
  }

  get<Held>(picture: ReadPicture<Held>, partition: string): Held {
    const partitions = this.#held.get(picture) ?? new LRUCache({ max: MAX_HELD_PARTITIONS });
    this.#held.set(picture, partitions);
    const known = partitions.get(partition);
    partitions.delete(partition);
    const isKnown = known !== undefined && this.#catchUp(picture, partition, known);
    const held = isKnown ? known : { value: picture.build(this.#durable, partition), batch: 0 };
    partitions.set(partition, held);
    return held.value as Held;
  }

  /** Call this when the commit of a batch begins. */
  committing(changes: Overlay): void {
    this.#batches += 1;
    this.#committing = { number: this.#batches, changes };
  }

  /** Call this when that batch is durable, before {@link applied} with its changes. */
  flushed(): void {
    this.#committing = null;
  }

  /** Applies durable changes to the pictures. Drops pictures that cannot apply them. */
  applied(changes: readonly Change[]): void {
    for (const [picture, partitions] of this.#held) {
      if (partitions.size === 0) continue;
      for (const change of changes) {
        const partition = String(change.key[0]);
        const held = partitions.peek(partition);
        if (held === undefined || !isBuiltFrom(picture, change.key)) continue;
        if (!applyChange(picture, held, change)) partitions.delete(partition);
      }
    }
  }

  /** Applies the batch being committed if it is already durable. Returns false if the picture must be rebuilt. */
  #catchUp(picture: ReadPicture<unknown>, partition: string, held: HeldPicture): boolean {
    if (this.#committing === null || held.batch === this.#committing.number) return true;
    const changes = changesOf(this.#committing.changes, picture, partition);
    // A batch is durable as a whole or not at all. If one row differs from the batch, no row of it is durable.
    if (!changes.every((change) => isAsWritten(this.#durable, change))) return true;
    held.batch = this.#committing.number;
    return changes.every((change) => applyChange(picture, held, change));
  }
}

/** Whether the durable row equals the change's result. Throws if the row cannot be read. */
export function isAsWritten(durable: Reading, change: Change): boolean {
  return isDeepStrictEqual(durable.get(change.key), change.op === "put" ? change.value : undefined);
}

function changesOf(batch: Overlay, picture: ReadPicture<unknown>, partition: string): Change[] {
  const changes: Change[] = [];
  for (const [table] of picture.rows) {
    for (const group of batch.groupsBelow([partition, rowSpace, table])) changes.push(...group.values());
  }
  return changes.filter(({ key }) => isBuiltFrom(picture, key));
}

function isBuiltFrom({ rows }: ReadPicture<unknown>, key: Key): boolean {
  return key[1] === rowSpace && rows.some((row) => row.every((part, index) => key[index + 2] === part));
}

/**
 * Applies a change. Returns false if that is not possible or throws. In that case the next read rebuilds the picture
 * and reports the error.
 */
function applyChange(picture: ReadPicture<unknown>, { value }: HeldPicture, change: Change): boolean {
  try {
    return picture.apply(value, change);
  } catch {
    return false;
  }
}
