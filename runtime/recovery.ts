import { effectSpace, GLOBAL_PARTITION, metaSpace } from "../storage/keys.js";
import { listKeys } from "../storage/list-keys.js";
import { nextPartition } from "../storage/partitions.js";
import { type Change, isDamage, type Key, type Writing } from "../storage/store.js";
import { address } from "./address.js";
import { cellName } from "./cell-record.js";
import type { Cells } from "./cells.js";
import type { Clock } from "./clock.js";
import type { DamageLog } from "./damage-log.js";
import type { Effects } from "./effects.js";
import { type EffectRow, toPendingEffect } from "./pending-effect.js";
import { nextReceiver } from "./undelivered.js";

/** There between a stop and the next start, so that a process knows whether the one before it was killed. */
const STOPPED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "stopped"];
/** The last change of a process that stops. Without it, the next one takes it for killed, and tells effects so. */
export const stoppedMark: Change = { op: "put", key: STOPPED_KEY, value: true };

/** Rows examined in one step. */
const SLICE = 128;

interface RecoveryParts {
  readonly clock: Clock;
  readonly damage: DamageLog;
}

/**
 * Finds the undelivered messages and pending effects of earlier processes, in bounded steps while the runtime already
 * serves. Wake-ups need no search: their rows are in due order. Damaged rows are reported and left out; where the store
 * cannot be walked at all, the search goes on behind.
 */
export class Recovery {
  readonly #reading: Writing;
  readonly #wasStopped: boolean;
  readonly #cells: Cells;
  readonly #effects: Effects;
  readonly #clock: Clock;
  readonly #damage: DamageLog;
  /** The partition being searched; empty, which sorts before all, until the first one. */
  #partition = "";
  #receiver: { readonly kind: string; readonly id: string } | null = null;
  #effect: Key | null = null;
  #stage: "partition" | "undelivered" | "effects" | "over" = "partition";

  /** `reading` has to see unflushed changes too. The first batch removes the mark of the process before. */
  constructor(reading: Writing, cells: Cells, effects: Effects, { clock, damage }: RecoveryParts) {
    this.#clock = clock;
    this.#reading = reading;
    this.#wasStopped = listKeys(reading, { prefix: STOPPED_KEY }).length > 0;
    if (this.#wasStopped) reading.remove(STOPPED_KEY);
    this.#cells = cells;
    this.#effects = effects;
    this.#damage = damage;
  }

  get over(): boolean {
    return this.#stage === "over";
  }

  /** Searches one slice. */
  step(): void {
    try {
      for (let examined = 0; examined < SLICE && this.#stage !== "over"; examined++) {
        if (this.#stage === "partition") this.#nextPartition();
        else if (this.#stage === "undelivered") this.#nextReceiver();
        else examined += this.#nextEffects();
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#skipStage();
    }
  }

  /** Gives up the rows of a stage that cannot be walked. Without its partitions, the search ends incomplete. */
  #skipStage(): void {
    this.#damage.report([this.#partition, this.#stage]);
    if (this.#stage === "partition") this.#stage = "over";
    else this.#stage = this.#stage === "undelivered" ? "effects" : "partition";
  }

  #nextPartition(): void {
    const partition = nextPartition(this.#reading, this.#partition);
    if (partition === undefined) {
      this.#stage = "over";
      this.#cells.mayHaveUndelivered = false;
      this.#effects.knowsAll = true;
      return;
    }
    this.#partition = partition;
    this.#receiver = null;
    this.#effect = null;
    this.#stage = "undelivered";
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

  /** Registers a slice of pending effects and returns how many there were. */
  #nextEffects(): number {
    const partition = this.#partition;
    const prefix = [partition, effectSpace];
    const from = this.#effect === null ? {} : { after: this.#effect };
    const rows = this.#reading.range<EffectRow>({ prefix, ...from, limit: SLICE, onDamaged: (key) => this.#lose(key) });
    for (const row of rows) {
      this.#effect = row.key;
      const pending = toPendingEffect(row, this.#clock.now());
      if (this.#effects.find(pending.ownerName, pending.id) !== undefined) continue;
      // Rows without a time are of earlier releases, which left no mark.
      pending.mayHaveBegun = !this.#wasStopped && row.value.atMs !== undefined;
      this.#effects.register(pending);
      this.#effects.enqueue(pending);
    }
    if (rows.length < SLICE) this.#stage = "partition";
    return rows.length;
  }

  /** Leaves out a damaged effect, whose row may hold its actor's record as well. */
  #lose(key: Key): void {
    const [partition, , kind, id] = key.map(String);
    this.#effects.loseOf(cellName(address(partition ?? "", kind ?? "", id ?? "")));
  }
}
