import { actorSpace } from "../storage/keys.js";
import type { Key } from "../storage/store.js";
import type { Address } from "./address.js";
import type { Behaviour } from "./behaviour.js";
import { CrashCount } from "./crash-count.js";
import type { Envelope } from "./envelope.js";
import { Queue } from "./queue.js";
import type { MachineState } from "./step.js";

/** What is stored of an actor. Fields that say nothing are left out. */
export interface CellRecord {
  readonly version: number;
  /** The machine's state; absent while only a rest is stored. */
  readonly state?: { readonly value: unknown; readonly context: unknown };
  /** Due time in milliseconds by name. */
  readonly timers?: Readonly<Record<string, number>>;
  /** Ids of pending effects. */
  readonly effects?: readonly string[];
  /** The actor crashed too often and takes nothing before this time. */
  readonly restingUntilMs?: number;
}

/**
 * One actor in memory: its state as of the latest turn, flushed or not, and its mailbox.
 *
 * 1. A cell is dropped from memory only when it is idle and all that it wrote is durable.
 * 2. Mail up to `readUpTo` is in the mailbox or taken; while `hasMailOnDisk`, later mail is in rows.
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
  restingUntilMs = 0;
  /** Mail rows beyond `readUpTo` may exist. */
  hasMailOnDisk = false;
  readUpTo = 0;
  /** It stands in the queue of cells with something to do. */
  queued = false;
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

  /** Takes over what is stored. */
  load(record: CellRecord | undefined): void {
    this.timers = record?.timers === undefined ? null : new Map(Object.entries(record.timers));
    this.effects = record?.effects === undefined ? null : new Set(record.effects);
    this.restingUntilMs = record?.restingUntilMs ?? 0;
    this.stored = record ?? null;
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

  /** What is to be stored; undefined when there is nothing to keep. */
  record(): CellRecord | undefined {
    const { state, stored, timers, effects, restingUntilMs, behaviour } = this;
    const keptState = state !== null && behaviour !== undefined ? behaviour.store(state) : stored?.state;
    const hasTimers = timers !== null && timers.size > 0;
    const hasEffects = effects !== null && effects.size > 0;
    if (keptState === undefined && !hasTimers && !hasEffects && restingUntilMs === 0) return undefined;
    const version = state === null && stored !== null ? stored.version : (behaviour?.version ?? 0);
    const record: { -readonly [Field in keyof CellRecord]: CellRecord[Field] } = { version };
    if (keptState !== undefined) record.state = keptState;
    if (hasTimers) record.timers = Object.fromEntries(timers);
    if (hasEffects) record.effects = [...effects];
    if (restingUntilMs > 0) record.restingUntilMs = restingUntilMs;
    return record;
  }

  /** Nothing waits here, nothing is stored of it and nothing is to be: a new cell would be the same. */
  get blank(): boolean {
    const { state, stored, timers, effects, restingUntilMs, crashes } = this;
    const hasState = state !== null || stored !== null || restingUntilMs > 0 || !crashes.isEmpty;
    return !hasState && (timers?.size ?? 0) === 0 && (effects?.size ?? 0) === 0 && this.idle;
  }

  /** Nothing waits here and nothing is owed, so that memory may forget it once it is flushed. */
  get idle(): boolean {
    return !this.queued && !this.hasMailOnDisk && this.mailbox.length === 0;
  }
}

/** The key of an actor's record. */
export function cellKey(of: Address): Key {
  return [of.partition, actorSpace, of.kind, of.id];
}

/** The text a cell is found by in memory; unlike the readable form it is different for every address. */
export function cellName(of: Address): string {
  return `${of.partition}\0${of.kind}\0${of.id}`;
}
