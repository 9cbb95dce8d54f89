import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../storage/keys.js";
import type { Change, Key, KeyPart, Reading } from "../storage/store.js";
import { type Address, addressText } from "./address.js";
import type { Picture } from "./picture.js";
import type { Origin, RowMemory } from "./row-memory.js";

/** The place in a key of the first part of a row's id. */
const ROW_BEGINS = 3;

/** A picture built from rows of a table, and the prefix of their ids. */
interface Watch {
  readonly picture: Picture<unknown>;
  readonly under: Key;
}

/**
 * The pictures of all actors (see {@link Picture}), indexed by the rows they are built from.
 *
 * 1. A picture equals what `build` would return for the rows as the latest turn that was kept left them.
 */
export class Pictures implements RowMemory {
  /** By table. */
  readonly #watches = new Map<KeyPart | undefined, Watch[]>();
  /** By picture, by partition, by the actor's name in it. */
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

  /** The actor's picture, built from `reading` when it is not in memory. Throws for one that no actor type lists. */
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

  /** Drops the pictures built from rows that `writer` has written, except the writer's own. */
  written(keys: Iterable<Key>, writer: Address | null): void {
    for (const key of keys) {
      for (const { picture, under } of this.#watches.get(key[2]) ?? []) {
        if (!under.every((part, index) => key[index + ROW_BEGINS] === part)) continue;
        const of = picture.isOfActor === true ? key[under.length + ROW_BEGINS] : undefined;
        this.#drop(picture, String(key[0]), { writer, of });
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

  /** Throws when a picture of the actor differs from its rows. */
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

  /** Drops a picture of actors other than the writer: of those with the id `of`, or of all. */
  #drop(
    picture: Picture<unknown>,
    partition: string,
    { writer, of }: { readonly writer: Address | null; readonly of: KeyPart | undefined },
  ): void {
    const partitions = this.#held.get(picture);
    const held = partitions?.get(partition);
    if (held === undefined) return;
    const own = writer?.partition === partition ? nameOf(writer) : "";
    for (const name of [...held.keys()]) {
      if (name !== own && (of === undefined || name.endsWith(`\0${of}`))) held.delete(name);
    }
    if (held.size === 0) partitions?.delete(partition);
  }
}

/** Unique among the actors of a partition. */
function nameOf({ kind, id }: Address): string {
  return `${kind}\0${id}`;
}
