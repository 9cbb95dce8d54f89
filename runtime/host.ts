import type { Change, Reading, View } from "../storage/store.js";
import type { Address } from "./cells/address.js";
import { Behaviours } from "./cells/behaviour.js";
import type { Cell } from "./cells/cell.js";
import { cellName } from "./cells/cell-record.js";
import { Cells } from "./cells/cells.js";
import { freeze } from "./cells/freeze.js";
import { backoffTimer, Supervisor } from "./cells/supervisor.js";
import type { Clock } from "./clock.js";
import { Effects } from "./effects/effects.js";
import type { PendingEffect } from "./effects/pending-effect.js";
import { ChangeFeed } from "./feeds/feed.js";
import { createDeadLetters, deadLetterKey } from "./messages/dead-letters.js";
import { Envelope } from "./messages/envelope.js";
import { MessageRouter } from "./messages/message-router.js";
import { UndeliveredMessages } from "./messages/undelivered.js";
import { Recovery } from "./recovery.js";
import { DamageLog } from "./rows/damage-log.js";
import { RowCache } from "./rows/row-cache.js";
import type { Origin, RowMemory } from "./rows/row-memory.js";
import { RowViews } from "./rows/row-views.js";
import {
  type DeadLetter,
  type DeadLetters,
  defaultLimits,
  NotAccepted,
  Overloaded,
  Resting,
  type Runtime,
  type RuntimeLimits,
  type RuntimeOptions,
  Stopping,
} from "./runtime.js";
import { ReleasedAnswers } from "./schedule/released-answers.js";
import { type Timer, Timers } from "./schedule/timers.js";
import { Statistics } from "./statistics.js";
import { Batch } from "./turns/batch.js";
import { BatchBound } from "./turns/batch-bound.js";
import { checkMessageId, Deduplication } from "./turns/dedup.js";
import { createIdentities } from "./turns/ids.js";
import { Overlays } from "./turns/overlays.js";
import type { EffectEnded, Message } from "./turns/turn.js";
import { TurnRecorder } from "./turns/turn-recorder.js";
import { TURNS_PER_RUN, TurnRun } from "./turns/turn-run.js";
import { suspendedError, Turns } from "./turns/turns.js";

/**
 * With this many ready actors, the host reads no more undelivered messages from disk, takes no wake-up, and sets no
 * alarm for one. An alarm for a wake-up that is already due would fire again and again.
 */
const ENOUGH_READY = 1_024;
/** Maximum number of due wake-ups to take before turns continue. Each wake-up may load an actor from disk. */
const WOKEN_AT_ONCE = 64;

/**
 * Starts a runtime on an open store. The runtime continues the work that an earlier process did not finish. See
 * SEMANTICS.md.
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  return new Host(options);
}

/**
 * The main loop of the runtime. It takes messages, collects their changes in a batch, commits the batch, and releases
 * the output that waits for its flush.
 *
 * 1. Only one batch is flushed at a time. Meanwhile the next batch takes turns, up to its limit.
 * 2. Answers, feed entries and effects of a batch are released after its flush, batch by batch.
 * 3. After a failed commit, the host takes no message and releases nothing.
 */
class Host implements Runtime {
  readonly clock: Clock;
  readonly reading: Reading;
  readonly feed: ChangeFeed;
  readonly deadLetters: DeadLetters;
  readonly lookUpWait: Runtime["lookUpWait"];
  readonly finishEffects: Runtime["finishEffects"];
  readonly randomBytes: Runtime["randomBytes"];
  readonly newId: Runtime["newId"];
  readonly stats: Runtime["stats"];
  readonly #options: RuntimeOptions;
  readonly #limits: RuntimeLimits;
  readonly #bound: BatchBound;
  readonly #rows: RowCache;
  readonly #rowViews: RowViews;
  /** All in-memory state that depends on rows. */
  readonly #memories: readonly RowMemory[];
  readonly #overlays: Overlays;
  readonly #behaviours: Behaviours;
  readonly #cells: Cells;
  readonly #undelivered: UndeliveredMessages;
  readonly #router: MessageRouter;
  readonly #timers: Timers;
  readonly #effects: Effects;
  readonly #dedup: Deduplication;
  readonly #turns: Turns;
  readonly #damage: DamageLog;
  readonly #recovery: Recovery;
  readonly #statistics: Statistics;
  readonly #answers: ReleasedAnswers;
  readonly #run = (): void => this.#guarded(() => this.#pump());
  readonly #defer = (work: () => void): void => this.#options.scheduler.defer(work);
  #batch: Batch;
  #flushing = false;
  #flushedBatch = 0;
  #scheduled = false;
  #openAsks = 0;
  #stopping: Promise<void> | null = null;
  #stopped: () => void = () => undefined;
  #dead = false;

