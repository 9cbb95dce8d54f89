import { effectSpace, GLOBAL_PARTITION, metaSpace } from "../storage/keys.js";
import { nextPartition } from "../storage/partitions.js";
import { type Change, isDamage, type Key, type Reading, type Writing } from "../storage/store.js";
import { address } from "./address.js";
import { cellName } from "./cell-record.js";
import type { Cells } from "./cells.js";
import type { Clock } from "./clock.js";
import type { DamageLog } from "./damage-log.js";
import type { Effects } from "./effects.js";
import { begunKey, type EffectRow, type PendingEffect, pendingName, toPendingEffect } from "./pending-effect.js";
import type { Origin, RowMemory } from "./row-memory.js";
import { nextReceiver } from "./undelivered.js";

/** There between a stop and the next start. Without it, the process before was killed. */
const STOPPED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "stopped"];
/** What a process that stops says of what it leaves to the next. Earlier releases said no more than `true`. */
interface StoppedMark {
  /** The partitions that have undelivered messages or pending effects; null where they are not known, or too many. */
  readonly left: readonly string[] | null;
  /**
   * The names of the effects without marks that may have been begun; true where they are not known, or too many, false for
   * none.
   */
  readonly begun: boolean | readonly string[];
}

/** Most partitions that the mark names, and most effects. */
const MAX_NAMED = 1_000;

/** Rows examined in one step. */
const SLICE = 128;

/** The change that has the next process search one more partition, in a store that none uses; none where it does. */
export function markLeft(reading: Reading, partition: string): Change[] {
  const { left = null, begun = true } = readMark(reading) ?? {};
  return left === null || left.includes(partition) ? [] : [toChange({ left: [...left, partition].sort(), begun })];
}

function toChange({ left, begun }: StoppedMark): Change {
  const mark: StoppedMark = {
    left: left !== null && left.length > MAX_NAMED ? null : left,
    begun: typeof begun === "boolean" || begun.length <= MAX_NAMED ? begun : true,
  };
  return { op: "put", key: STOPPED_KEY, value: mark };
}

/** The mark; null for none. A damaged one says nothing of what is left. */
function readMark(reading: Reading): StoppedMark | null {
  try {
    const mark = reading.get<StoppedMark | true>(STOPPED_KEY);
    if (mark === undefined) return null;
    return mark === true ? unknownLeft : mark;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return unknownLeft;
  }
}

const unknownLeft: StoppedMark = { left: null, begun: true };

interface RecoveryParts {
  readonly clock: Clock;
  readonly damage: DamageLog;
  /** Whether nothing of earlier processes is continued: their mark stays for the next process. */
  readonly rests: boolean;
}

/**
 * Finds the undelivered messages and pending effects of earlier processes, in bounded steps while the runtime already
 * serves: in the partitions that the process before named when it stopped, else in all. It begins when the mark of that
 * process is gone from the store. Wake-ups need no search: their rows are in due order. Damaged rows are reported and left
 * out; where the store cannot be walked at all, the search goes on behind.
 */
export class Recovery implements RowMemory {
  readonly #reading: Writing;
  readonly #rests: boolean;
  /** The names of what an earlier process may have begun, of effects without marks; true for all that is pending. */
  readonly #begun: ReadonlySet<string> | true;
  readonly #cells: Cells;
  readonly #effects: Effects;
  readonly #clock: Clock;
  readonly #damage: DamageLog;
  /** The partitions to search, if not all; those that are left of them. */
  readonly #named: string[] | null;
  /** The partition being searched; empty, which sorts before all, until the first one. */
  #partition = "";
  /** Whether the store may still have the mark. */
  #isMarked: boolean;
  /** Nothing was passed over because it is damaged. */
  #isWhole = true;
  #receiver: { readonly kind: string; readonly id: string } | null = null;
  #effect: Key | null = null;
  #stage: "partition" | "undelivered" | "effects" | "over" = "partition";

  /** `reading` has to see unflushed changes too. The first batch removes the mark of the process before. */
  constructor(reading: Writing, cells: Cells, effects: Effects, { clock, damage, rests }: RecoveryParts) {
    this.#clock = clock;
    this.#rests = rests;
    this.#reading = reading;
    const mark = readMark(reading);
    this.#isMarked = mark !== null;
    if (mark !== null && !rests) reading.remove(STOPPED_KEY);
    if (rests) cells.mayHaveUndelivered = false;
    const { begun } = mark ?? unknownLeft;
    this.#begun = begun === true || new Set(begun === false ? [] : begun);
    this.#named = mark?.left?.slice() ?? null;
    this.#cells = cells;
    this.#effects = effects;
    this.#damage = damage;
  }

  get over(): boolean {
    return this.#stage === "over";
  }

  /** Something is left to search, and may begin: while the mark is there, the next process would take it for new. */
  get mayStep(): boolean {
    return !this.#rests && !this.over && !this.#isMarked;
  }

  /** Has the next process search one more partition: this one rests, and takes messages there. */
  leave(partition: string): void {
    for (const change of markLeft(this.#reading, partition)) {
      if (change.op === "put") this.#reading.put(change.key, change.value);
    }
  }

  /** The first batch of this process removes the mark. */
  applied(_changes: readonly Change[], origin: Origin): void {
    if (origin === "here") this.#isMarked = false;
  }

  /** The last change of a process that stops. */
  stoppedMark(): Change {
    const begun = new Set(this.#effects.begun());
    if (!this.over || !this.#isWhole) {
      return toChange({ left: null, begun: this.#begun === true || [...new Set([...begun, ...this.#begun])] });
    }
    const left = new Set(this.#effects.partitions());
    for (const cell of this.#cells.all()) if (!cell.isIdle) left.add(cell.to.partition);
    return toChange({ left: [...left].sort(), begun: [...begun] });
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
    this.#isWhole = false;
    this.#damage.report([this.#partition, this.#stage]);
    if (this.#stage === "partition") this.#stage = "over";
    else this.#stage = this.#stage === "undelivered" ? "effects" : "partition";
  }

  #nextPartition(): void {
    const partition = this.#named === null ? nextPartition(this.#reading, this.#partition) : this.#named.shift();
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
      pending.isMarked = this.#isMarkedBegun(pending);
      // A row of an earlier release has a mark as well, where a run of this one began.
      pending.mayHaveBegun = pending.isMarked || (row.value.marks !== true && this.#mayHaveBegun(row.value, pending));
      this.#effects.register(pending);
      this.#effects.enqueue(pending);
    }
    if (rows.length < SLICE) this.#stage = "partition";
    return rows.length;
  }

  /** A mark that cannot be read counts as one. */
  #isMarkedBegun({ owner, id }: PendingEffect): boolean {
    try {
      return this.#reading.get(begunKey(owner, id)) !== undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return true;
    }
  }

  /** Of an effect without marks. Rows without a time are of earlier releases, which left no list of what was begun. */
  #mayHaveBegun({ atMs }: EffectRow, pending: PendingEffect): boolean {
    return atMs !== undefined && (this.#begun === true || this.#begun.has(pendingName(pending)));
  }

  /** Leaves out a damaged effect, whose row may hold its actor's record as well. */
  #lose(key: Key): void {
    this.#isWhole = false;
    const [partition, , kind, id] = key.map(String);
    this.#effects.loseOf(cellName(address(partition ?? "", kind ?? "", id ?? "")));
  }
}
