import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../../storage/keys.js";
import type { Change, Key, KeyPart, Reading } from "../../storage/store.js";
import { type Address, addressText } from "../cells/address.js";
import type { Origin, RowMemory } from "./row-memory.js";
import type { Picture } from "./row-view.js";

/** Index of the first part of a row's id in its key. */
const ROW_BEGINS = 3;

/** A picture that depends on rows of a table, and the id prefix of these rows. */
interface Watch {
  readonly picture: Picture<unknown>;
  readonly under: Key;
}

/**
 * The pictures of all actors (see {@link Picture}), indexed by the rows that they are built from.
 *
 * 1. A picture equals the result of `build` for the rows after the latest successful turn.
 */
export class Pictures implements RowMemory {
  /** Watches by table. */
  readonly #watches = new Map<KeyPart | undefined, Watch[]>();
  /** Picture values by picture, then by partition, then by the actor's name in the partition. */
  readonly #held = new Map<Picture<unknown>, Map<string, Map<string, unknown>>>();

  constructor(pictures: Iterable<Picture<unknown>>) {
    for (const picture of pictures) {
      if (this.#held.has(picture)) continue;
      this.#held.set(picture, new Map());
      for (const [table, ...under] of picture.rows) {
        const watches = this.#watches.get(table) ?? [];
        this.#watches.set(table, watches);
        watches.push({ picture, under });
      }
    }
  }

  /**
   * Returns the actor's picture. Builds it from `reading` if it is not in memory. Throws if no actor type lists the
   * picture.
   */
  get<Held>(picture: Picture<Held>, self: Address, reading: Reading): Held {
    const partitions = this.#held.get(picture);
    if (partitions === undefined) throw new Error(`${self.kind} asks for a picture that no actor type names`);
    const name = nameOf(self);
    const held = partitions.get(self.partition) ?? new Map<string, unknown>();
    if (held.has(name)) return held.get(name) as Held;
    const built = picture.build(reading, self);
    held.set(name, built);
    partitions.set(self.partition, held);
    return built;
  }

  /** Whether a picture may be built from the row. */
  watches(key: Key): boolean {
    return key[1] === rowSpace && this.#watches.has(key[2]);
  }

  /** Drops the pictures that are built from these rows, except the pictures of `writer`, which wrote them. */
  written(keys: Iterable<Key>, writer: Address | null): void {
    for (const key of keys) {
      for (const { picture, under } of this.#watches.get(key[2]) ?? []) {
        if (under.every((part, index) => key[index + ROW_BEGINS] === part)) this.#drop(picture, String(key[0]), writer);
      }
    }
  }

  applied(changes: readonly Change[], origin: Origin): void {
    if (origin === "elsewhere")
      this.written(
        changes.map(({ key }) => key).filter((key) => this.watches(key)),
        null,
      );
  }

  /** Drops all pictures of an actor. */
  drop(actor: Address): void {
    const name = nameOf(actor);
    for (const partitions of this.#held.values()) {
      const held = partitions.get(actor.partition);
      if (held?.delete(name) === true && held.size === 0) partitions.delete(actor.partition);
    }
  }

  /** Throws if a picture of the actor differs from its rows. */
  check(actor: Address, reading: Reading): void {
    const name = nameOf(actor);
    for (const [picture, partitions] of this.#held) {
      const held = partitions.get(actor.partition);
      if (held === undefined || !held.has(name)) continue;
      const built = picture.build(reading, actor);
      const isSame = picture.isSame?.(held.get(name), built) ?? isDeepStrictEqual(held.get(name), built);
      const tables = picture.rows.map(([table]) => table).join(", ");
      if (!isSame) throw new Error(`${addressText(actor)} holds another picture of ${tables} than its rows say`);
    }
  }

  /** Drops a picture of all actors except the writer. */
  #drop(picture: Picture<unknown>, partition: string, writer: Address | null): void {
    const partitions = this.#held.get(picture);
    const held = partitions?.get(partition);
    if (held === undefined) return;
    const own = writer?.partition === partition ? nameOf(writer) : "";
    for (const name of [...held.keys()]) if (name !== own) held.delete(name);
    if (held.size === 0) partitions?.delete(partition);
  }
}

/** Returns a name that is unique among the actors of a partition. */
function nameOf({ kind, id }: Address): string {
  return `${kind}\0${id}`;
}
