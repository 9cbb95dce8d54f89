import type { Change, Key } from "../storage/store.js";
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
 * 1. A cell is dropped from memory only when it is idle and all that it wrote is durable.
 * 2. Mail up to `readUpTo` is in the mailbox or taken; while `hasMailOnDisk`, later mail is in rows.
 * 3. Its record lies under its own key, or in the row of its only effect: an actor that begins with an effect, and
 *    ends when that does, is so written once. Where there are both, the one under its own key counts; that one stays
 *    until nothing is pending.
 */
export class Cell {
  readonly key: Key;
  readonly mailbox = new Queue<Envelope>();
  readonly crashes = new CrashCount();
  /** Null until the first turn in memory. */
  state: MachineState | null = null;
  /** What the store holds, until the first turn in memory. */
  stored: CellRecord | null = null;
  timers: Map<string, number> | null = null;
  effects: Set<string> | null = null;
  suspendedUntilMs = 0;
  /** The last effect started since the last commit. */
  #started: Started | null = null;
  /** A record lies under its own key, or will once the batch under way is flushed. */
  #isKept = false;
  /** Mail rows beyond `readUpTo` may exist. */
  hasUndelivered = false;
  readUpTo = 0;
  /** It stands in the queue of cells with something to do. */
  isQueued = false;
  /** The latest batch that writes it. */
  batch = 0;
  /** Used since memory was last swept. */
  used = true;

  constructor(
    readonly to: Address,
    /** As {@link cellName} makes it. */
    readonly name: string,
    /** Undefined when the catalogue knows no such kind any more. */
    readonly behaviour: Behaviour | undefined,
  ) {
    this.key = cellKey(to);
  }

  /** Takes over what is stored under its own key. */
  load(record: CellRecord): void {
    this.#isKept = true;
    this.timers = record.timers === undefined ? null : new Map(Object.entries(record.timers));
    this.effects = record.effects === undefined ? null : new Set(record.effects);
    this.suspendedUntilMs = record.restingUntilMs ?? 0;
    this.stored = record;
  }

  /** Takes over what is stored in the row of its only effect. */
  loadFrom(id: string, record: CellRecord): void {
    this.effects = new Set([id]);
    this.stored = record;
  }

  /** Has an effect pending whose row is to be written by the open batch. */
  start(id: string, row: EffectRow): void {
    this.effects ??= new Set();
    this.effects.add(id);
    this.#started = { id, row };
  }

  /** The state to step from; null when the actor was never written. Throws when what is stored cannot be read. */
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

  /** Adds what the batch that closes now has to write so that the actor is stored as it is. */
  collectChanges(changes: Change[]): void {
    const started = this.#started;
    this.#started = null;
    const { key, effects, timers, suspendedUntilMs: restingUntilMs } = this;
    const record = this.#record();
    const hasEffects = effects !== null && effects.size > 0;
    const hasTimers = timers !== null && timers.size > 0;
    const isAlone = effects?.size === 1 && !hasTimers && restingUntilMs === 0;
    if (!this.#isKept && started !== null && isAlone && effects.has(started.id)) {
      started.row.actor = record;
      return;
    }
    if (hasEffects) record.effects = [...effects];
    const isNothing = record.state === undefined && !hasTimers && !hasEffects && restingUntilMs === 0;
    if (!isNothing) changes.push({ op: "put", key, value: record });
    else if (this.#isKept) changes.push({ op: "remove", key });
    this.#isKept = !isNothing;
  }

  /** What is to be stored, but for the effects. */
  #record(): Writable<CellRecord> {
    const { state, stored, timers, suspendedUntilMs: restingUntilMs, behaviour } = this;
    const keptState = state !== null && behaviour !== undefined ? behaviour.store(state) : stored?.state;
    const version = state === null && stored !== null ? stored.version : (behaviour?.version ?? 0);
    const record: Writable<CellRecord> = { version };
    if (keptState !== undefined) record.state = keptState;
    if (timers !== null && timers.size > 0) record.timers = Object.fromEntries(timers);
    if (restingUntilMs > 0) record.restingUntilMs = restingUntilMs;
    return record;
  }

  /** Nothing waits here, nothing is stored of it and nothing is to be: a new cell would be the same. */
  get isBlank(): boolean {
    const { state, stored, timers, effects, suspendedUntilMs: restingUntilMs, crashes } = this;
    const hasState = state !== null || stored !== null || restingUntilMs > 0 || !crashes.isEmpty;
    return !hasState && (timers?.size ?? 0) === 0 && (effects?.size ?? 0) === 0 && this.isIdle;
  }

  /** Nothing waits here and nothing is owed, so that memory may forget it once it is flushed. */
  get isIdle(): boolean {
    return !this.isQueued && !this.hasUndelivered && this.mailbox.length === 0;
  }
}
