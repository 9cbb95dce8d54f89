import { checkKey } from "../../storage/key-check.js";
import { isDamage, type StoreError } from "../../storage/store.js";
import { notTaken } from "../cells/behaviour.js";
import type { Cell } from "../cells/cell.js";
import { freeze } from "../cells/freeze.js";
import type { MachineState } from "../cells/step.js";
import { backoffTimer, type Supervisor } from "../cells/supervisor.js";
import type { Clock } from "../clock.js";
import type { Effects } from "../effects/effects.js";
import {
  createPendingEffect,
  type EffectRow,
  effectKey,
  type PendingEffect,
  startedKey,
} from "../effects/pending-effect.js";
import type { ChangeFeed } from "../feeds/feed.js";
import { DeadLetterLimit } from "../messages/dead-letter-limit.js";
import type { Envelope } from "../messages/envelope.js";
import type { MessageRouter } from "../messages/message-router.js";
import type { UndeliveredMessages } from "../messages/undelivered.js";
import type { RowViews } from "../rows/row-views.js";
import { NotAccepted, Overloaded } from "../runtime.js";
import { type Timers, timerKey } from "../schedule/timers.js";
import { type Span, type Tracing, toAttributes } from "../tracing.js";
import type { Batch } from "./batch.js";
import type { Deduplication } from "./dedup.js";
import type { Overlays } from "./overlays.js";
import type { EffectRequest } from "./turn.js";
import type { Intent, TurnRecorder } from "./turn-recorder.js";

/** The dependencies of {@link Turns}. */
export interface TurnParts {
  readonly clock: Clock;
  readonly overlays: Overlays;
  readonly recorder: TurnRecorder;
  readonly rowViews: RowViews;
  readonly router: MessageRouter;
  readonly undelivered: UndeliveredMessages;
  readonly timers: Timers;
  readonly effects: Effects;
  readonly feed: ChangeFeed;
  readonly dedup: Deduplication;
  readonly supervisor: Supervisor;
  readonly freezes: boolean;
  readonly tracing?: Tracing | undefined;
}

type Start = Extract<Intent, { readonly kind: "start" }>;

/**
 * Takes messages one at a time: steps the actor and applies its intents to the batch.
 *
 * 1. Every check that can fail happens before any change is applied, so a turn is kept or discarded as a whole.
 * 2. A durable message has rows, for example the row of an undelivered message. The batch with the message's changes
 *   also removes these rows.
 */
