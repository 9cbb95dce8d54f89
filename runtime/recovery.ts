import { effectSpace } from "../storage/keys.js";
import type { Key, Reading } from "../storage/store.js";
import { address } from "./address.js";
import type { Cells } from "./cells.js";
import type { Effects } from "./effects.js";
import { type EffectRow, toPendingEffect } from "./pending-effect.js";
import { nextReceiver } from "./undelivered.js";

/** Rows looked at in one step. */
const SLICE = 128;

/**
 * Finds what an earlier process left undone, in bounded steps while the runtime serves already: mail that was not
 * delivered and effects whose result was not taken. Wake-ups need no search: their rows are in due order.
 */
export class Recovery {
  readonly #reading: Reading;
  readonly #cells: Cells;
  readonly #effects: Effects;
  /** The partition searched now; before the first one, the text that sorts before all. */
  #partition = "";
  #receiver: { readonly kind: string; readonly id: string } | null = null;
  #effect: Key | null = null;
  #stage: "partition" | "mail" | "effects" | "over" = "partition";

  /** `reading` sees what is not flushed yet too. */
  constructor(reading: Reading, cells: Cells, effects: Effects) {
    this.#reading = reading;
    this.#cells = cells;
    this.#effects = effects;
  }

  get over(): boolean {
    return this.#stage === "over";
  }

  /** Does a slice of the search. */
  step(): void {
    for (let looks = 0; looks < SLICE && this.#stage !== "over"; looks++) {
      if (this.#stage === "partition") this.#nextPartition();
      else if (this.#stage === "mail") this.#nextReceiver();
      else looks += this.#nextEffects();
    }
  }

  #nextPartition(): void {
    const [row] = this.#reading.range({ prefix: [], after: [this.#partition], limit: 1 });
    if (row === undefined) {
      this.#stage = "over";
      this.#cells.mayHaveUndelivered = false;
      this.#effects.knowsAll = true;
      return;
    }
    this.#partition = String(row.key[0]);
    this.#receiver = null;
    this.#effect = null;
    this.#stage = "mail";
  }

  #nextReceiver(): void {
    const partition = this.#partition;
    const receiver = nextReceiver(this.#reading, partition, this.#receiver);
    if (receiver === undefined) {
      this.#stage = "effects";
      return;
    }
    this.#receiver = receiver;
    this.#cells.enqueue(this.#cells.activate(address(partition, receiver.kind, receiver.id)));
  }

  /** The number of effects found. */
  #nextEffects(): number {
    const partition = this.#partition;
    const prefix = [partition, effectSpace];
    const from = this.#effect === null ? {} : { after: this.#effect };
    const rows = this.#reading.range<EffectRow>({ prefix, ...from, limit: SLICE });
    for (const row of rows) {
      this.#effect = row.key;
      const pending = toPendingEffect(row);
      if (this.#effects.find(pending.ownerName, pending.id) !== undefined) continue;
      this.#effects.register(pending);
      this.#effects.enqueue(pending);
    }
    if (rows.length < SLICE) this.#stage = "partition";
    return rows.length;
  }
}
