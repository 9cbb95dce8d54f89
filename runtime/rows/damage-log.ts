import { type Entry, isDamage, type Key, type Range, type Reading, type View } from "../../storage/store.js";
import type { RuntimeLog } from "../runtime.js";

/** Maximum number of damaged rows that are logged and counted individually. The doctor finds all damaged rows. */
const MAX_REPORTED = 1_000;
/** Matches ids that this product creates. Such an id reveals nothing to a reader without access to the store. */
const SHOWN = /^([a-z]+_[0-9A-Z]{26}|~)$/;

/** Logs each damaged row once, when a read finds it. The rows stay in the store. */
export class DamageLog {
  readonly #log: RuntimeLog;
  readonly #reported = new Set<string>();

  constructor(log: RuntimeLog) {
    this.#log = log;
  }

  /** Number of damaged rows found so far, up to {@link MAX_REPORTED}. */
  get rows(): number {
    return this.#reported.size;
  }

  readonly report = (key: Key): void => {
    const name = key.join("\0");
    if (this.#reported.size >= MAX_REPORTED || this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#log.error("a row is damaged", { key: toShownKey(key) });
  };

  /** Reports the damaged or missing row that the error names. Ignores other errors. */
  met(error: unknown): void {
    if (isDamage(error) && error.key !== null) this.report(error.key);
  }

  /** Returns a reading over the same data that reports damaged rows. */
  watch(reading: Reading): Reading {
    return new WatchedReading(reading, this);
  }

  watchView(view: View): View {
    const watched = this.watch(view);
    return { get: (key) => watched.get(key), range: (range) => watched.range(range), close: () => view.close() };
  }
}

class WatchedReading implements Reading {
  readonly #reading: Reading;
  readonly #damage: DamageLog;

  constructor(reading: Reading, damage: DamageLog) {
    this.#reading = reading;
    this.#damage = damage;
  }

  get<Value>(key: Key): Value | undefined {
    try {
      return this.#reading.get<Value>(key);
    } catch (error) {
      throw this.#reported(error);
    }
  }

  range<Value>(range: Range): Entry<Value>[] {
    const { onDamaged } = range;
    try {
      if (onDamaged === undefined) return this.#reading.range<Value>(range);
      const onLost = (key: Key): void => {
        this.#damage.report(key);
        onDamaged(key);
      };
      return this.#reading.range<Value>({ ...range, onDamaged: onLost });
    } catch (error) {
      throw this.#reported(error);
    }
  }

  #reported(error: unknown): unknown {
    this.#damage.met(error);
    return error;
  }
}

/** Returns the parts of a key that cannot be secret: partition, space, table or kind, numbers and ids. */
export function toShownKey([partition = "", ...parts]: Key): string {
  const show = (part: string | number): string => (typeof part === "number" || SHOWN.test(part) ? `${part}` : "…");
  return [partition, ...parts.map((part, index) => (index < 2 ? `${part}` : show(part)))].join(" ");
}
