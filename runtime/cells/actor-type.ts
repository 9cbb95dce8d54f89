import type { AnyStateMachine } from "xstate";
import type { Reading } from "../../storage/store.js";
import type { LaneLimits } from "../effects/lane.js";
import type { RunSignal } from "../effects/run-signal.js";
import type { RowView } from "../rows/row-view.js";
import type { Fact, GateQuestion, Message, Turn, TurnReading } from "../turns/turn.js";
import type { Address } from "./address.js";

/**
 * Declares one kind of actor: an XState machine that the runtime steps as a pure function, and its supervision.
 *
 * The machine is flat and has no `invoke`, `spawn`, `after`, `always` or `raise`. Its context is small plain data. Its
 * events are `Delivered<...>` messages. Guards and `assign` read `event.turn`; only the actions of a taken transition
 * may record intents through it, never a guard. An actor without a stored state starts in the machine's initial state,
 * with the `context` made from `{ input: Address }`.
 */
export interface ActorType {
  readonly kind: string;
  readonly machine: AnyStateMachine;
  /**
   * Converts a message to the machine's event. Define it if a message's type alone does not decide the transition. The
   * runtime calls it once a turn, before the step. It may only read; if it throws, the turn crashes. The runtime
   * stores, deduplicates and dead-letters the message, never the event.
   */
  classify?(message: Message, state: StoredState, turn: TurnReading): Message;
  /** Increase it when the shape of stored snapshots changes. */
  readonly version: number;
  /** Upgrades a snapshot from an older version. Required from version 2. */
  readonly migrate?: (snapshot: StoredState, fromVersion: number) => StoredState;
  readonly supervision?: Supervision;
  /** The row views whose values actors of this kind may cache in memory. */
  readonly rowViews?: readonly RowView<unknown>[];
}

/** The stored state of a machine between two turns. */
export interface StoredState {
  readonly value: unknown;
  readonly context: unknown;
}

/** Limits an actor's crashes and sets its suspension time, modeled on Erlang's supervisor. */
export interface Supervision {
  /** Maximum number of turns that one message may crash before the runtime moves it to the dead letters. */
  readonly attempts: number;
  /**
   * Maximum number of crashes within `withinMs`. If the actor crashes more often, the runtime suspends the actor for
   * `backoffMs`. The actor's messages wait meanwhile.
   */
  readonly maxRestarts: number;
  readonly withinMs: number;
  readonly backoffMs: number;
}

/**
 * Handles facts. Each fact is handled in a separate turn after the publisher's turn, in the publisher's partition. A
 * subscriber has no state, and may only read and send messages. If a subscriber throws, the runtime treats this as an
 * actor's crash. The publisher is not affected.
 */
export interface Subscriber<Handled extends Fact = Fact> {
  /** Unique name, used in logs and dead letters. */
  readonly name: string;
  /** Names of the facts that the subscriber handles. */
  readonly facts: readonly Handled["name"][];
  /**
   * Returns whether the subscriber handles this fact. If it is omitted, the subscriber handles every fact in `facts`.
   *
   * The runtime calls it in the publisher's turn. So it reads the rows that this turn wrote, and if it throws, this
   * turn fails. A fact that the subscriber does not handle costs no further turn.
   */
  hears?(fact: Handled, partition: string, reading: Reading): boolean;
  handle(fact: Handled, turn: Turn): void;
}

/**
 * Decides which actors must agree to a step. `gatekeepers` runs in the asker's turn and may only read. The runtime
 * sends each returned request. Each gatekeeper answers with a {@link GatekeeperAnswer} to `gate.replyTo`. All must
 * agree; the first refusal decides. Without gatekeepers the step is allowed.
 */
export interface Gate<Question extends GateQuestion = GateQuestion> {
  readonly name: string;
  /** Names of the questions that the gate handles. */
  readonly questions: readonly Question["name"][];
  /** Time limit for all gatekeepers together, in milliseconds. Late gatekeepers receive {@link GatekeeperTimedOut}. */
  readonly boundMs: number;
  gatekeepers(question: Question, partition: string, reading: Reading): readonly GatekeeperRequest[];
}

