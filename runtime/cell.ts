import type { Change, Key, StoreError } from "../storage/store.js";
import type { Address } from "./address.js";
import type { Behaviour } from "./behaviour.js";
import { type CellRecord, cellKey } from "./cell-record.js";
import { CrashCount } from "./crash-count.js";
import type { Envelope } from "./envelope.js";
import type { EffectRow } from "./pending-effect.js";
import { Queue } from "./queue.js";
import type { MachineState } from "./step.js";

type Writable<Row> = { -readonly [Field in keyof Row]: Row[Field] };

/** An effect that was started since the last commit. */
interface Started {
  readonly id: string;
  readonly row: Writable<EffectRow>;
}

/**
 * One actor in memory: its state as of the latest turn, flushed or not, and its mailbox.
 *
 * 1. A cell is dropped from memory only when it is idle and everything it wrote is durable.
 * 2. Messages up to `readUpTo` are in the mailbox or taken; while `hasUndelivered`, later ones may be in rows.
 * 3. Its record is stored under its own key, or inside the row of its only effect. The second form saves a write for an
 *    actor that starts with an effect and stops when the effect ends. If both exist, the record under its own key
 *    counts, and stays until nothing is pending.
 * 4. While its record is damaged it takes no turn and writes nothing.
 */
export class Cell {
  readonly key: Key;
  readonly mailbox = new Queue<Envelope>();
  readonly crashes = new CrashCount();
  /** Null until the first turn in memory. */
  state: MachineState | null = null;
  /** The record as loaded from the store, until the first turn in memory. */
  stored: CellRecord | null = null;
  timers: Map<string, number> | null = null;
  effects: Set<string> | null = null;
  suspendedUntilMs = 0;
  /** Why its record cannot be read; null when it can. */
  damage: StoreError | null = null;
  /** The last effect started since the last commit. */
  #started: Started | null = null;
  /** A record is stored under its own key, or will be once the current batch is flushed. */
  #hasOwnRecord = false;
  /** Rows of undelivered messages beyond `readUpTo` may exist. */
  hasUndelivered = false;
  readUpTo = 0;
  /** It is in the queue of ready cells. */
  isQueued = false;
  /** Number of the latest batch that writes its record. */
  batch = 0;
  /** Used since the last sweep of idle cells. */
  used = true;

  constructor(
    readonly to: Address,
    /** As {@link cellName} makes it. */
    readonly name: string,
    /** Undefined when the catalogue no longer has its kind. */
    readonly behaviour: Behaviour | undefined,
  ) {
    this.key = cellKey(to);
  }

  /** Takes over the record stored under its own key. */
  load(record: CellRecord): void {
    this.#hasOwnRecord = true;
    this.timers = record.timers === undefined ? null : new Map(Object.entries(record.timers));
    this.effects = record.effects === undefined ? null : new Set(record.effects);
    this.suspendedUntilMs = record.restingUntilMs ?? 0;
    this.stored = record;
  }

  /** Takes over the record stored in the row of its only effect. */
  loadFrom(id: string, record: CellRecord): void {
    this.effects = new Set([id]);
    this.stored = record;
  }

  /** Registers a pending effect whose row the open batch writes. */
  start(id: string, row: EffectRow): void {
    this.effects ??= new Set();
    this.effects.add(id);
    this.#started = { id, row };
  }

  /** The state to step from; null when the actor was never written. Throws when the stored state cannot be read. */
  restore(): MachineState | null {
    if (this.state === null && this.stored?.state !== undefined && this.behaviour !== undefined) {
      this.state = this.behaviour.restore(this.stored.state, this.stored.version);
      this.stored = null;
    }
    return this.state;
  }

  /** Forgets the actor's state, wake-ups and effects. */
  clear(): void {
    this.state = null;
    this.stored = null;
    this.timers = null;
    this.effects = null;
  }

  /** Adds the changes that store the actor as it is now; called when its batch closes. */
  collectChanges(changes: Change[]): void {
    if (this.damage !== null) return;
    const started = this.#started;
    this.#started = null;
    const { key, effects, timers, suspendedUntilMs } = this;
    const record = this.#record();
    const hasEffects = effects !== null && effects.size > 0;
    const hasTimers = timers !== null && timers.size > 0;
    const isAlone = effects?.size === 1 && !hasTimers && suspendedUntilMs === 0;
    if (!this.#hasOwnRecord && started !== null && isAlone && effects.has(started.id)) {
      started.row.actor = record;
      return;
    }
    if (hasEffects) record.effects = [...effects];
    const isEmpty = record.state === undefined && !hasTimers && !hasEffects && suspendedUntilMs === 0;
    if (!isEmpty) changes.push({ op: "put", key, value: record });
    else if (this.#hasOwnRecord) changes.push({ op: "remove", key });
    this.#hasOwnRecord = !isEmpty;
  }

  /** The record without its effects. */
  #record(): Writable<CellRecord> {
    const { state, stored, timers, suspendedUntilMs, behaviour } = this;
    const keptState = state !== null && behaviour !== undefined ? behaviour.store(state) : stored?.state;
    const version = state === null && stored !== null ? stored.version : (behaviour?.version ?? 0);
    const record: Writable<CellRecord> = { version };
    if (keptState !== undefined) record.state = keptState;
    if (timers !== null && timers.size > 0) record.timers = Object.fromEntries(timers);
    if (suspendedUntilMs > 0) record.restingUntilMs = suspendedUntilMs;
    return record;
  }

  /** Nothing waits here, and there is nothing to store: a new cell would be the same. */
  get isBlank(): boolean {
    const { state, stored, timers, effects, suspendedUntilMs, crashes } = this;
    const isKnown = this.damage === null && crashes.isEmpty;
    const hasState = state !== null || stored !== null || suspendedUntilMs > 0 || !isKnown;
    return !hasState && (timers?.size ?? 0) === 0 && (effects?.size ?? 0) === 0 && this.isIdle;
  }

  /** No message waits, in memory or on disk, so the cell may be dropped once it is flushed. */
  get isIdle(): boolean {
    return !this.isQueued && !this.hasUndelivered && this.mailbox.length === 0;
  }
}
