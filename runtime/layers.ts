import { compareKeys } from "../storage/key-order.js";
import type { Change, Entry, Key, Range, Reading, Writing } from "../storage/store.js";

/** Changes of one layer by the space they lie in, then by key, the latest of each. */
type Layer = Map<string, Map<string, Change>>;

/**
 * What turns read and write: the durable state with the batch under way, the open batch and the current turn over it.
 *
 * 1. Reads see every layer; writes go to the turn while there is one, else to the open batch.
 * 2. A turn's writes join the open batch together or vanish together.
 * 3. There is one batch under way at most.
 */
export class Layers implements Writing {
  readonly #durable: Reading;
  #underWay: Layer | null = null;
  #open: Layer = new Map();
  #turn: Layer = new Map();
  #inTurn = false;

  constructor(durable: Reading) {
    this.#durable = durable;
  }

  beginTurn(): void {
    this.#inTurn = true;
  }

  /** Keeps what the turn wrote. */
  keepTurn(): void {
    this.#inTurn = false;
    if (this.#turn.size === 0) return;
    for (const [space, changes] of this.#turn) {
      const target = this.#open.get(space);
      if (target === undefined) this.#open.set(space, changes);
      else for (const [name, change] of changes) target.set(name, change);
    }
    this.#turn = new Map();
  }

  /** Throws away what the turn wrote. */
  dropTurn(): void {
    this.#inTurn = false;
    if (this.#turn.size > 0) this.#turn = new Map();
  }

  /** The open batch writes nothing so far. */
  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Closes the open batch: its changes, which stay visible here until {@link flushed}. */
  close(): Change[] {
    const changes: Change[] = [];
    for (const space of this.#open.values()) for (const change of space.values()) changes.push(change);
    this.#underWay = this.#open;
    this.#open = new Map();
    return changes;
  }

  /** The batch under way is durable. */
  flushed(): void {
    this.#underWay = null;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    const space = spaceOf(key);
    const name = nameOf(key);
    const change =
      this.#turn.get(space)?.get(name) ?? this.#open.get(space)?.get(name) ?? this.#underWay?.get(space)?.get(name);
    if (change === undefined) return this.#durable.get<Value>(key);
    return change.op === "put" ? (change.value as Value) : undefined;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    const laid = new Map<string, Change>();
    for (const layer of [this.#underWay, this.#open, this.#turn]) if (layer !== null) collect(layer, range, laid);
    if (laid.size === 0) return this.#durable.range<Value>(range);
    const wider = range.limit === undefined ? range : { ...range, limit: range.limit + laid.size };
    const entries = this.#durable.range<Value>(wider).filter((entry) => !laid.has(nameOf(entry.key)));
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
    const layer = this.#inTurn ? this.#turn : this.#open;
    const space = spaceOf(change.key);
    const changes = layer.get(space);
    if (changes === undefined) layer.set(space, new Map([[nameOf(change.key), change]]));
    else changes.set(nameOf(change.key), change);
  }
}

/** Adds the changes of a layer that lie in the range. */
function collect(layer: Layer, range: Range, into: Map<string, Change>): void {
  if (layer.size === 0) return;
  if (range.prefix.length >= 2) {
    const changes = layer.get(spaceOf(range.prefix));
    if (changes !== undefined) collectSpace(changes, range, into);
  } else {
    for (const changes of layer.values()) collectSpace(changes, range, into);
  }
}

function collectSpace(changes: Map<string, Change>, range: Range, into: Map<string, Change>): void {
  for (const [name, change] of changes) if (lies(change.key, range)) into.set(name, change);
}

function lies(key: Key, { prefix, after, before }: Range): boolean {
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

/** Partition and space; every range that names both lies in one. */
function spaceOf(key: Key): string {
  return `${key[0]}\0${key[1]}`;
}

function nameOf(key: Key): string {
  let name = "";
  for (const part of key) name += typeof part === "number" ? `\u0001${part}\0` : `${part}\0`;
  return name;
}