export interface GatekeeperRequest {
  readonly to: Address;
  /**
   * The runtime adds a {@link ReplyTo} to the message, as `gate`, before it sends the message. The gatekeeper repeats
   * `gate.key` in its {@link GatekeeperAnswer}.
   */
  readonly message: Message;
  /**
   * The result if the gatekeeper does not even answer {@link GatekeeperTimedOut}: the text of a refusal, or null for
   * agreement. If this is omitted, the result is a refusal that names the gatekeeper.
   */
  readonly whenSilent?: string | null;
}

/** The destination for a gatekeeper's answer. */
export interface ReplyTo {
  readonly replyTo: Address;
  readonly key: string;
}

/** A gatekeeper's answer, sent to `gate.replyTo`. */
export interface GatekeeperAnswer extends Message {
  readonly type: "keeper.answered";
  /** The `gate.key` from the request. */
  readonly key: string;
  readonly refused: string | null;
}

/** The message with which a gatekeeper asks further gatekeepers. The gatekeeper must still send its own answer. */
export interface CallGatekeepers extends Message {
  readonly type: "keeper.called";
  /** The sender's own `gate.key`. */
  readonly key: string;
  readonly requests: readonly GatekeeperRequest[];
}

/**
 * Tells a gatekeeper that the time limit has passed. The gatekeeper must answer immediately with the information that
 * it has.
 */
export interface GatekeeperTimedOut extends Message, ReplyTo {
  readonly type: "keeper.late";
}

/** The parameters of an effect, apart from its input. */
export interface EffectContext<Memo = unknown> {
  /** The idempotency id of the effect. */
  readonly id: string;
  /** The actor that started the effect. */
  readonly owner: Address;
  /** The request's `memo`; undefined if it is no longer in memory, for example after a restart. */
  readonly memo: Memo;
  /**
   * Whether an earlier process may have begun the effect. Without `marksBegin`, this is true for every effect that was
   * pending when that process was killed, even if it only waited for preparation or for its place.
   */
  readonly mayHaveBegun: boolean;
}

/** One prepared run of an effect. The run can begin as soon as it has its place. */
export interface PreparedRun<Output = unknown> {
  /** The place that the run needs; null if the run does nothing outside the process. */
  readonly place: PlaceNeeded<Output> | null;
  /**
   * Whether the run happens at most once. Such a run is not repeated after a stop, and a service that shuts down waits
   * a short time for its end.
   */
  readonly isMadeOnce?: boolean;
  /**
   * Runs the effect. A rejection becomes the result `{ ok: false, error: message }`, so the message of the error must
   * not contain a secret.
   */
  begin(signal: RunSignal): Promise<Output>;
}

/** The place that a run needs in a lane. */
export interface PlaceNeeded<Output = unknown> {
  readonly lane: LaneLimits;
  /** The client that the run belongs to; by default the partition of the actor that started the effect. */
  readonly client?: string;
  /** The target of the request, such as a host. Runs of one client to one target share a limit. */
  readonly target: string;
  /** Approximate memory use of the prepared run, in bytes. */
  readonly bytes: number;
  /**
   * How long the run may wait for its place, and the effect's result if no place was free until then. If this is
   * omitted, the run waits without a limit.
   */
  readonly patience?: { readonly untilMs: number; readonly output: Output };
}

/**
 * A named piece of work in the outside world. It runs after the commit that starts it, and again after a crash. It
 * passes data to its actor only through its result.
 */
export interface Effect<Input = unknown, Output = unknown, Memo = unknown> {
  readonly name: string;
  /**
   * Whether the runtime writes a mark to disk before a run with a place begins. After a kill, `mayHaveBegun` is then
   * false for effects that only waited. Each mark costs a flush. If the process is killed after the mark is written but
   * before the run begins, the run still counts as begun.
   */
  readonly marksBegin?: boolean;
  /**
   * Prepares a run, but does not begin the run. This method may only read, and must be short. The runtime calls it
   * again if the prepared run waited too long for its place, or was dropped to save memory.
   */
  prepare(input: Input, context: EffectContext<Memo>): PreparedRun<Output>;
}

/** The actor types, subscribers, gates and effects of a host. The caller passes them in; the runtime imports none. */
export interface Catalogue {
  readonly actors: readonly ActorType[];
  readonly subscribers: readonly Subscriber[];
  readonly gates: readonly Gate[];
  readonly effects: readonly Effect[];
}
