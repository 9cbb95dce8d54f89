import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../storage/keys.js";
import type { Change, Key, Reading } from "../storage/store.js";
import { getOrCreateMap, type Overlay } from "./overlay.js";
import type { ReadPicture } from "./read-picture.js";

/** Partitions of which a picture is held; past it the one that was read longest ago goes. */
const MAX_HELD_PARTITIONS = 64;

/** A picture of one partition. */
interface HeldPicture {
  readonly value: unknown;
  /** The batch under way that it was last held against and says already; 0 for none. */
  batch: number;
}

/** The batch that is being committed, by a number of its own. */
interface UnderWay {
  readonly number: number;
  readonly changes: Overlay;
}

/**
 * The pictures that reads of durable rows hold (see {@link ReadPicture}). Owns all of them; whoever commits tells it
 * what has become durable.
 *
 * 1. What is given says what `build` would say of the rows that are durable now. A batch under way may be durable before
 *    anybody has heard of it: then its rows say so, and it is brought in with the next read.
 * 2. A bounded number is held, and only of partitions that were read.
 */
export class ReadPictures {
  readonly #durable: Reading;
  /** By picture and partition, the partition that was read longest ago first. */
  readonly #held = new Map<ReadPicture<unknown>, Map<string, HeldPicture>>();
  #underWay: UnderWay | null = null;
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

  /** A batch is being committed. */
  committing(changes: Overlay): void {
    this.#batches += 1;
    this.#underWay = { number: this.#batches, changes };
  }

  /** The batch that was being committed is durable; {@link applied} tells what it changed. */
  flushed(): void {
    this.#underWay = null;
  }

  /** These changes are durable. */
  applied(changes: readonly Change[]): void {
    for (const [picture, partitions] of this.#held) {
      if (partitions.size === 0) continue;
      for (const change of changes) {
        const partition = String(change.key[0]);
        const held = partitions.get(partition);
        if (held === undefined || !standsFor(picture, change.key)) continue;
        if (!bringIn(picture, held, change)) partitions.delete(partition);
      }
    }
  }

  /** Brings the batch under way in if it is durable; false where the picture has to be built anew. */
  #catchUp(picture: ReadPicture<unknown>, partition: string, held: HeldPicture): boolean {
    if (this.#underWay === null || held.batch === this.#underWay.number) return true;
    const changes = changesOf(this.#underWay.changes, picture, partition);
    // A batch is durable whole or not at all: one row that does not say so is enough, and all say so if it is.
    if (!changes.every((change) => this.#isDurable(change))) return true;
    held.batch = this.#underWay.number;
    return changes.every((change) => bringIn(picture, held, change));
  }

  #isDurable(change: Change): boolean {
    return isDeepStrictEqual(this.#durable.get(change.key), change.op === "put" ? change.value : undefined);
  }
}

function changesOf(batch: Overlay, picture: ReadPicture<unknown>, partition: string): Change[] {
  const changes: Change[] = [];
  for (const [table] of picture.rows) {
    for (const group of batch.groupsBelow([partition, rowSpace, table])) changes.push(...group.values());
  }
  return changes.filter(({ key }) => standsFor(picture, key));
}

function standsFor({ rows }: ReadPicture<unknown>, key: Key): boolean {
  return key[1] === rowSpace && rows.some((row) => row.every((part, index) => key[index + 2] === part));
}

/** False where the change cannot be brought in. Rows that it throws over are read anew, and fail their reader if any. */
function bringIn(picture: ReadPicture<unknown>, { value }: HeldPicture, change: Change): boolean {
  try {
    return picture.apply(value, change);
  } catch {
    return false;
  }
}
