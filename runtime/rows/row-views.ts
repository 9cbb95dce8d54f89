import { isDeepStrictEqual } from "node:util";
import { rowSpace } from "../../storage/keys.js";
import type { Change, Key, KeyPart, Reading } from "../../storage/store.js";
import { type Address, addressText } from "../cells/address.js";
import type { Origin, RowMemory } from "./row-memory.js";
import type { RowView } from "./row-view.js";

/** Index of the first part of a row's id in its key. */
const ROW_BEGINS = 3;

/** A row view that depends on rows of a table, and the id prefix of these rows. */
interface Watch {
  readonly view: RowView<unknown>;
  readonly under: Key;
}

/**
 * The cached row views of all actors (see {@link RowView}), indexed by the rows that they are built from.
 *
 * 1. A cached view equals the result of `build` for the rows after the latest successful turn.
 */
export class RowViews implements RowMemory {
  /** Watches by table. */
  readonly #watches = new Map<KeyPart | undefined, Watch[]>();
  /** Cached values by row view, then by partition, then by the actor's name in the partition. */
  readonly #cached = new Map<RowView<unknown>, Map<string, Map<string, unknown>>>();

  constructor(rowViews: Iterable<RowView<unknown>>) {
    for (const view of rowViews) {
      if (this.#cached.has(view)) continue;
      this.#cached.set(view, new Map());
      for (const [table, ...under] of view.rows) {
        const watches = this.#watches.get(table) ?? [];
        this.#watches.set(table, watches);
        watches.push({ view, under });
      }
    }
  }

  /**
   * Returns the actor's row view. Builds it from `reading` if it is not cached. Throws if no actor type declares the
   * view in `rowViews`.
   */
  get<View>(view: RowView<View>, self: Address, reading: Reading): View {
    const partitions = this.#cached.get(view);
    if (partitions === undefined) throw new Error(`${self.kind} asks for a row view that no actor type declares`);
    const name = toName(self);
    const cached = partitions.get(self.partition) ?? new Map<string, unknown>();
    if (cached.has(name)) return cached.get(name) as View;
    const built = view.build(reading, self);
    cached.set(name, built);
    partitions.set(self.partition, cached);
    return built;
  }

  /** Whether a row view may be built from the row. */
  watches(key: Key): boolean {
    return key[1] === rowSpace && this.#watches.has(key[2]);
  }

  /**
   * Drops the cached views that are built from the rows with these keys. Keeps the views of `writer`, the actor that
   * wrote the rows.
   */
  written(keys: Iterable<Key>, writer: Address | null): void {
    for (const key of keys) {
      for (const { view, under } of this.#watches.get(key[2]) ?? []) {
        if (under.every((part, index) => key[index + ROW_BEGINS] === part)) this.#drop(view, String(key[0]), writer);
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

  /** Drops all cached views of an actor. */
  drop(actor: Address): void {
    const name = toName(actor);
    for (const partitions of this.#cached.values()) {
      const cached = partitions.get(actor.partition);
      if (cached?.delete(name) === true && cached.size === 0) partitions.delete(actor.partition);
    }
  }

  /** Throws if a cached view of the actor differs from its rows. */
  check(actor: Address, reading: Reading): void {
    const name = toName(actor);
    for (const [view, partitions] of this.#cached) {
      const cached = partitions.get(actor.partition);
      if (cached === undefined || !cached.has(name)) continue;
      const built = view.build(reading, actor);
      const isSame = view.isSame?.(cached.get(name), built) ?? isDeepStrictEqual(cached.get(name), built);
      const tables = view.rows.map(([table]) => table).join(", ");
      if (!isSame)
        throw new Error(`${addressText(actor)} has a cached row view of ${tables} that differs from its rows`);
    }
  }

  /** Drops the cached view of all actors except the writer. */
  #drop(view: RowView<unknown>, partition: string, writer: Address | null): void {
    const partitions = this.#cached.get(view);
    const cached = partitions?.get(partition);
    if (cached === undefined) return;
    const own = writer?.partition === partition ? toName(writer) : "";
    for (const name of [...cached.keys()]) if (name !== own) cached.delete(name);
    if (cached.size === 0) partitions?.delete(partition);
  }
}

/** Returns a name that is unique among the actors of a partition. */
function toName({ kind, id }: Address): string {
  return `${kind}\0${id}`;
}
