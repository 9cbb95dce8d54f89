import type { Reading } from "../storage/store.js";
import type { Effect } from "./actor-type.js";
import { FairQueue } from "./fair-queue.js";
import { type EffectRow, effectKey, type PendingEffect } from "./pending-effect.js";
import { RunAbort, type RunSignal } from "./run-signal.js";
import type { EffectEnded } from "./turn.js";

/**
 * Effects of one name started before the event loop goes on. Otherwise all effects of a batch would start together, end
 * together and then wait for the same flush, with nothing to do meanwhile.
 */
const STARTED_AT_ONCE = 16;
/** Inputs of this many queued effects of one name are kept in memory; those further back are read from disk. */
const MAX_CACHED_INPUTS = 256;

interface Lane {
  readonly effect: Effect;
  /** By partition. */
  readonly waiting: FairQueue<PendingEffect>;
  running: number;
  /** Runs started since the event loop last went on. */
  started: number;
}

export interface EffectsOptions {
  readonly effects: readonly Effect[];
  /** Reads durable state: an effect starts after the flush of its row. */
  readonly reading: Reading;
  /** See `Scheduler`. */
  readonly defer: (work: () => void) => void;
  /** Receives the result of a run; called once for each run whose effect was not cancelled. */
  readonly ended: (pending: PendingEffect, message: EffectEnded) => void;
}

/**
 * Runs effects, with a limit for each name. Owns which effects run and which are queued, but not their rows.
 *
 * 1. An effect starts after its row is durable, and its result is reported once for each start.
 * 2. A cancelled effect is never started, and the result of a cancelled run is dropped.
 * 3. Inputs far back in the queue are not kept in memory.
 * 4. Partitions take turns, so that none blocks the others' effects of the same name (fair-queue.ts).
 */
export class Effects {
  readonly #lanes = new Map<string, Lane>();
  /** By the owner's name, then by id. */
  readonly #pending = new Map<string, Map<string, PendingEffect>>();
  #pendingCount = 0;
  readonly #options: EffectsOptions;
  /** Every pending effect is registered here. False until recovery has found those of earlier processes. */
  knowsAll = false;
  #running = 0;
  #stopped = false;

  constructor(options: EffectsOptions) {
    this.#options = options;
    for (const effect of options.effects) {
      if (this.#lanes.has(effect.name)) throw new Error(`two effects are named ${effect.name}`);
      this.#lanes.set(effect.name, { effect, waiting: new FairQueue(effect.concurrency), running: 0, started: 0 });
    }
  }

  get pending(): number {
    return this.#pendingCount;
  }

  get running(): number {
    return this.#running;
  }

  knows(name: string): boolean {
    return this.#lanes.has(name);
  }

  find(ownerName: string, id: string): PendingEffect | undefined {
    return this.#pending.get(ownerName)?.get(id);
  }

  /** Whether the store may hold pending effects of the owner. */
  mayBePending(ownerName: string): boolean {
    return !this.knowsAll || this.#pending.has(ownerName);
  }

  /** Registers an effect, before its flush. */
  register(pending: PendingEffect): void {
    const known = this.#pending.get(pending.ownerName) ?? new Map<string, PendingEffect>();
    if (known.size === 0) this.#pending.set(pending.ownerName, known);
    if (!known.has(pending.id)) this.#pendingCount += 1;
    known.set(pending.id, pending);
  }

  /** Forgets an effect whose result was taken, or which was cancelled. */
  forget(pending: PendingEffect): void {
    const known = this.#pending.get(pending.ownerName);
    if (known?.get(pending.id) !== pending) return;
    known.delete(pending.id);
    this.#pendingCount -= 1;
    if (known.size === 0) this.#pending.delete(pending.ownerName);
  }

  /** Starts a registered effect or queues it; call after its flush. */
  enqueue(pending: PendingEffect): void {
    if (pending.cancelled || this.#stopped) return;
    const lane = this.#lanes.get(pending.name);
    if (lane === undefined) {
      this.#options.ended(pending, failed(pending, `there is no effect named ${pending.name}`));
      return;
    }
    if (lane.waiting.length >= MAX_CACHED_INPUTS) pending.input = undefined;
    lane.waiting.push(pending.owner.partition, pending);
    this.#startNext(lane);
  }

  /** Aborts a cancelled effect if it is running; call after the flush of its cancellation. */
  abort(pending: PendingEffect): void {
    pending.abort?.abort(new Error("the effect was cancelled"));
  }

  /** Aborts running effects and starts no more. All of them stay pending on disk. */
  stop(): void {
    this.#stopped = true;
    for (const known of this.#pending.values()) {
      for (const pending of known.values()) pending.abort?.abort(new Error("the runtime is stopping"));
    }
  }

  #startNext(lane: Lane): void {
    while (lane.running < lane.effect.concurrency && lane.started < STARTED_AT_ONCE && !this.#stopped) {
      const pending = lane.waiting.take();
      if (pending === undefined) return;
      if (pending.cancelled) {
        lane.waiting.leave(pending.owner.partition);
        continue;
      }
      lane.started += 1;
      if (lane.started === STARTED_AT_ONCE) this.#options.defer(() => this.#startMore(lane));
      void this.#run(lane, pending);
    }
  }

  #startMore(lane: Lane): void {
    lane.started = 0;
    this.#startNext(lane);
  }

  async #run(lane: Lane, pending: PendingEffect): Promise<void> {
    lane.running += 1;
    this.#running += 1;
    const abort = new RunAbort();
    pending.abort = abort;
    let message: EffectEnded;
    try {
      const output = await this.#begin(lane.effect, pending, abort);
      message = { type: "effect.ended", effect: pending.name, id: pending.id, result: { ok: true, output } };
    } catch (error) {
      message = failed(pending, error instanceof Error ? error.message : String(error));
    }
    pending.abort = null;
    lane.waiting.leave(pending.owner.partition);
    lane.running -= 1;
    this.#running -= 1;
    if (this.#stopped) return;
    if (!pending.cancelled) this.#options.ended(pending, message);
    this.#startNext(lane);
  }

  #begin(effect: Effect, pending: PendingEffect, signal: RunSignal): Promise<unknown> {
    const { value, memo } = pending.input ?? { value: this.#readInput(pending), memo: undefined };
    pending.input = undefined;
    return effect.run(value, { id: pending.id, owner: pending.owner, memo, signal });
  }

  #readInput(pending: PendingEffect): unknown {
    return this.#options.reading.get<EffectRow>(effectKey(pending.owner, pending.id))?.input;
  }
}

function failed(pending: PendingEffect, error: string): EffectEnded {
  return { type: "effect.ended", effect: pending.name, id: pending.id, result: { ok: false, error } };
}
