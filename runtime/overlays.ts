import { compareKeys } from "../storage/key-order.js";
import type { Change, Entry, Key, Range, Reading, Writing } from "../storage/store.js";
import { keyName, Overlay } from "./overlay.js";

/** A write of the turn, and what stood in the open batch before it. */
interface Written {
  readonly change: Change;
  readonly before: Change | undefined;
}

/**
 * What turns read and write: the durable state with the batch under way and the open batch over it.
 *
 * 1. Reads see every layer; writes go to the open batch.
 * 2. A turn's writes join the open batch together or are taken back together.
 * 3. There is one batch under way at most.
 */
export class Overlays implements Writing {
  readonly #durable: Reading;
  #underWay = new Overlay();
  #open = new Overlay();
  /** What the turn wrote, in order; null between turns. */
  #turn: Written[] | null = null;

  constructor(durable: Reading) {
    this.#durable = durable;
  }

  beginTurn(): void {
    this.#turn = [];
  }

  /** Keeps what the turn wrote. */
  keepTurn(): void {
    this.#turn = null;
  }

  /** Takes back what the turn wrote. */
  discardTurn(): void {
    const written = this.#turn ?? [];
    this.#turn = null;
    for (const { change, before } of written.reverse()) {
      if (before === undefined) this.#open.unset(change);
      else this.#open.set(before);
    }
  }

  /** The open batch writes nothing so far. */
  get isEmpty(): boolean {
    return this.#open.isEmpty;
  }

  /** Closes the open batch: what it writes, which stays visible here until {@link flushed}. */
  close(): Overlay {
    this.#underWay = this.#open;
    this.#open = new Overlay();
    return this.#underWay;
  }

  /** The batch under way is durable. */
  flushed(): void {
    this.#underWay = new Overlay();
  }

  get<Value = unknown>(key: Key): Value | undefined {
    const change = this.#open.get(key) ?? this.#underWay.get(key);
    if (change === undefined) return this.#durable.get<Value>(key);
    return change.op === "put" ? (change.value as Value) : undefined;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    const isLaid = this.#underWay.mayHoldBelow(range.prefix) || this.#open.mayHoldBelow(range.prefix);
    if (!isLaid) return this.#durable.range<Value>(range);
    const laid = new Map<string, Change>();
    for (const layer of [this.#underWay, this.#open]) collect(layer, range, laid);
    if (laid.size === 0) return this.#durable.range<Value>(range);
    const wider = range.limit === undefined ? range : { ...range, limit: range.limit + laid.size };
    const entries = this.#durable.range<Value>(wider).filter((entry) => !laid.has(fullKeyName(entry.key)));
    for (const change of laid.values()) {
      if (change.op === "put") entries.push({ key: change.key, value: change.value as Value });
    }
    const direction = range.reverse === true ? -1 : 1;
    entries.sort((a, b) => direction * compareKeys(a.key, b.key));
    return range.limit === undefined ? entries : entries.slice(0, range.limit);
  }

  put(key: Key, value: unknown): void {
    this.#write({ op: "put", key, value });
  }

  remove(key: Key): void {
    this.#write({ op: "remove", key });
  }

  #write(change: Change): void {
    const before = this.#open.set(change);
    this.#turn?.push({ change, before });
  }
}

/** Adds the changes of a layer that lie in the range. */
function collect(layer: Overlay, range: Range, into: Map<string, Change>): void {
  for (const group of layer.groupsBelow(range.prefix)) {
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

/** Different for every key. */
function fullKeyName(key: Key): string {
  return `${key[0]}\0${key[1]}\0${key[2]}\0${keyName(key)}`;
}
