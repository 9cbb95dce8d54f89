import type { Change, Key, StoreError } from "../../storage/store.js";
import type { EffectRow } from "../effects/pending-effect.js";
import type { Envelope } from "../messages/envelope.js";
import { Queue } from "../schedule/queue.js";
import type { Address } from "./address.js";
import type { Behaviour } from "./behaviour.js";
import { type CellRecord, cellKey } from "./cell-record.js";
import { CrashCount } from "./crash-count.js";
import type { MachineState } from "./step.js";

type Writable<Row> = { -readonly [Field in keyof Row]: Row[Field] };

/** An effect started since the last commit. */
interface Started {
  readonly id: string;
  readonly row: Writable<EffectRow>;
}

/**
 * One actor in memory: its mailbox, and its state after the latest turn, even if not yet flushed.
 *
 * 1. A cell is dropped from memory only if it is idle and all its writes are durable.
 * 2. Messages up to `readUpTo` are taken or in the mailbox. While `hasUndelivered` is set, rows may hold later
 *    messages.
 * 3. An actor's record is stored under its own key, or inside the row of its only effect. The second form saves a write
 *    when an actor starts with an effect and stops when that effect ends. If both exist, the record under its own key
 *    takes precedence, and stays until the actor has no record to store.
 * 4. While the record is damaged, the cell takes no turn and writes nothing.
 */
export class Cell {
  readonly key: Key;
  readonly mailbox = new Queue<Envelope>();
  readonly crashes = new CrashCount();
  /** Null until the actor's first turn in memory, and after the actor stops. */
  state: MachineState | null = null;
  /** The record loaded from the store, until the actor's first turn in memory. */
  stored: CellRecord | null = null;
  timers: Map<string, number> | null = null;
  effects: Set<string> | null = null;
  suspendedUntilMs = 0;
  /** Why the record cannot be read; null if it is readable. */
  damage: StoreError | null = null;
  /** The latest effect that was started since the last commit. */
  #started: Started | null = null;
  /** Whether a record is stored under the actor's own key, or will be after the current batch is flushed. */
  #hasOwnRecord = false;
  /** Whether rows of undelivered messages beyond `readUpTo` may exist. */
  hasUndelivered = false;
  readUpTo = 0;
  /** Whether the cell is in the queue of ready cells. */
  isQueued = false;
  /** Number of the latest batch that writes the record. */
  batch = 0;
  /** Whether the cell was used since a sweep last examined it. */
  used = true;

  constructor(
    readonly to: Address,
    /** The result of `cellName(to)` (`cell-record.ts`). */
    readonly name: string,
    /** Undefined if the catalogue no longer has the actor's kind. */
    readonly behaviour: Behaviour | undefined,
  ) {
    this.key = cellKey(to);
  }

  /** Loads the record that is stored under the actor's own key. */
  load(record: CellRecord): void {
    this.#hasOwnRecord = true;
    this.timers = record.timers === undefined ? null : new Map(Object.entries(record.timers));
    this.effects = record.effects === undefined ? null : new Set(record.effects);
    this.suspendedUntilMs = record.restingUntilMs ?? 0;
    this.stored = record;
  }

  /** Loads the record that is stored in the row of the actor's only effect. */
  loadFrom(id: string, record: CellRecord): void {
    this.effects = new Set([id]);
    this.stored = record;
  }

  /** Registers a pending effect. The open batch writes its row. */
  start(id: string, row: EffectRow): void {
    this.effects ??= new Set();
    this.effects.add(id);
    this.#started = { id, row };
  }

  /** Returns the state to step from, or null if no state was ever stored. Throws if the stored state cannot be read. */
  restore(): MachineState | null {
    if (this.state === null && this.stored?.state !== undefined && this.behaviour !== undefined) {
      this.state = this.behaviour.restore(this.stored.state, this.stored.version);
      this.stored = null;
    }
    return this.state;
  }

  /** Clears the actor's state, wake-ups and effects. */
  clear(): void {
    this.state = null;
    this.stored = null;
    this.timers = null;
    this.effects = null;
  }

  /** Adds the changes that store the actor's current state. Called when the batch closes. */
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

  /** Builds the record, without its effects. */
  #record(): Writable<CellRecord> {
    const { state, stored, timers, suspendedUntilMs, behaviour } = this;
    const storedState = state !== null && behaviour !== undefined ? behaviour.store(state) : stored?.state;
    const version = state === null && stored !== null ? stored.version : (behaviour?.version ?? 0);
    const record: Writable<CellRecord> = { version };
    if (storedState !== undefined) record.state = storedState;
    if (timers !== null && timers.size > 0) record.timers = Object.fromEntries(timers);
    if (suspendedUntilMs > 0) record.restingUntilMs = suspendedUntilMs;
    return record;
  }

  /** Whether the cell has no messages and nothing to store, so that a new cell would be identical. */
  get isBlank(): boolean {
    const { state, stored, timers, effects, suspendedUntilMs, crashes } = this;
    const isKnown = this.damage === null && crashes.isEmpty;
    const hasState = state !== null || stored !== null || suspendedUntilMs > 0 || !isKnown;
    return !hasState && (timers?.size ?? 0) === 0 && (effects?.size ?? 0) === 0 && this.isIdle;
  }

  /** Whether no message waits in memory or on disk. Such a cell may be dropped once it is flushed. */
  get isIdle(): boolean {
    return !this.isQueued && !this.hasUndelivered && this.mailbox.length === 0;
  }
}
