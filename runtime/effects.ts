import { type Change, isDamage, type Reading } from "../storage/store.js";
import type { Effect, PlaceNeeded, PreparedRun } from "./actor-type.js";
import type { Batch } from "./batch.js";
import { BeginMarks } from "./begin-marks.js";
import type { Clock } from "./clock.js";
import { type EffectWait, Lane, type LaneLimits } from "./lane.js";
import { OnceRuns } from "./once-runs.js";
import { type EffectRow, effectKey, type PendingEffect, pendingName } from "./pending-effect.js";
import { Queue } from "./queue.js";
import { RoundRobin } from "./round-robin.js";
import { RunAbort } from "./run-signal.js";
import type { EffectEnded } from "./turn.js";
import { TurnoverMap } from "./turnover-map.js";
import { RunPlace, WaitingRuns } from "./waiting-runs.js";

/**
 * Effects of one name prepared before the event loop gets to its other work. Those that are released together would
 * otherwise all be started, then all be answered, then all wait for the same flush, with nothing to do meanwhile.
 */
const PREPARED_AT_ONCE = 16;
/** How long effects of one name are prepared before that, in milliseconds; one always is. */
const PREPARING_MS = 1;
/** Inputs of this many effects of one name that are not prepared yet are held in memory; those further back are read. */
const MAX_CACHED_INPUTS = 256;

/** The effects of one name. */
interface Kind {
  readonly effect: Effect;
  /** Those not prepared yet, by partition. */
  readonly unprepared: RoundRobin<PendingEffect>;
  /** Those that have their place and are to be prepared again. */
  readonly granted: Queue<RunPlace>;
  /** Prepared since the event loop had its turn, and since when. */
  prepared: number;
  sinceMs: number;
}

export interface EffectsOptions {
  readonly effects: readonly Effect[];
  /** Reads durable state: an effect starts after the flush of its row. */
  readonly reading: Reading;
  readonly clock: Clock;
  /** As the scheduler's. */
  readonly defer: (work: () => void) => void;
  /** Milliseconds from any fixed point; without it, only the number of effects is bounded that are prepared at once. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Puts the mark that an effect may have begun into the open batch. Without it, runs begin at once. */
  readonly mark?: (pending: PendingEffect) => void;
  /** Receives the result of a run; called once for each run whose effect was not cancelled. */
  readonly ended: (pending: PendingEffect, message: EffectEnded) => void;
  /** Receives the error of each run that failed, before its result. */
  readonly failed?: (error: unknown) => void;
}

/**
 * Runs effects, each once it is prepared and has a place in its lane. Owns what runs and what waits; the rows are
 * written by whoever batches.
 *
 * 1. An effect starts after its row is durable, and its result is reported once for each start.
 * 2. A cancelled effect is never started, and the result of a cancelled run is dropped.
 * 3. What waits takes little memory: inputs far back stay on disk, and so do prepared runs past a number of bytes.
 * 4. Where the effect asks for it, a run that needs a place begins after a mark is durable (begin-marks.ts).
 * 5. No partition's effects wait for another's: they are prepared in turn, and lanes give places fairly (lane.ts).
 */
export class Effects {
  readonly #kinds = new Map<string, Kind>();
  readonly #lanes = new Map<LaneLimits, Lane>();
  readonly #waiting: WaitingRuns;
  /** By the owner's name, then by id. */
  readonly #pending = new TurnoverMap<string, Map<string, PendingEffect>>();
  #pendingCount = 0;
  /** Owners with damaged rows. */
  readonly #lost = new Set<string>();
  readonly #options: EffectsOptions;
  /** Every pending effect is registered here. False until recovery has found those of earlier processes. */
  knowsAll = false;
  #running = 0;
  readonly #once = new OnceRuns();
  readonly #marks: BeginMarks;
  /** No more effects begin: they stay pending on disk. */
  #isEnding = false;
  #stopped = false;