export class Turns {
  taken = 0;
  unhandled = 0;
  readonly #parts: TurnParts;
  readonly #deadLetters: DeadLetterLimit;
  /** The span of the running turn; null without a trace. */
  #span: Span | null = null;
  #hasCrashed = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#deadLetters = new DeadLetterLimit(parts.overlays);
  }

  /**
   * Takes the first message of a cell's mailbox. Returns false if the message crashed the actor and stays for a retry.
   */
  take(cell: Cell, envelope: Envelope, batch: Batch): boolean {
    if (cell.damage !== null) return this.#setAside(envelope, batch, cell.damage);
    if (this.#isStale(cell, envelope)) {
      this.unhandled += 1;
      this.#parts.undelivered.remove(envelope);
      return true;
    }
    if (this.#isAnswered(cell, envelope, batch)) return true;
    batch.turns += 1;
    this.taken += 1;
    this.#span = this.#beginSpan(cell, envelope);
    const isTaken = this.#takeTurn(cell, envelope, batch);
    this.#endSpan(batch);
    return isTaken;
  }

  /** Begins the span of a turn if its message has a trace. */
  #beginSpan(cell: Cell, { span, message }: Envelope): Span | null {
    const { tracing } = this.#parts;
    if (tracing === undefined || span === null) return null;
    return tracing.begin(span, `turn ${cell.to.kind} ${message.type}`, toAttributes(cell.to));
  }

  #endSpan(batch: Batch): void {
    const span = this.#span;
    if (span === null) return;
    span.end(this.#hasCrashed ? "crashed" : undefined);
    batch.spans.push(span);
    this.#span = null;
  }

  #takeTurn(cell: Cell, envelope: Envelope, batch: Batch): boolean {
    const { recorder, overlays, rowViews } = this.#parts;
    this.#hasCrashed = false;
    overlays.beginTurn();
    recorder.begin(cell.to, this.#parts.clock.now(), overlays);
    let next: MachineState | null | typeof notTaken;
    let envelopes: Envelope[];
    try {
      next = this.#step(cell, envelope);
      envelopes = next === notTaken ? [] : this.#prepare(cell);
      if (this.#parts.freezes) rowViews.check(cell.to, overlays);
    } catch (error) {
      this.#hasCrashed = true;
      overlays.discardTurn();
      rowViews.drop(cell.to);
      recorder.end();
      return this.#crashed(cell, envelope, batch, error);
    }
    recorder.end();
    if (next === notTaken) {
      overlays.discardTurn();
      this.#refuse(cell, envelope, batch);
    } else {
      overlays.keepTurn();
      if (recorder.watched.length > 0) rowViews.written(recorder.watched, cell.to);
      this.#apply(cell, envelope, batch, next, envelopes);
    }
    return true;
  }

  /**
   * Answers an ask that the actor took before under the same message id: resolves it with `undefined`. Rejects an ask
   * whose deduplication row is damaged. Returns false for all other messages.
   */
  #isAnswered(cell: Cell, { asker }: Envelope, batch: Batch): boolean {
    if (asker === null || asker.messageId === null) return false;
    try {
      if (!this.#parts.dedup.has(cell.to, asker.messageId)) return false;
      batch.resolve(asker, undefined);
    } catch (error) {
      if (!isDamage(error)) throw error;
      batch.reject(asker, error);
    }
    return true;
  }

  /**
   * Handles a message to an actor with a damaged record. Rejects an ask. Drops wake-ups and effect results, but their
   * rows stay, so that they are delivered once the record is repaired. Stores all other messages as dead letters.
   */
  #setAside(envelope: Envelope, batch: Batch, damage: StoreError): true {
    const { supervisor, undelivered, clock } = this.#parts;
    supervisor.damagedTurns += 1;
    if (envelope.asker !== null) batch.reject(envelope.asker, damage);
    else if (envelope.wakeUp === null && envelope.effect === null) {
      undelivered.remove(envelope);
      const letter = supervisor.setAside(envelope, "the actor's record is damaged in the store", clock.now());
      batch.changes.push(...this.#deadLetters.evictOldest(envelope.to), letter);
    }
    return true;
  }

  #isStale(cell: Cell, { wakeUp, effect }: Envelope): boolean {
    if (wakeUp !== null) return cell.timers?.get(wakeUp.name) !== wakeUp.dueMs;
    if (effect !== null) return effect.cancelled || this.#parts.effects.find(cell.name, effect.id) !== effect;
    return false;
  }

  #step(cell: Cell, envelope: Envelope): MachineState | null | typeof notTaken {
    if (cell.behaviour === undefined) throw new Error(`there is no actor kind ${cell.to.kind}`);
    const next = cell.behaviour.take(cell.restore(), envelope.message, this.#parts.recorder);
    if (this.#parts.freezes && next !== notTaken && next !== null) freeze(next.context);
    return next;
  }

  /**
   * Validates every intent of the turn, and creates the envelopes of the messages to send. Throws if an intent cannot
   * be applied.
   */
  #prepare(cell: Cell): Envelope[] {
    const { recorder, router } = this.#parts;
    const envelopes: Envelope[] = [];
    for (const intent of recorder.intents) {
      if (intent.kind === "cancel-effect" || intent.kind === "count" || intent.kind === "report") continue;
      if (intent.kind === "start") this.#checkStart(cell, intent, recorder.intents);
      else if (intent.kind === "wake") checkWake(cell, intent.name);
      else router.route(intent, recorder, envelopes);
    }
    return envelopes;
  }

  #checkStart(cell: Cell, start: Start, intents: readonly Intent[]): void {
    const { effects, overlays } = this.#parts;
    const { name, id } = start.effect;
    if (!effects.knows(name)) throw new Error(`there is no effect named ${name}`);
    const key = effectKey(cell.to, id);
    checkKey(key);
    const pending = effects.find(cell.name, id) !== undefined || (!effects.knowsAll && overlays.get(key) !== undefined);
    let freed = false;
    let isStarted = false;
    for (const intent of intents) {
      if (intent === start) break;
      if (intent.kind === "cancel-effect" && intent.id === id) freed = cell.effects?.has(id) === true;
      if (intent.kind === "start" && intent.effect.id === id) isStarted = true;
    }
    if ((pending && !freed) || isStarted) throw new Error(`the effect ${id} is pending already`);
  }

  #apply(
    cell: Cell,
    envelope: Envelope,
    batch: Batch,
    next: MachineState | null,
    envelopes: readonly Envelope[],
  ): void {
    const { recorder, dedup, router } = this.#parts;
    this.#consume(cell, envelope, batch);
    if (next !== cell.state) {
      cell.state = next;
      batch.touch(cell);
    }
    if (recorder.intents.length > 0) for (const intent of recorder.intents) this.#applyIntent(cell, intent, batch);
    for (const outgoing of envelopes) {
      outgoing.span = this.#span;
      router.deliver(outgoing, batch);
    }
    if (recorder.stopped) this.#stop(cell, batch);
    const { asker } = envelope;
    if (asker === null) return;
    if (asker.messageId !== null) dedup.record(cell.to, asker.messageId, recorder.now);
    batch.resolve(asker, recorder.answer);
  }

  #applyIntent(cell: Cell, intent: Intent, batch: Batch): void {
    const { feed } = this.#parts;
    switch (intent.kind) {
      case "wake":
        this.#wake(cell, intent.name, intent.dueMs, batch);
        return;
      case "cancel-wake":
        this.#cancelWake(cell, intent.name, batch);
        return;
      case "start":
        this.#start(cell, intent.effect, batch);
        return;
      case "cancel-effect":
        this.#cancelEffect(cell, intent.id, batch);
        return;
      case "count":
        batch.counted.push(intent.counter);
        return;
      case "report":
        batch.reports.push({ from: cell.to, report: intent.report });
        return;
      case "change":
        batch.entries.push(feed.append(cell.to.partition, intent.topic, intent.data, batch.number));
    }
  }

  #wake(cell: Cell, name: string, dueMs: number, batch: Batch): void {
    const { timers, overlays } = this.#parts;
    if (cell.timers?.get(name) === dueMs) return;
    this.#cancelWake(cell, name, batch);
    cell.timers ??= new Map();
    cell.timers.set(name, dueMs);
    timers.set(overlays, { to: cell.to, name, dueMs });
    batch.touch(cell);
  }

  #cancelWake(cell: Cell, name: string, batch: Batch): void {
    const { timers, overlays } = this.#parts;
    const dueMs = cell.timers?.get(name);
    if (dueMs === undefined) return;
    cell.timers?.delete(name);
    timers.clear(overlays, { to: cell.to, name, dueMs });
    batch.touch(cell);
  }

  #start(cell: Cell, request: EffectRequest, batch: Batch): void {
    const { effects, overlays, recorder } = this.#parts;
    const pending = createPendingEffect(cell, request, recorder.now);
    pending.span = this.#span;
    effects.register(pending);
    const row: { -readonly [Field in keyof EffectRow]: EffectRow[Field] } = {
      name: request.name,
      input: request.input,
      atMs: pending.sinceMs,
    };
    if (effects.marks(request.name)) row.marks = true;
    cell.start(request.id, row);
    overlays.put(effectKey(cell.to, request.id), row);
    batch.started.push(pending);
    batch.touch(cell);
  }

  #cancelEffect(cell: Cell, id: string, batch: Batch): void {
    const { effects, overlays } = this.#parts;
    if (cell.effects?.delete(id) !== true) return;
    const pending = effects.find(cell.name, id);
    removeRows(overlays, cell, { id, isMarked: pending?.isMarked ?? true });
    batch.touch(cell);
    if (pending === undefined) return;
    pending.cancelled = true;
    effects.forget(pending);
    batch.cancelled.push(pending);
  }

  #stop(cell: Cell, batch: Batch): void {
    for (const name of [...(cell.timers?.keys() ?? [])]) this.#cancelWake(cell, name, batch);
    for (const id of [...(cell.effects ?? [])]) this.#cancelEffect(cell, id, batch);
    cell.clear();
    this.#parts.rowViews.drop(cell.to);
    batch.touch(cell);
  }

  /** Removes the rows that made the message durable, in the batch that takes the message. */
  #consume(cell: Cell, envelope: Envelope, batch: Batch): void {
    const { undelivered, effects, overlays } = this.#parts;
    undelivered.remove(envelope);
    if (envelope.wakeUp !== null) this.#cancelWake(cell, envelope.wakeUp.name, batch);
    if (envelope.effect !== null) {
      cell.effects?.delete(envelope.effect.id);
      removeRows(overlays, cell, envelope.effect);
      effects.forget(envelope.effect);
      batch.touch(cell);
    }
  }

  /** Handles a message that no transition accepts: rejects an ask, and drops any other message. */
  #refuse(cell: Cell, envelope: Envelope, batch: Batch): void {
    this.#consume(cell, envelope, batch);
    if (envelope.asker === null) {
      this.unhandled += 1;
      return;
    }
    const { kind } = cell.to;
    const message = envelope.message.type;
    const state = cell.state?.value;
    const untaken = { kind, message, ...(typeof state === "string" && { state }) };
    batch.reject(envelope.asker, new NotAccepted(`${kind} does not take ${message} now`, untaken));
  }

  #crashed(cell: Cell, envelope: Envelope, batch: Batch, error: unknown): boolean {
    const { supervisor, recorder } = this.#parts;
    const decision = supervisor.decide(cell, envelope, error, recorder.now);
    if (decision.rejection !== null && envelope.asker !== null) batch.reject(envelope.asker, decision.rejection);
    if (decision.deadLetter !== null) {
      this.#consume(cell, envelope, batch);
      batch.changes.push(...this.#deadLetters.evictOldest(cell.to), decision.deadLetter);
    }
    if (decision.retryAtMs !== null && envelope.wakeUp !== null) {
      this.#consume(cell, envelope, batch);
      this.#wake(cell, envelope.wakeUp.name, decision.retryAtMs, batch);
      return true;
    }
    if (decision.suspendUntilMs !== null) this.#suspend(cell, envelope, decision.suspendUntilMs, batch);
    return decision.deadLetter !== null || decision.rejection !== null;
  }

  /** Suspends the actor. The actor's messages wait, and asks to the actor are rejected. */
  #suspend(cell: Cell, crashed: Envelope, untilMs: number, batch: Batch): void {
    cell.suspendedUntilMs = untilMs;
    this.#wake(cell, backoffTimer, untilMs, batch);
    batch.touch(cell);
    for (const { asker } of cell.mailbox.removeWhere((waiting) => waiting.asker !== null && waiting !== crashed)) {
      if (asker !== null) batch.reject(asker, suspendedError(cell));
    }
  }

  /** Ends the suspension of an actor. */
  endBackoff(cell: Cell, batch: Batch): void {
    cell.suspendedUntilMs = 0;
    this.#cancelWake(cell, backoffTimer, batch);
    batch.touch(cell);
  }
}

/** Removes the stored rows of a pending effect. */
function removeRows(overlays: Overlays, { to }: Cell, { id, isMarked }: Pick<PendingEffect, "id" | "isMarked">): void {
  overlays.remove(effectKey(to, id));
  if (isMarked) overlays.remove(startedKey(to, id));
}

function checkWake(cell: Cell, name: string): void {
  if (name === backoffTimer) throw new Error(`the wake-up name ${backoffTimer} is taken`);
  checkKey(timerKey({ to: cell.to, name, dueMs: 0 }));
}

/** Returns the error that rejects an ask to a suspended actor. */
export function suspendedError(cell: Cell): Overloaded {
  return new Overloaded(
    `${cell.to.kind} rests after too many crashes, until ${new Date(cell.suspendedUntilMs).toISOString()}`,
  );
}
