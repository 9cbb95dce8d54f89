import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../storage/keys.js";
import type { Change, Key, Reading } from "../storage/store.js";
import { getOrCreateMap, type Overlay } from "./overlay.js";
import type { ReadPicture } from "./read-picture.js";

/** Most partitions for which a picture is kept; beyond it, the least recently read one is dropped. */
const MAX_HELD_PARTITIONS = 64;

/** A picture of one partition. */
interface HeldPicture {
  readonly value: unknown;
  /** The number of the batch being committed that it already includes; 0 for none. */
  batch: number;
}

/** The batch that is being committed, with a number to identify it. */
interface Committing {
  readonly number: number;
  readonly changes: Overlay;
}

/**
 * The pictures of the durable state (see {@link ReadPicture}). The committer reports when batches begin and are
 * durable.
 *
 * 1. A picture equals what `build` would return for the rows that are durable now. A batch being committed may be
 *    durable before its commit resolves: the next read detects that by the batch's rows, and applies it.
 * 2. Keeps a bounded number, only of partitions that were read.
 */
export class ReadPictures {
  readonly #durable: Reading;
  /** By picture and partition, the least recently read partition first. */
  readonly #held = new Map<ReadPicture<unknown>, Map<string, HeldPicture>>();
  #committing: Committing | null = null;
  #batches = 0;

  constructor(durable: Reading) {
    this.#durable = durable;
  }

  get<Held>(picture: ReadPicture<Held>, partition: string): Held {
    const partitions = getOrCreateMap(this.#held, picture);
    const known = partitions.get(partition);
    partitions.delete(partition);
    const isKnown = known !== undefined && this.#catchUp(picture, partition, known);
    const held = isKnown ? known : { value: picture.build(this.#durable, partition), batch: 0 };
    partitions.set(partition, held);
    const [oldest] = partitions.keys();
    if (oldest !== undefined && partitions.size > MAX_HELD_PARTITIONS) partitions.delete(oldest);
    return held.value as Held;
  }

  /** Call when the commit of a batch begins. */
  committing(changes: Overlay): void {
    this.#batches += 1;
    this.#committing = { number: this.#batches, changes };
  }

  /** Call when that batch is durable, before {@link applied} with its changes. */
  flushed(): void {
    this.#committing = null;
  }

  /** Applies durable changes to the pictures, and drops those that cannot apply them. */
  applied(changes: readonly Change[]): void {
    for (const [picture, partitions] of this.#held) {
      if (partitions.size === 0) continue;
      for (const change of changes) {
        const partition = String(change.key[0]);
        const held = partitions.get(partition);
        if (held === undefined || !isBuiltFrom(picture, change.key)) continue;
        if (!applyChange(picture, held, change)) partitions.delete(partition);
      }
    }
  }

  /** Applies the batch being committed if it is durable already; false when the picture has to be rebuilt. */
  #catchUp(picture: ReadPicture<unknown>, partition: string, held: HeldPicture): boolean {
    if (this.#committing === null || held.batch === this.#committing.number) return true;
    const changes = changesOf(this.#committing.changes, picture, partition);
    // A batch is durable as a whole or not at all: if one row is not as the batch writes it, none is.
    if (!changes.every((change) => isAsWritten(this.#durable, change))) return true;
    held.batch = this.#committing.number;
    return changes.every((change) => applyChange(picture, held, change));
  }
}

/** Whether the row of a change is durable as the change writes it. Throws what reading it throws. */
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

/** False when the change cannot be applied, also when that throws: then the rebuild throws too, at the next read. */
function applyChange(picture: ReadPicture<unknown>, { value }: HeldPicture, change: Change): boolean {
  try {
    return picture.apply(value, change);
  } catch {
    return false;
  }
}