  constructor(options: EffectsOptions) {
    this.#options = options;
    this.#waiting = new WaitingRuns(options.clock);
    this.#marks = new BeginMarks(options.mark);
    for (const effect of options.effects) {
      if (this.#kinds.has(effect.name)) throw new Error(`two effects are named ${effect.name}`);
      this.#kinds.set(effect.name, {
        effect,
        unprepared: new RoundRobin(),
        granted: new Queue(),
        prepared: 0,
        sinceMs: 0,
      });
    }
  }

  get pending(): number {
    return this.#pendingCount;
  }

  /** The partitions of the pending effects; one may come several times. */
  *partitions(): Generator<string> {
    for (const known of this.#pending.values()) {
      for (const { owner } of known.values()) yield owner.partition;
    }
  }

  /** The pending effects without marks of which a run may have begun, also one that was aborted: their names. */
  *begun(): Generator<string> {
    for (const known of this.#pending.values()) {
      for (const pending of known.values()) {
        const mayHaveBegun = pending.abort !== null || pending.mayHaveBegun;
        if (mayHaveBegun && !this.marks(pending.name)) yield pendingName(pending);
      }
    }
  }

  get running(): number {
    return this.#running;
  }

  /** The lanes that were used since the start. */
  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  knows(name: string): boolean {
    return this.#kinds.has(name);
  }

  /** Whether runs of the effects of this name begin after a mark. */
  marks(name: string): boolean {
    return this.#kinds.get(name)?.effect.marksBegin === true;
  }

  find(ownerName: string, id: string): PendingEffect | undefined {
    return this.#pending.get(ownerName)?.get(id);
  }

  /** Whether the store may hold pending effects of the owner. */
  mayBePending(ownerName: string): boolean {
    return !this.knowsAll || this.#pending.has(ownerName) || this.#lost.has(ownerName);
  }

  /** A row of the owner is damaged: its effect is not started, and its record may be in that row. */
  loseOf(ownerName: string): void {
    this.#lost.add(ownerName);
  }

  /** What the effect waits for; null when it runs, or is not pending. */
  waitOf(ownerName: string, id: string): EffectWait | null {
    const pending = this.find(ownerName, id);
    if (pending === undefined || pending.abort !== null) return null;
    const waiting = this.#waiting.of(pending);
    if (waiting === null) return { sinceMs: pending.sinceMs, bound: null, target: "" };
    return { sinceMs: pending.sinceMs, bound: waiting.lane.boundOf(waiting), target: waiting.target };
  }

  /** Makes an effect known, before its flush. */
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
    this.#once.delete(pending);
    this.#pendingCount -= 1;
    if (known.size === 0) this.#pending.delete(pending.ownerName);
  }

  /** Starts a registered effect or queues it; call after its flush. */
  enqueue(pending: PendingEffect): void {
    if (pending.cancelled || this.#isEnding) return;
    const kind = this.#kinds.get(pending.name);
    if (kind === undefined) {
      this.#options.ended(pending, failed(pending, `there is no effect named ${pending.name}`));
      return;
    }
    if (kind.unprepared.length >= MAX_CACHED_INPUTS) pending.input = undefined;
    kind.unprepared.push(pending.owner.partition, pending);
    this.#prepareNext(kind);
  }

  /** Aborts what the batch cancelled, begins what it marked, and starts or queues what it started; after its flush. */
  flushed({ cancelled, marked, started }: Pick<Batch, "cancelled" | "marked" | "started">): void {
    for (const pending of cancelled) this.#abort(pending);
    // What is not begun any more keeps waiting, so that its mark is removed at the stop.
    if (!this.#isEnding) for (const pending of marked) this.#marks.flushed(pending);
    for (const pending of started) this.enqueue(pending);
  }

  /** Removes the marks of what has not begun; for the last batch of a process that stops. */
  unmarked(): Change[] {
    return this.#marks.removals();
  }

  /** Aborts a cancelled effect if it runs, and lets it wait no longer. */
  #abort(pending: PendingEffect): void {
    this.#waiting.leave(pending);
    this.#marks.cancel(pending);
    pending.abort?.abort(new Error("the effect was cancelled"));
  }

  /** Starts no more effects; resolves when the results of those that are not made again are taken. */
  finish(): Promise<void> {
    this.#isEnding = true;
    this.#waiting.stop();
    return this.#once.ended();
  }

  /** Aborts running effects and starts no more. All of them stay pending on disk. */
  stop(): void {
    this.#stopped = true;
    this.#isEnding = true;
    this.#waiting.stop();
    this.#once.clear();
    for (const known of this.#pending.values()) {
      for (const pending of known.values()) pending.abort?.abort(new Error("the runtime is stopping"));
    }
  }

  #prepareNext(kind: Kind): void {
    while (!this.#isEnding && this.#mayPrepare(kind)) {
      const at = kind.granted.take() ?? null;
      const pending = at?.pending ?? kind.unprepared.take();
      if (pending === undefined) return;
      if (pending.cancelled) {
        at?.lane.release(at);
        continue;
      }
      kind.prepared += 1;
      if (kind.prepared === 1) this.#beginPreparing(kind);
      this.#place(kind, pending, at);
    }
  }

  #mayPrepare({ prepared, sinceMs }: Kind): boolean {
    return prepared === 0 || (prepared < PREPARED_AT_ONCE && this.#elapsedMs() - sinceMs < PREPARING_MS);
  }

  /** The next ones are prepared from the event loop's next turn on. */
  #beginPreparing(kind: Kind): void {
    kind.sinceMs = this.#elapsedMs();
    this.#options.defer(() => {
      kind.prepared = 0;
      this.#prepareNext(kind);
    });
  }

  #elapsedMs(): number {
    return this.#options.elapsedMs?.() ?? 0;
  }

  /** Begins the effect at the place that it has, or if there is one for it; else has it wait for one. */
  #place(kind: Kind, pending: PendingEffect, at: RunPlace | null): void {
    const run = this.#prepare(kind, pending);
    const isLate = run !== null && this.#isLate(run.place);
    if (at !== null && !isLate && run?.place != null && at.isFor(run.place)) {
      this.#run(pending, run, at);
      return;
    }
    at?.lane.release(at);
    if (run === null) return;
    if (run.place === null) {
      this.#run(pending, run, null);
      return;
    }
    if (isLate) {
      this.#end(pending, succeeded(pending, run.place.patience?.output));
      return;
    }
    const lane = this.#laneOf(run.place.lane);
    const waiting = new RunPlace(pending, lane, run.place);
    if (lane.take(waiting)) this.#run(pending, run, waiting);
    else this.#wait(kind, waiting, run);
  }

  /** Whether the time until which the effect waits for its place is over: it is not begun then. */
  #isLate(place: PlaceNeeded | null): boolean {
    return place?.patience !== undefined && place.patience.untilMs <= this.#options.clock.now();
  }

  #wait(kind: Kind, waiting: RunPlace, run: PreparedRun): void {
    const { pending, lane } = waiting;
    this.#waiting.add(waiting, run, {
      granted: (kept) => {
        if (pending.cancelled) {
          lane.release(waiting);
        } else if (kept !== null && !this.#isLate(kept.place)) {
          this.#run(pending, kept, waiting);
        } else {
          kind.granted.push(waiting);
          this.#prepareNext(kind);
        }
      },
      givenUp: (output) => this.#end(pending, succeeded(pending, output)),
    });
  }

  /** The run of the effect; null when it cannot be prepared, and has ended so. */
  #prepare({ effect }: Kind, pending: PendingEffect): PreparedRun | null {
    try {
      const { value, memo } = pending.input ?? { value: this.#readInput(pending), memo: undefined };
      pending.input = undefined;
      const { id, owner, mayHaveBegun } = pending;
      return effect.prepare(value, { id, owner, memo, mayHaveBegun });
    } catch (error) {
      this.#end(pending, this.#failed(pending, error));
      return null;
    }
  }

  /** Runs the effect at its place, where it asks for that once its mark is durable. Without a place it does nothing outside. */
  #run(pending: PendingEffect, run: PreparedRun, at: RunPlace | null): void {
    const begin = (): void => this.#begin(pending, run, at);
    if (at === null || !this.marks(pending.name)) begin();
    else this.#marks.mark(pending, { begin, drop: () => at.lane.release(at) });
  }

  #begin(pending: PendingEffect, run: PreparedRun, at: RunPlace | null): void {
    this.#running += 1;
    if (run.isMadeOnce === true) this.#once.add(pending);
    const abort = new RunAbort();
    pending.abort = abort;
    const end = (message: EffectEnded): void => {
      this.#running -= 1;
      this.#end(pending, message);
      at?.lane.release(at);
    };
    begin(run, abort).then(
      (output) => end(succeeded(pending, output)),
      (error: unknown) => end(this.#failed(pending, error)),
    );
  }

  #end(pending: PendingEffect, message: EffectEnded): void {
    if (!this.#stopped && !pending.cancelled) this.#options.ended(pending, message);
  }

  #failed(pending: PendingEffect, error: unknown): EffectEnded {
    this.#options.failed?.(error);
    return failed(pending, error);
  }

  #laneOf(limits: LaneLimits): Lane {
    const known = this.#lanes.get(limits);
    if (known !== undefined) return known;
    const lane = new Lane(limits);
    this.#lanes.set(limits, lane);
    return lane;
  }

  #readInput(pending: PendingEffect): unknown {
    try {
      return this.#options.reading.get<EffectRow>(effectKey(pending.owner, pending.id))?.input;
    } catch (error) {
      if (isDamage(error)) throw new Error("what this effect was given is damaged in the store", { cause: error });
      throw error;
    }
  }
}

/** Begins a run; one that throws instead counts as one that rejects. */
function begin(run: PreparedRun, signal: RunAbort): Promise<unknown> {
  try {
    return run.begin(signal);
  } catch (error) {
    return Promise.reject(error);
  }
}

function succeeded({ name, id }: PendingEffect, output: unknown): EffectEnded {
  return { type: "effect.ended", effect: name, id, result: { ok: true, output } };
}

function failed({ name, id }: PendingEffect, error: unknown): EffectEnded {
  const text = error instanceof Error ? error.message : String(error);
  return { type: "effect.ended", effect: name, id, result: { ok: false, error: text } };
}
