import { compareKeys } from "../../storage/key-order.js";
import { rowSpace } from "../../storage/keys.js";
import type { Change, Entry, Key, KeyPart, Range, Reading, Writing } from "../../storage/store.js";
import { freeze } from "../cells/freeze.js";
import { type CoveringReading, coveredVersion, covers } from "../rows/covered-reading.js";
import type { Origin, RowMemory } from "../rows/row-memory.js";
import { keyName, Overlay } from "./overlay.js";

/** Maximum number of durable rows to cache between two flushes. */
const MAX_READ = 256;

/** A write of the current turn, and the earlier change of the same key in the open batch. */
interface Written {
  readonly change: Change;
  readonly before: Change | undefined;
}

/** The writes of a turn. The latest ones can be undone. */
export interface UndoableWriting extends Writing {
  /** Number of writes in the turn so far. */
  readonly writes: number;
  /** Undoes all writes of the turn after the first `writes`. */
  undoTo(writes: number): void;
}

/**
 * The rows that turns read and write: the durable state, overlaid with the batch being committed and the open batch.
 *
 * 1. Reads see all three. Writes go to the open batch.
 * 2. The writes of a turn are kept or discarded as a whole.
 * 3. At most one batch is being committed.
 * 4. While one of the two batches changes covered rows of a partition, the partition has no version.
 * 5. Some durable rows are cached. The cache is emptied after each flush and when another node's batch is applied,
 *   because nothing else changes durable rows. Bodies are not cached.
 */
export class Overlays implements UndoableWriting, CoveringReading, RowMemory {
  readonly #durable: Reading;
  readonly #freezes: boolean;
  /** The durable rows read so far. A missing row is stored as a removal. */
  #read = new Overlay();
  #committing = new Overlay();
  #open = new Overlay();
  /** Partitions whose covered rows are changed by the open batch, or were changed by a discarded turn of that batch. */
  #openCovered = new Set<KeyPart | undefined>();
  /** The writes of the current turn, in order; null between turns. */
  #turn: Written[] | null = null;

  constructor(durable: Reading, { freezes = false }: { readonly freezes?: boolean } = {}) {
    this.#durable = durable;
    this.#freezes = freezes;
  }

  applied(_changes: readonly Change[], origin: Origin): void {
    if (origin === "elsewhere") this.#read = new Overlay();
  }

  beginTurn(): void {
    this.#turn = [];
  }

  keepTurn(): void {
    this.#turn = null;
  }

  /** Undoes all writes of the turn. */
  discardTurn(): void {
    this.undoTo(0);
    this.#turn = null;
  }

  get writes(): number {
    return this.#turn?.length ?? 0;
  }

  undoTo(writes: number): void {
    for (const { change, before } of this.#turn?.splice(writes).reverse() ?? []) {
      if (before === undefined) this.#open.unset(change);
      else this.#open.set(before);
    }
  }

  /** Number of rows that the open batch changes. */
  get openRows(): number {
    return this.#open.size;
  }

  /** Whether the open batch has no changes. */
  get isEmpty(): boolean {
    return this.#open.isEmpty;
  }

  /** Closes the open batch and returns its changes. They stay visible here until {@link flushed}. */
  close(): Overlay {
    this.#committing = this.#open;
    this.#open = new Overlay();
    if (this.#openCovered.size > 0) this.#openCovered = new Set();
    return this.#committing;
  }

  /**
   * Drops the closed batch and the cached rows, because the batch is now part of the durable state. Call this when that
   * batch is durable.
   */
  flushed(): void {
    this.#committing = new Overlay();
    this.#read = new Overlay();
  }

  get<Value = unknown>(key: Key): Value | undefined {
    const change = this.#open.get(key) ?? this.#committing.get(key);
    return change === undefined ? this.#getDurable<Value>(key) : toValue<Value>(change);
  }

  #getDurable<Value>(key: Key): Value | undefined {
    if (key[1] !== rowSpace) return this.#durable.get<Value>(key);
    const known = this.#read.get(key);
    if (known !== undefined) return toValue<Value>(known);
    const value = this.#durable.get<Value>(key);
    if (ArrayBuffer.isView(value)) return value;
    if (this.#freezes) freeze(value);
    if (this.#read.size >= MAX_READ) this.#read = new Overlay();
    this.#read.set(value === undefined ? { op: "remove", key } : { op: "put", key, value });
    return value;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    const mayChange = this.#committing.mayHoldBelow(range.prefix) || this.#open.mayHoldBelow(range.prefix);
    if (!mayChange) return this.#durable.range<Value>(range);
    const changed = new Map<string, Change>();
    for (const overlay of [this.#committing, this.#open]) collect(overlay, range, changed);
    if (changed.size === 0) return this.#durable.range<Value>(range);
    const { limit, onDamaged } = range;
    let removed = 0;
    for (const { op } of changed.values()) if (op === "remove") removed += 1;
    const wider: Range = {
      ...range,
      // The filter below drops all changed entries, and the loop after it adds those that were put. So read one more
      // entry for each removed one.
      limit: limit === undefined ? undefined : limit + removed,
      onDamaged: onDamaged && ((key) => changed.has(fullKeyName(key)) || onDamaged(key)),
    };
    const entries = this.#durable.range<Value>(wider).filter((entry) => !changed.has(fullKeyName(entry.key)));
    for (const change of changed.values()) {
      if (change.op === "put") entries.push({ key: change.key, value: change.value as Value });
    }
    const direction = range.reverse === true ? -1 : 1;
    entries.sort((a, b) => direction * compareKeys(a.key, b.key));
    return limit === undefined ? entries : entries.slice(0, limit);
  }

  put(key: Key, value: unknown): void {
    this.#write({ op: "put", key, value });
  }

  remove(key: Key): void {
    this.#write({ op: "remove", key });
  }

  covers(key: Key): boolean {
    return covers(this.#durable, key);
  }

  /**
   * Returns null if a turn of the open batch has written covered rows of the partition. Otherwise returns the version
   * of the durable reading, which considers the batch being committed.
   */
  coveredVersion(partition: string): number | null {
    return this.#openCovered.has(partition) ? null : coveredVersion(this.#durable, partition);
  }

  #write(change: Change): void {
    if (this.covers(change.key)) this.#openCovered.add(change.key[0]);
    const before = this.#open.set(change);
    this.#turn?.push({ change, before });
  }
}

function toValue<Value>(change: Change): Value | undefined {
  return change.op === "put" ? (change.value as Value) : undefined;
}

/** Adds the changes of an overlay within the range to `into`. */
function collect(overlay: Overlay, range: Range, into: Map<string, Change>): void {
  for (const group of overlay.groupsBelow(range.prefix)) {
    for (const change of group.values()) if (isInRange(change.key, range)) into.set(fullKeyName(change.key), change);
  }
}

function isInRange(key: Key, { prefix, after, before }: Range): boolean {
  if (key.length <= prefix.length || !startsWith(key, prefix)) return false;
  if (
    after !== undefined &&
    (compareKeys(key, after) <= 0 || (after.length > prefix.length && startsWith(key, after)))
  ) {
    return false;
  }
  return before === undefined || compareKeys(key, before) < 0;
}

function startsWith(key: Key, prefix: Key): boolean {
  for (let index = 0; index < prefix.length; index++) if (key[index] !== prefix[index]) return false;
  return true;
}

/** Returns a name that is unique among all keys, unlike {@link keyName}. */
function fullKeyName(key: Key): string {
  return `${key[0]}\0${key[1]}\0${key[2]}\0${keyName(key)}`;
}
