import { effectSpace, GLOBAL_PARTITION, metaSpace } from "../storage/keys.js";
import { nextPartition } from "../storage/partitions.js";
import { type Change, isDamage, type Key, type Reading, type Writing } from "../storage/store.js";
import { address } from "./cells/address.js";
import { cellName } from "./cells/cell-record.js";
import type { Cells } from "./cells/cells.js";
import type { Clock } from "./clock.js";
import type { Effects } from "./effects/effects.js";
import {
  type EffectRow,
  type PendingEffect,
  pendingName,
  startedKey,
  toPendingEffect,
} from "./effects/pending-effect.js";
import { nextReceiver } from "./messages/undelivered.js";
import type { DamageLog } from "./rows/damage-log.js";
import type { Origin, RowMemory } from "./rows/row-memory.js";

/**
 * The key of the mark that exists between a stop and the next start. If the mark is missing at a start, the earlier
 * process was killed, or the store is new.
 */
const STOPPED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "stopped"];
/** The information that a stopping process leaves for the next process. Earlier releases stored only `true`. */
interface StoppedMark {
  /** The partitions with undelivered messages or pending effects; null if they are unknown or too many. */
  readonly left: readonly string[] | null;
  /**
   * Names of effects that may have begun and have no mark (`begin-marks.ts`). True if these effects are unknown or too
   * many to list; false if there are none.
   */
  readonly begun: boolean | readonly string[];
}

/** Maximum number of partitions, and maximum number of effects, that the stop mark names. */
const MAX_NAMED = 1_000;

/** Number of rows to examine in one step. */
const SLICE = 128;

/**
 * Returns the change that makes the next process search this partition, too. Returns no change if that process will
 * search it anyway. Call it only while nobody else uses the store.
 */
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

/** Reads the stop mark; null if there is none. A damaged mark is read as a mark without details. */
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
  /**
   * Whether the runtime is resting. A resting runtime does not continue the work of earlier processes, and leaves the
   * last process's stop mark in the store for the next process.
   */
  readonly rests: boolean;
}

/**
 * Finds the undelivered messages and pending effects of earlier processes. It works in bounded steps, while the runtime
 * already serves requests.
 *
 * 1. It searches the partitions that the earlier process named when it stopped. If that process named none, it
 *   searches all partitions.
 * 2. It starts when the earlier process's stop mark is removed from the store.
 * 3. It does not search for wake-ups, because their rows are in due order.
 * 4. It reports and skips damaged rows. If a part of the store cannot be scanned at all, it continues after this
 *   part.
 */
export class Recovery implements RowMemory {
  readonly #reading: Writing;
  readonly #rests: boolean;
  /**
   * Names of the effects that an earlier process may have begun, out of those that have no mark. True if every pending
   * effect may have begun.
   */
  readonly #started: ReadonlySet<string> | true;
  readonly #cells: Cells;
  readonly #effects: Effects;
  readonly #clock: Clock;
  readonly #damage: DamageLog;
  /** The remaining partitions to search; null to search all. */
  readonly #named: string[] | null;
  /** The partition being searched; at first the empty string, which sorts before every name. */
  #partition = "";
  /** Whether the store may still contain the earlier process's stop mark (`STOPPED_KEY`). */
  #isMarked: boolean;
  /** False once damaged data was skipped. */
  #isWhole = true;
  #receiver: { readonly kind: string; readonly id: string } | null = null;
  #effect: Key | null = null;
  #stage: "partition" | "undelivered" | "effects" | "over" = "partition";

  /** `reading` must include unflushed changes. The first batch removes the mark of the earlier process. */
  constructor(reading: Writing, cells: Cells, effects: Effects, { clock, damage, rests }: RecoveryParts) {
    this.#clock = clock;
    this.#rests = rests;
    this.#reading = reading;
    const mark = readMark(reading);
    this.#isMarked = mark !== null;
    if (mark !== null && !rests) reading.remove(STOPPED_KEY);
    if (rests) cells.mayHaveUndelivered = false;
    const { begun } = mark ?? unknownLeft;
    this.#started = begun === true || new Set(begun === false ? [] : begun);
    this.#named = mark?.left?.slice() ?? null;
    this.#cells = cells;
    this.#effects = effects;
    this.#damage = damage;
  }

  get over(): boolean {
    return this.#stage === "over";
  }

  /**
   * Whether there is more to search and the search may run. While the earlier stop mark is in the store, the search
   * must not begin effects. If this process were killed then, the next process would read that mark, and assume that
   * these effects had not begun.
   */
  get mayStep(): boolean {
    return !this.#rests && !this.over && !this.#isMarked;
  }

  /**
   * Makes the next process search this partition, too. A resting runtime calls this before it takes a message for an
   * actor of the partition.
   */
  markForSearch(partition: string): void {
    for (const change of markLeft(this.#reading, partition)) {
      if (change.op === "put") this.#reading.put(change.key, change.value);
    }
  }

  /** Notes that the earlier stop mark is gone: the first batch of this process removes it. */
  applied(_changes: readonly Change[], origin: Origin): void {
    if (origin === "here") this.#isMarked = false;
  }

  /** Returns the change that writes the stop mark. A stopping process writes it as its last change. */
  stoppedMark(): Change {
    const begun = new Set(this.#effects.listStarted());
    if (!this.over || !this.#isWhole) {
      return toChange({ left: null, begun: this.#started === true || [...new Set([...begun, ...this.#started])] });
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

  /**
   * Skips the rest of the current stage, because it cannot be scanned. If that stage lists the partitions, the search
   * ends, although it is incomplete.
   */
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

  /** Registers a slice of pending effects and returns their number. */
  #nextEffects(): number {
    const partition = this.#partition;
    const prefix = [partition, effectSpace];
    const from = this.#effect === null ? {} : { after: this.#effect };
    const rows = this.#reading.range<EffectRow>({ prefix, ...from, limit: SLICE, onDamaged: (key) => this.#lose(key) });
    for (const row of rows) {
      this.#effect = row.key;
      const pending = toPendingEffect(row, this.#clock.now());
      if (this.#effects.find(pending.ownerName, pending.id) !== undefined) continue;
      pending.isMarked = this.#isMarkedStarted(pending);
      // A row of an earlier release may have a mark although it does not announce marks: this release writes one when
      // it begins the effect. So check for a mark first.
      pending.mayHaveBegun = pending.isMarked || (row.value.marks !== true && this.#mayHaveBegun(row.value, pending));
      this.#effects.register(pending);
      this.#effects.enqueue(pending);
    }
    if (rows.length < SLICE) this.#stage = "partition";
    return rows.length;
  }

  /** Returns whether the effect has a mark. A mark that cannot be read also counts. */
  #isMarkedStarted({ owner, id }: PendingEffect): boolean {
    try {
      return this.#reading.get(startedKey(owner, id)) !== undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return true;
    }
  }

  /**
   * Whether an effect that has no mark may have begun. A row without a time is from an earlier release. The stop marks
   * of those releases do not name begun effects, so the effect of such a row counts as not begun.
   */
  #mayHaveBegun({ atMs }: EffectRow, pending: PendingEffect): boolean {
    return atMs !== undefined && (this.#started === true || this.#started.has(pendingName(pending)));
  }

  /** Skips a damaged effect. The row may also contain the record of the effect's actor. */
  #lose(key: Key): void {
    this.#isWhole = false;
    const [partition, , kind, id] = key.map(String);
    this.#effects.loseEffects(cellName(address(partition ?? "", kind ?? "", id ?? "")));
  }
}
