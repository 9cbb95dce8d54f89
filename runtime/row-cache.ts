import { rowSpace } from "../storage/keys.js";
import type { Entry, Key, Range, Reading } from "../storage/store.js";
import { freeze } from "./freeze.js";
import { type Layer, nameOf } from "./layer.js";

/** Rows held; past it the one that was held first goes. */
const ROWS_HELD = 2_048;
/** Ranges held of one table of a partition, and tables whose ranges are held; past it all go. */
const RANGES_HELD = 256;
/** A row or range heavier than this is read from the store each time: characters of its texts, and some for each part. */
const WEIGHT_HELD = 16_384;
const PART_WEIGHT = 16;

/**
 * The durable state, with light rows of some tables held in memory as they were read or written, so that reading them
 * again decodes nothing. Owns what it holds; whoever commits tells it what has become durable.
 *
 * 1. It gives what the reading under it gives: what a batch under way writes may be durable already or not yet, so it
 *    is asked there.
 * 2. It holds a bounded number of rows and ranges of bounded weight, and only of the tables that were named.
 */
export class RowCache implements Reading {
  readonly #durable: Reading;
  readonly #tables: ReadonlySet<unknown>;
  readonly #rows = new Map<string, unknown>();
  /** By table of a partition, then by prefix. */
  readonly #ranges = new Map<string, Map<string, readonly Entry[]>>();

  readonly #freezes: boolean;
  #underWay: Layer | null = null;

  constructor(durable: Reading, options: { readonly tables: readonly string[]; readonly freezes: boolean }) {
    this.#durable = durable;
    this.#tables = new Set(options.tables);
    this.#freezes = options.freezes;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    if (!this.#covers(key) || this.#underWay?.get(key) !== undefined) return this.#durable.get<Value>(key);
    const name = rowName(key);
    const held = this.#rows.get(name);
    if (held !== undefined) return held as Value;
    const value = this.#durable.get<Value>(key);
    if (value !== undefined) this.#hold(name, value);
    return value;
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    if (!this.#covers(range.prefix) || !isWhole(range) || this.#isMoving(range.prefix)) {
      return this.#durable.range<Value>(range);
    }
    const name = rowName(range.prefix);
    const table = tableName(range.prefix);
    const held = this.#ranges.get(table)?.get(name);
    if (held !== undefined) return [...held] as Entry<Value>[];
    const entries = this.#durable.range<Value>(range);
    if (isLight(entries)) this.#holdRange(table, name, entries);
    return [...entries];
  }

  /** A batch is being committed. */
  committing(batch: Layer): void {
    this.#underWay = batch;
  }

  /** Takes over what the batch wrote, now that it is durable. */
  flushed(): void {
    const batch = this.#underWay;
    this.#underWay = null;
    if (batch === null) return;
    for (const table of this.#tables) {
      for (const group of batch.groupsOf(String(table))) {
        for (const change of group.values()) {
          const name = rowName(change.key);
          this.#ranges.delete(tableName(change.key));
          this.#rows.delete(name);
          if (change.op === "put") this.#hold(name, change.value);
        }
      }
    }
  }

  #covers(key: Key): boolean {
    return key[1] === rowSpace && this.#tables.has(key[2]);
  }

  /** The batch under way writes to the table. */
  #isMoving([partition = "", space = "", table = ""]: Key): boolean {
    for (const group of this.#underWay?.groupsBelow([partition, space, table]) ?? []) if (group.size > 0) return true;
    return false;
  }

  #hold(name: string, value: unknown): void {
    if (!isLight(value)) return;
    if (this.#freezes) freeze(value);
    if (this.#rows.size >= ROWS_HELD) {
      for (const first of this.#rows.keys()) {
        this.#rows.delete(first);
        break;
      }
    }
    this.#rows.set(name, value);
  }

  #holdRange(table: string, name: string, entries: readonly Entry[]): void {
    if (this.#ranges.size >= RANGES_HELD) this.#ranges.clear();
    const ranges = this.#ranges.get(table);
    if (ranges === undefined || ranges.size >= RANGES_HELD) this.#ranges.set(table, new Map([[name, entries]]));
    else ranges.set(name, entries);
  }
}

/** Every entry below the prefix, in order. */
function isWhole({ after, before, limit, reverse }: Range): boolean {
  return after === undefined && before === undefined && limit === undefined && reverse !== true;
}

function tableName(key: Key): string {
  return `${key[0]}\0${key[2]}`;
}

function rowName(key: Key): string {
  return `${key[0]}\0${key[2]}\0${nameOf(key)}`;
}

/** Whether what is held in memory for the value stays small. */
function isLight(value: unknown): boolean {
  return weighed(value, WEIGHT_HELD) >= 0;
}

/** What is left of an allowance after the value; below 0 when it is too heavy, looked at no further. */
function weighed(value: unknown, allowance: number): number {
  if (typeof value === "string") return allowance - PART_WEIGHT - value.length;
  if (ArrayBuffer.isView(value)) return allowance - PART_WEIGHT - value.byteLength;
  let left = allowance - PART_WEIGHT;
  if (typeof value !== "object" || value === null) return left;
  for (const name in value) {
    if (left < 0) break;
    left = weighed(value[name as keyof typeof value], left);
  }
  return left;
}