  constructor(options: RuntimeOptions) {
    const { store, catalogue, clock, randomBytes, log, memories = [], freezes = false } = options;
    this.#options = options;
    this.#batch = new Batch(1, options.tracing);
    this.#answers = new ReleasedAnswers(options.scheduler, options.isShared);
    this.clock = clock;
    this.randomBytes = randomBytes;
    this.#damage = new DamageLog(log);
    const durable = this.#damage.watch(store.reading);
    this.#rows = new RowCache(durable, { tables: options.cachedTables ?? [], freezes });
    this.reading = this.#rows;
    this.#limits = { ...defaultLimits, ...options.limits };
    const identities = createIdentities(() => clock.now(), randomBytes);
    this.#overlays = new Overlays(this.#rows, { freezes });
    this.#bound = new BatchBound(this.#limits, this.#overlays, options);
    this.#behaviours = new Behaviours(catalogue);
    this.#effects = this.#createEffects(durable);
    this.#rowViews = new RowViews(catalogue.actors.flatMap(({ rowViews }) => rowViews ?? []));
    this.#cells = new Cells({
      reading: durable,
      behaviours: this.#behaviours,
      effects: this.#effects,
      rowViews: this.#rowViews,
      idleCells: this.#limits.idleCells,
      checksNew: freezes,
    });
    this.#undelivered = new UndeliveredMessages(this.#overlays);
    this.#router = new MessageRouter(catalogue, this.#cells, this.#undelivered, this.#limits.mailbox);
    this.#timers = new Timers(this.#overlays, clock, this.#limits.timersInMemory, () => this.#poke());
    this.#dedup = new Deduplication(this.#overlays);
    const supervisor = new Supervisor(log, this.#damage, (prefix) => this.newId(prefix));
    this.feed = new ChangeFeed(durable, { entries: this.#limits.feedEntries, bytes: this.#limits.feedBytes });
    this.#turns = new Turns({
      clock,
      overlays: this.#overlays,
      rowViews: this.#rowViews,
      freezes,
      tracing: options.tracing,
      recorder: new TurnRecorder(identities, this.#rowViews, {
        freezes,
        damageMet: (error) => this.#damage.met(error),
      }),
      router: this.#router,
      undelivered: this.#undelivered,
      timers: this.#timers,
      effects: this.#effects,
      feed: this.feed,
      dedup: this.#dedup,
      supervisor,
    });
    const more = { clock, damage: this.#damage, rests: options.resting !== undefined };
    this.#recovery = new Recovery(this.#overlays, this.#cells, this.#effects, more);
    this.#memories = [this.#rows, this.#overlays, this.#rowViews, this.#cells, this.feed, this.#recovery, ...memories];
    this.#statistics = new Statistics({
      turns: this.#turns,
      supervisor,
      cells: this.#cells,
      effects: this.#effects,
      timers: this.#timers,
      damage: this.#damage,
      feed: this.feed,
    });
    this.newId = (prefix) => identities.newId(prefix);
    this.stats = () => this.#statistics.read();
    this.finishEffects = () => this.#effects.finish();
    this.lookUpWait = (owner, effectId) => this.#effects.lookUpWait(cellName(owner), effectId);
    this.deadLetters = createDeadLetters(durable, this.reading, (letter) => this.#sendAgain(letter));
    this.#poke();
  }

  #createEffects(durable: Reading): Effects {
    return new Effects({
      effects: this.#options.catalogue.effects,
      reading: durable,
      clock: this.clock,
      defer: this.#defer,
      elapsedMs: this.#options.elapsedMs,
      tracing: this.#options.tracing,
      mark: (pending) => {
        this.#batch.mark(pending, this.#overlays);
        this.#poke();
      },
      ended: (pending, message) => this.#effectEnded(pending, message),
      failed: (error) => this.#damage.met(error),
    });
  }

  ask<Answer>(to: Address, message: Message, options: { readonly messageId?: string } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const cell = this.#admit(to);
      if (options.messageId !== undefined) checkMessageId(to, options.messageId);
      if (this.#options.freezes === true) freeze(message);
      cell.mailbox.push(
        Envelope.ask(
          to,
          message,
          { resolve, reject, messageId: options.messageId ?? null },
          this.#options.tracing?.current(),
        ),
      );
      this.#openAsks += 1;
      this.#cells.enqueue(cell);
      this.#poke();
    });
  }

  damageMet(error: unknown): void {
    this.#damage.met(error);
  }

  applied(changes: readonly Change[]): void {
    this.#guarded(() => this.#applied(changes, "elsewhere"));
  }

  view(): View {
    return this.#damage.watchView(this.#options.store.view());
  }

  stop(): Promise<void> {
    if (this.#stopping !== null) return this.#stopping;
    this.#stopping = new Promise((resolve) => {
      this.#stopped = resolve;
    });
    this.#effects.stop();
    this.#timers.stop();
    if (this.#dead) this.#stopped();
    else this.#poke();
    return this.#stopping;
  }

  /** Returns the cell for an ask. Throws if the runtime cannot accept the ask now. */
  #admit(to: Address): Cell {
    if (this.#dead || this.#stopping !== null) throw new Stopping("the runtime is stopping");
    if (this.#options.resting !== undefined) {
      if (!this.#options.resting.takes(to)) throw new Resting(`${to.kind} takes no message while the runtime rests`);
      this.#recovery.markForSearch(to.partition);
    }
    if (this.#behaviours.find(to) === undefined) throw new NotAccepted(`there is no actor kind ${to.kind}`);
    const cell = this.#cells.activate(to);
    if (cell.suspendedUntilMs > 0) throw suspendedError(cell);
    if (cell.mailbox.length >= this.#limits.mailbox) throw new Overloaded(`the mailbox of ${to.kind} is full`);
    return cell;
  }

  #poke(): void {
    if (this.#scheduled || this.#dead) return;
    this.#scheduled = true;
    this.#defer(this.#run);
  }

  /**
   * Runs `work`, and stops the runtime if `work` throws. The error comes from the store or from a bug, so the runtime's
   * state is then unknown.
   */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #pump(): void {
    this.#scheduled = false;
    if (this.#dead) return;
    if (!this.#draining) {
      if (this.#recovery.mayStep && this.#cells.ready < ENOUGH_READY) this.#recovery.step();
      if (this.#wakes) this.#wakeDue();
      this.#takeTurns();
    }
    const waitsForReady = this.#hasMore && this.#cells.ready > 0 && this.#batch.turns < TURNS_PER_RUN;
    if (!this.#flushing && !waitsForReady) this.#commit();
    if (this.#wakes && this.#cells.ready < ENOUGH_READY) this.#timers.setAlarm();
    if (this.#hasMore) this.#poke();
  }

  /** Whether the runtime is stopping and has answered every ask. It then begins no more turns. */
  get #draining(): boolean {
    return this.#stopping !== null && this.#openAsks === 0;
  }

  /** Whether the host takes due wake-ups. */
  get #wakes(): boolean {
    return this.#stopping === null && this.#options.resting === undefined;
  }

  get #hasMore(): boolean {
    return !this.#draining && this.#bound.hasCapacity(this.#batch) && (this.#cells.ready > 0 || this.#recovery.mayStep);
  }

  #wakeDue(): void {
    const now = this.clock.now();
    for (let woken = 0; woken < WOKEN_AT_ONCE && this.#cells.ready < ENOUGH_READY; woken++) {
      const timer = this.#timers.takeDue(now);
      if (timer === undefined) return;
      this.#wake(timer);
    }
  }

  #wake({ to, name, dueMs }: Timer): void {
    const cell = this.#cells.activate(to);
    if (name !== backoffTimer) cell.mailbox.push(Envelope.wakeUp(to, { name, dueMs }));
    else if (cell.timers?.get(backoffTimer) === dueMs) this.#turns.endBackoff(cell, this.#batch);
    this.#cells.enqueue(cell);
  }

  #takeTurns(): void {
    const run = new TurnRun(this.#options);
    while (this.#bound.hasCapacity(this.#batch) && run.mayTake()) {
      const cell = this.#cells.takeReady();
      if (cell === undefined) return;
      this.#serve(cell);
    }
  }

  /** Takes one message of an actor. */
  #serve(cell: Cell): void {
    if (cell.suspendedUntilMs > 0) return;
    if (cell.mailbox.length === 0 && cell.hasUndelivered) this.#undelivered.readBack(cell);
    const envelope = cell.mailbox.first();
    if (envelope === undefined) return;
    if (this.#turns.take(cell, envelope, this.#batch)) {
      cell.mailbox.take();
      envelope.taken = true;
    }
    if (cell.suspendedUntilMs === 0 && (cell.mailbox.length > 0 || cell.hasUndelivered)) this.#cells.enqueue(cell);
  }

  /**
   * Commits the open batch. A batch without changes is released immediately, because everything before it is durable.
   */
  #commit(): void {
    const batch = this.#batch;
    this.#dedup.sweep(this.clock.now());
    if (batch.isEmpty && this.#overlays.isEmpty) {
      this.#finishStop();
      return;
    }
    const changes = this.#close(batch);
    if (changes.length === 0) {
      this.#release(batch);
      return;
    }
    this.#flushing = true;
    this.#bound.begin();
    this.#write(changes).then(
      () => this.#guarded(() => this.#flushed(batch, changes)),
      (error: unknown) => this.#fail(error, batch),
    );
  }

  /**
   * Commits changes. The method is async, so that an error that the store throws also becomes a rejection. While
   * several clients are active, asks the store to work in short parts (`inShortParts`).
   */
  async #write(changes: readonly Change[]): Promise<void> {
    return this.#options.store.commit(changes, { inShortParts: this.#options.isShared?.() === true });
  }

  #close(batch: Batch): readonly Change[] {
    for (const envelope of batch.sent) if (!envelope.taken) this.#undelivered.store(envelope);
    this.feed.write(batch.entries, batch.changes);
    const rows = this.#overlays.close();
    this.#rows.committing(rows);
    this.#batch = new Batch(batch.number + 1, this.#options.tracing);
    return rows.changes().concat(batch.collect());
  }

  /**
   * Passes durable changes to all in-memory state (`RowMemory`). That state then drops or updates what it derived from
   * the changed rows.
   */
  #applied(changes: readonly Change[], origin: Origin): void {
    for (const memory of this.#memories) memory.applied(changes, origin);
  }

  #flushed(batch: Batch, changes: readonly Change[]): void {
    if (this.#dead) return;
    this.#flushing = false;
    this.#statistics.flushed(this.#bound.flushed());
    this.#overlays.flushed();
    this.#rows.flushed();
    this.#applied(changes, "here");
    this.#release(batch);
  }

  /** Releases the output that waited for the flush, trims memory, and schedules the next round. */
  #release(batch: Batch): void {
    this.#flushedBatch = batch.number;
    this.#openAsks -= batch.answers.length;
    const isLater = !this.#batch.isEmpty && this.#options.isShared?.() === false;
    if (isLater) this.#poke();
    this.#answers.release(batch.answers, { isLater });
    this.feed.release(batch.entries);
    this.#statistics.counted(batch.counted);
    batch.released(this.#options.reported);
    this.#effects.flushed(batch);
    this.#cells.forgetEnded(batch.touched, this.#flushedBatch);
    this.#cells.sweep();
    this.feed.trimMemory(this.#flushedBatch);
    this.#poke();
  }

  #finishStop(): void {
    if (!this.#draining) return;
    this.#dead = true;
    this.#answers.giveAll();
    if (this.#options.resting !== undefined) return this.#stopped();
    this.#write([...this.#effects.unmarked(), this.#recovery.stoppedMark()]).then(this.#stopped, this.#stopped);
  }

  #effectEnded(pending: PendingEffect, message: EffectEnded): void {
    if (this.#dead) return;
    this.#guarded(() => {
      const cell = this.#cells.activate(pending.owner, pending.ownerName);
      cell.mailbox.push(Envelope.effectEnded(pending.owner, message, pending));
      this.#cells.enqueue(cell);
      this.#poke();
    });
  }

  #sendAgain({ id, to, message }: DeadLetter): Promise<unknown> {
    if (this.#options.resting !== undefined) throw new Resting("no message is sent again while the runtime rests");
    if (this.#dead || this.#stopping !== null) throw new Stopping("the runtime is stopping");
    return new Promise<unknown>((resolve, reject) => {
      this.#router.deliver(this.#router.createEnvelope(to, message), this.#batch);
      this.#batch.changes.push({ op: "remove", key: deadLetterKey(to.partition, id) });
      this.#batch.resolve({ resolve, reject }, true);
      this.#openAsks += 1;
      this.#poke();
    });
  }

  #fail(cause: unknown, batch: Batch | null = null): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#effects.stop();
    this.#timers.stop();
    const error = new Stopping("the runtime has stopped: its store failed", { cause });
    for (const failed of [batch, this.#batch]) failed?.failed(error);
    for (const cell of this.#cells.all()) {
      for (const { asker } of cell.mailbox.removeWhere((envelope) => envelope.asker !== null)) asker?.reject(error);
    }
    this.#options.log.error("the runtime has stopped: its store failed", { error: cause });
    this.#stopped();
    this.#options.onFatal?.(cause);
  }
}
