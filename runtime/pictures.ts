import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../storage/keys.js";
import type { Change, Key, KeyPart, Reading } from "../storage/store.js";
import { type Address, addressText } from "./address.js";
import type { Picture } from "./picture.js";
import type { Origin, RowMemory } from "./row-memory.js";

/** A picture that stands for rows of a table, and what their ids begin with. */
interface Watch {
  readonly picture: Picture<unknown>;
  readonly under: Key;
}

/**
 * The pictures that actors hold (see {@link Picture}). Owns all of them, so that those of a row are found when it is
 * written.
 *
 * 1. What is held says what `build` would say of the rows as the latest kept turn left them.
 */
export class Pictures implements RowMemory {
  /** By table. */
  readonly #watches = new Map<KeyPart | undefined, Watch[]>();
  /** By picture, then by partition, then by the actor's name in it. */
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

  /** The actor's picture, built from `reading` unless it is held. Throws for one that no actor type names. */
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

  /** Whether a row may be one that some picture stands for. */
  watches(key: Key): boolean {
    return key[1] === rowSpace && this.#watches.has(key[2]);
  }

  /** Drops what stands for rows that `writer` has written, but for the writer's own. */
  written(keys: Iterable<Key>, writer: Address | null): void {
    for (const key of keys) {
      for (const { picture, under } of this.#watches.get(key[2]) ?? []) {
        if (under.every((part, index) => key[index + 3] === part)) this.#drop(picture, String(key[0]), writer);
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

  /** Drops everything that an actor holds. */
  drop(actor: Address): void {
    const name = nameOf(actor);
    for (const partitions of this.#held.values()) {
      const held = partitions.get(actor.partition);
      if (held?.delete(name) === true && held.size === 0) partitions.delete(actor.partition);
    }
  }

  /** Throws when the actor holds what its rows do not say. */
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

  #drop(picture: Picture<unknown>, partition: string, writer: Address | null): void {
    const partitions = this.#held.get(picture);
    const held = partitions?.get(partition);
    if (held === undefined) return;
    const own = writer?.partition === partition ? nameOf(writer) : "";
    for (const name of [...held.keys()]) if (name !== own) held.delete(name);
    if (held.size === 0) partitions?.delete(partition);
  }
}

/** Different for every actor of a partition. */
function nameOf({ kind, id }: Address): string {
  return `${kind}\0${id}`;
}
