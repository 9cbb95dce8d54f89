import type { Key } from "../storage/store.js";
import { placeOf } from "../storage/store-errors.js";
import type { RuntimeLog } from "./runtime.js";

/** Rows reported one by one; further ones are only found by the doctor. */
const MAX_REPORTED = 1_000;

/** Reports damaged rows that the runtime leaves out, each once. They stay in the store. */
export class DamageLog {
  readonly #log: RuntimeLog;
  readonly #reported = new Set<string>();

  constructor(log: RuntimeLog) {
    this.#log = log;
  }

  readonly report = (key: Key): void => {
    const name = key.join("\0");
    if (this.#reported.size >= MAX_REPORTED || this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#log.error("a damaged row was left out", { place: placeOf(key) });
  };
}
