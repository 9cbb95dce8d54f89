import type { CountingWriting } from "../../actors/tables/blobs.js";
import type { PublishingWriting } from "../../actors/tables/on-write.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import type { Address } from "../../runtime/cells/address.js";
import { freeze } from "../../runtime/cells/freeze.js";
import { createActorStepper, type MachineState } from "../../runtime/cells/step.js";
import { type DirectedWriting, type DirectoryEntry, directoryKey } from "../../runtime/directories/directory.js";
import type { RowView } from "../../runtime/rows/row-view.js";
import { RowViews } from "../../runtime/rows/row-views.js";
import { createIdentities } from "../../runtime/turns/ids.js";
import { Overlays } from "../../runtime/turns/overlays.js";
import type { EffectRequest, Fact, GateQuestion, Message, Turn } from "../../runtime/turns/turn.js";
import { type Intent, TurnRecorder } from "../../runtime/turns/turn-recorder.js";
import type { Writing } from "../../storage/store.js";

/** Returns an empty in-memory row store for all turns of a test. Writes outside of turns publish no changes. */
export function memoryRows(): DirectedWriting & PublishingWriting & CountingWriting {
  const rows = new Overlays({ get: () => undefined, range: () => [] });
  return Object.assign(directedRows(rows), { publishRow: () => undefined, now: 0, send: () => undefined });
}

/** Returns the rows with access to directory entries. */
export function directedRows<Rows extends Writing>(rows: Rows): Rows & DirectedWriting {
  return Object.assign(rows, {
    direct: (entry: DirectoryEntry) => rows.put(directoryKey(entry), entry.row),
    undirect: (entry: DirectoryEntry) => rows.remove(directoryKey(entry)),
  });
}

/** Returns a generator of bytes. Two generators with the same seed return the same bytes. */
export function seededBytes(seed: number): (count: number) => Uint8Array {
  let state = seed >>> 0;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

/** The result of one turn, as data. */
export interface TurnTaken {
  /** False if the message was unhandled. Then all other fields are empty. */
  readonly taken: boolean;
  /** All intents, in order. */
  readonly intents: readonly Intent[];
  readonly sent: readonly { readonly to: Address; readonly message: Message }[];
  readonly wakes: readonly { readonly name: string; readonly dueMs: number }[];
  readonly cancelledWakes: readonly string[];
  readonly started: readonly EffectRequest[];
  readonly cancelledEffects: readonly string[];
  readonly facts: readonly Fact[];
  readonly questions: readonly GateQuestion[];
  readonly changes: readonly { readonly topic: string; readonly data: unknown }[];
  readonly replied: boolean;
  readonly answer: unknown;
  readonly stopped: boolean;
}

export interface SteppingOptions {
  /** The row views that turns of {@link withTurn} may read. */
  readonly rowViews?: readonly RowView<unknown>[];
  /** Time of the first turn, in milliseconds since the epoch. */
  readonly now?: number;
  readonly seed?: number;
  /** Rows shared with other actors of the test. */
  readonly rows?: Writing;
}

/** An actor stepped by hand. The test reads its state, context and rows, and sets the time. */
export interface Stepping {
  now: number;
  readonly rows: DirectedWriting;
  readonly value: unknown;
  // Returns the context, typed by the caller.
  context<Context>(): Context;
  /** Steps the actor with a message. Throws what the machine throws; such a turn changes nothing. */
  take(message: Message): TurnTaken;
  /** Puts the actor into a state, as if restored from storage. */
  restore(value: unknown, context: unknown): void;
}

/** Steps actors of a type without a runtime, but with the runtime's stepper, turn and row overlays. */
export function stepByHand(type: ActorType, self: Address, options: SteppingOptions = {}): Stepping {
  const stepper = createActorStepper(type);
  const rows = options.rows === undefined ? memoryRows() : directedRows(options.rows);
  const hand = handTurn(self, rows, { ...options, rowViews: type.rowViews ?? [] });
  let state: MachineState = stepper.initial(self);
  const stepping: Stepping = {
    now: hand.now,
    rows,
    get value() {
      return state.value;
    },
    context: <Context>() => state.context as Context,
    take(message) {
      const { next, taken } = hand.run(stepping.now, (turn) => stepper.step(state, message, turn));
      if (next !== null) freeze(next.context);
      if (next !== null) state = taken.stopped ? stepper.initial(self) : next;
      return taken;
    },
    restore(value, context) {
      state = stepper.restore({ value, context });
    },
  };
  return stepping;
}

/** Runs a function within a turn of `self`, and returns what the function recorded in the turn. */
export function withTurn(self: Address, work: (turn: Turn) => void, options: SteppingOptions = {}): TurnTaken {
  const hand = handTurn(self, options.rows ?? memoryRows(), options);
  return hand.run(hand.now, (turn) => work(turn) ?? true).taken;
}

interface Hand {
  readonly now: number;
  run<Next>(now: number, work: (turn: Turn) => Next | null): { next: Next | null; taken: TurnTaken };
}

function handTurn(self: Address, rows: Writing, options: SteppingOptions): Hand {
  const start = options.now ?? Date.parse("2026-01-01T00:00:00.000Z");
  let nowMs = start;
  const rowViews = new RowViews(options.rowViews ?? []);
  const identities = createIdentities(() => nowMs, seededBytes(options.seed ?? 1));
  const recorder = new TurnRecorder(identities, rowViews, { freezes: true, damageMet: () => undefined });
  return {
    now: start,
    run(now, work) {
      nowMs = now;
      const layers = new Overlays(rows);
      layers.beginTurn();
      recorder.begin(self, now, layers);
      // Rows may change between turns, so each turn builds its row views anew. After the turn, the views must match
      // the rows.
      rowViews.drop(self);
      try {
        const next = work(recorder);
        rowViews.check(self, layers);
        if (next === null) return { next, taken: nothingTaken };
        for (const change of layers.close().changes()) {
          if (change.op === "put") rows.put(change.key, change.value);
          else rows.remove(change.key);
        }
        return { next, taken: takenBy(recorder) };
      } finally {
        recorder.end();
      }
    },
  };
}

function takenBy(recorder: TurnRecorder): TurnTaken {
  const intents = [...recorder.intents];
  return {
    taken: true,
    intents,
    sent: intents.flatMap((intent) => (intent.kind === "send" ? [{ to: intent.to, message: intent.message }] : [])),
    wakes: intents.flatMap((intent) => (intent.kind === "wake" ? [{ name: intent.name, dueMs: intent.dueMs }] : [])),
    cancelledWakes: intents.flatMap((intent) => (intent.kind === "cancel-wake" ? [intent.name] : [])),
    started: intents.flatMap((intent) => (intent.kind === "start" ? [intent.effect] : [])),
    cancelledEffects: intents.flatMap((intent) => (intent.kind === "cancel-effect" ? [intent.id] : [])),
    facts: intents.flatMap((intent) => (intent.kind === "publish" ? [intent.fact] : [])),
    questions: intents.flatMap((intent) => (intent.kind === "ask" ? [intent.question] : [])),
    changes: intents.flatMap((intent) =>
      intent.kind === "change" ? [{ topic: intent.topic, data: intent.data }] : [],
    ),
    replied: recorder.replied,
    answer: recorder.answer,
    stopped: recorder.stopped,
  };
}

const nothingTaken: TurnTaken = {
  taken: false,
  intents: [],
  sent: [],
  wakes: [],
  cancelledWakes: [],
  started: [],
  cancelledEffects: [],
  facts: [],
  questions: [],
  changes: [],
  replied: false,
  answer: undefined,
  stopped: false,
};
