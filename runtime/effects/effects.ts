import { type Change, isDamage, type Reading } from "../../storage/store.js";
import type { Effect, PlaceNeeded, PreparedRun } from "../cells/actor-type.js";
import type { Clock } from "../clock.js";
import { Queue } from "../schedule/queue.js";
import { RoundRobin } from "../schedule/round-robin.js";
import { TurnoverMap } from "../schedule/turnover-map.js";
import { type Span, type Tracing, toAttributes } from "../tracing.js";
import type { Batch } from "../turns/batch.js";
import type { EffectEnded } from "../turns/turn.js";
import { BeginMarks } from "./begin-marks.js";
import { type EffectWait, Lane, type LaneLimits } from "./lane.js";
import { type EffectRow, effectKey, type PendingEffect, pendingName } from "./pending-effect.js";
import { RunAbort } from "./run-signal.js";
import { RunPlace, WaitingRuns } from "./waiting-runs.js";

/** Tracks running `isMadeOnce` runs, and the callers that wait until all their results are taken. */
class OnceRuns {
  readonly #underWay = new Set<PendingEffect>();
  #waiting: (() => void)[] = [];

  add(pending: PendingEffect): void {
    this.#underWay.add(pending);
  }

  /** Stops tracking the run. Call this when its result is taken or no longer needed. */
  delete(pending: PendingEffect): void {
    if (this.#underWay.delete(pending) && this.#underWay.size === 0) this.clear();
  }

  /** Stops tracking all runs, so that the callers that wait for them continue. */
  clear(): void {
    this.#underWay.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no run is tracked any more. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#underWay.size === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }
}

/**
 * Maximum number of effects of one name to prepare before the event loop continues with other work. Without this limit,
 * effects that are released together would start together and end together. They would then all wait for the same
 * flush, and the process would have nothing to do.
 */
const PREPARED_AT_ONCE = 16;
/**
 * Maximum time to prepare effects of one name before the event loop continues, in milliseconds. At least one effect is
 * always prepared.
 */
const PREPARING_MS = 1;
/** Maximum number of unprepared effects of one name whose inputs stay in memory. Later inputs are read from disk. */
const MAX_CACHED_INPUTS = 256;

/** The effects of one name. */
interface Kind {
  readonly effect: Effect;
  /** Effects not prepared yet, by partition. */
  readonly unprepared: RoundRobin<PendingEffect>;
  /** Effects that have their place and must be prepared again. */
  readonly granted: Queue<RunPlace>;
  /**
   * Number of effects prepared since the event loop last continued (`prepared`), and when the first of them was
   * prepared (`sinceMs`).
   */
  prepared: number;
  sinceMs: number;
}

export interface EffectsOptions {
  readonly effects: readonly Effect[];
  /** Reads durable state. An effect starts after the flush of its row. */
  readonly reading: Reading;
  readonly clock: Clock;
  /** The `defer` method of the scheduler. */
  readonly defer: (work: () => void) => void;
  /**
   * Returns milliseconds since a fixed point. Without this function, preparation is limited by number only, not by
   * time.
   */
  readonly elapsedMs?: (() => number) | undefined;
  /** Puts an effect's mark into the open batch (`begin-marks.ts`). Without this function, runs begin without a mark. */
  readonly mark?: (pending: PendingEffect) => void;
  /** Receives the result of an effect that was not cancelled. Called once for each start. */
  readonly ended: (pending: PendingEffect, message: EffectEnded) => void;
  readonly tracing?: Tracing | undefined;
  /** Receives the error of each failed preparation or run, before the result. */
  readonly failed?: (error: unknown) => void;
}

/**
 * Runs effects. An effect runs once it is prepared and has a place in its lane. This class tracks the running and the
 * waiting effects. It does not write their rows; the code that builds the batch does.
 *
 * 1. An effect starts after its row is durable, and its result is reported once for each start.
 * 2. A cancelled effect never starts. If it is already running, its result is dropped.
 * 3. Waiting effects use little memory. Far back in the queue, an effect's input stays on disk. Prepared runs are
 *   dropped beyond a limit in bytes, and prepared again later.
 * 4. If an effect has `marksBegin`, a run that needs a place begins only after its mark is durable
 *   (`begin-marks.ts`).
 * 5. Effects of one partition do not wait for effects of another partition. Partitions take turns in preparation, and
 *   lanes assign places fairly (`lane.ts`).
 */
export class Effects {
  readonly #kinds = new Map<string, Kind>();
  readonly #lanes = new Map<LaneLimits, Lane>();
  readonly #waiting: WaitingRuns;
  /** Pending effects by the owner's name, then by id. */
  readonly #pending = new TurnoverMap<string, Map<string, PendingEffect>>();
  #pendingCount = 0;
  /** Names of the owners with damaged rows. */
  readonly #lost = new Set<string>();
  readonly #options: EffectsOptions;
  /**
   * Whether every pending effect is registered here. False until recovery has found the effects of earlier processes.
   */
  knowsAll = false;
  #running = 0;
  readonly #once = new OnceRuns();
  readonly #marks: BeginMarks;
  /** True while the runtime shuts down. No more effects begin then; they stay pending on disk. */
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

  /** Yields the partitions of the pending effects. A partition may occur several times. */
  *partitions(): Generator<string> {
    for (const known of this.#pending.values()) {
      for (const { owner } of known.values()) yield owner.partition;
    }
  }

  /**
   * Yields the names of pending effects that may have begun, out of the effects that get no mark. Includes effects
   * whose runs were aborted.
   */
  *listStarted(): Generator<string> {
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

  /** The lanes used since the start. */
  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  knows(name: string): boolean {
    return this.#kinds.has(name);
  }

  /** Whether runs of the effects with this name begin only after a mark. */
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

  /**
   * Notes that an effect of this owner is lost. Call this if the effect's row is damaged: the effect is then not
   * started. The row may also have held the owner's record.
   */
  loseEffects(ownerName: string): void {
    this.#lost.add(ownerName);
  }

  /** Returns why an effect waits; null if the effect is running or not pending. */
  lookUpWait(ownerName: string, id: string): EffectWait | null {
    const pending = this.find(ownerName, id);
    if (pending === undefined || pending.abort !== null) return null;
    const waiting = this.#waiting.find(pending);
    if (waiting === null) return { sinceMs: pending.sinceMs, bound: null, target: "" };
    return { sinceMs: pending.sinceMs, bound: waiting.lane.findBound(waiting), target: waiting.target };
  }

  /** Registers an effect. Call it before the flush of its row. */
  register(pending: PendingEffect): void {
    const known = this.#pending.get(pending.ownerName) ?? new Map<string, PendingEffect>();
    if (known.size === 0) this.#pending.set(pending.ownerName, known);
    if (!known.has(pending.id)) this.#pendingCount += 1;
    known.set(pending.id, pending);
  }

  /** Forgets an effect that was cancelled or whose result was taken. */
  forget(pending: PendingEffect): void {
    const known = this.#pending.get(pending.ownerName);
    if (known?.get(pending.id) !== pending) return;
    known.delete(pending.id);
    this.#once.delete(pending);
    this.#pendingCount -= 1;
    if (known.size === 0) this.#pending.delete(pending.ownerName);
  }

  /** Starts or queues a registered effect. Call it after the flush of its row. */
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

  /**
   * Call this after the flush of a batch. Aborts the effects that the batch cancelled, begins the runs that it marked,
   * and starts or queues the effects that it started.
   */
  flushed({ cancelled, marked, started }: Pick<Batch, "cancelled" | "marked" | "started">): void {
    for (const pending of cancelled) this.#abort(pending);
    // While the runtime shuts down, marked effects stay in the waiting list, so that the last batch removes their
    // marks.
    if (!this.#isEnding) for (const pending of marked) this.#marks.flushed(pending);
    for (const pending of started) this.enqueue(pending);
  }

  /**
   * Returns the changes that remove the marks of effects that did not begin. A stopping process writes them in its last
   * batch.
   */
  unmarked(): Change[] {
    return this.#marks.removals();
  }

  /** Cancels a pending effect: aborts its run if it is running, and ends its wait for a place. */
  #abort(pending: PendingEffect): void {
    this.#waiting.endWait(pending);
    this.#marks.cancel(pending);
    pending.abort?.abort(new Error("the effect was cancelled"));
  }

  /** Starts no more effects. Resolves when the results of all running `isMadeOnce` runs are taken. */
  finish(): Promise<void> {
    this.#isEnding = true;
    this.#waiting.stop();
    return this.#once.ended();
  }

  /** Aborts running effects and starts no more effects. All effects stay pending on disk. */
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

  /** Notes when a series of preparations started. The next turn of the event loop starts another series. */
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

  /**
   * Prepares the effect's run, and begins it. Uses the place `at` if it fits the run, and otherwise a free place. If no
   * place is free, the effect waits.
   */
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
    const lane = this.#getLane(run.place.lane);
    const waiting = new RunPlace(pending, lane, run.place);
    if (lane.take(waiting)) this.#run(pending, run, waiting);
    else this.#wait(kind, waiting, run);
  }

  /** Whether a run has waited for its place longer than it may. Its effect then ends without a run. */
  #isLate(place: PlaceNeeded | null): boolean {
    return place?.patience !== undefined && place.patience.untilMs <= this.#options.clock.now();
  }

  #wait(kind: Kind, waiting: RunPlace, run: PreparedRun): void {
    const { pending, lane } = waiting;
    this.#waiting.add(waiting, run, {
      granted: (cachedRun) => {
        if (pending.cancelled) {
          lane.release(waiting);
        } else if (cachedRun !== null && !this.#isLate(cachedRun.place)) {
          this.#run(pending, cachedRun, waiting);
        } else {
          kind.granted.push(waiting);
          this.#prepareNext(kind);
        }
      },
      givenUp: (output) => this.#end(pending, succeeded(pending, output)),
    });
  }

  /** Prepares the effect's run. If that fails, ends the effect with the error and returns null. */
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

  /**
   * Runs the effect at its place. If the effect requires a mark, the run begins once the mark is durable. A run without
   * a place does nothing outside the process, and needs no mark.
   */
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
    const span = this.#beginSpan(pending);
    const end = (message: EffectEnded): void => {
      span?.end(message.result.ok ? undefined : "failed");
      this.#running -= 1;
      this.#end(pending, message);
      at?.lane.release(at);
    };
    const { tracing } = this.#options;
    const running = tracing === undefined ? begin(run, abort) : tracing.within(span, () => begin(run, abort));
    running.then(
      (output) => end(succeeded(pending, output)),
      (error: unknown) => end(this.#failed(pending, error)),
    );
  }

  /** Begins the span of a run below that of the turn that started the effect. */
  #beginSpan(pending: PendingEffect): Span | null {
    const { tracing } = this.#options;
    if (tracing === undefined || pending.span === null) return null;
    const { owner, name, id } = pending;
    pending.span = tracing.begin(pending.span, `effect ${name}`, { ...toAttributes(owner), "signalbox.effect.id": id });
    return pending.span;
  }

  #end(pending: PendingEffect, message: EffectEnded): void {
    if (!this.#stopped && !pending.cancelled) this.#options.ended(pending, message);
  }

  #failed(pending: PendingEffect, error: unknown): EffectEnded {
    this.#options.failed?.(error);
    return failed(pending, error);
  }

  #getLane(limits: LaneLimits): Lane {
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
      if (isDamage(error)) throw new Error("the input of this effect is damaged in the store", { cause: error });
      throw error;
    }
  }
}

/** Begins a run. An error that `begin` throws becomes a rejection. */
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
