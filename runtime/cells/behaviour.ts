import type { Fact, Message } from "../turns/turn.js";
import type { TurnRecorder } from "../turns/turn-recorder.js";
import type { ActorType, Catalogue, StoredState, Subscriber, Supervision } from "./actor-type.js";
import type { Address } from "./address.js";
import { defaultSupervision } from "./crash-count.js";
import { gateActor, gateKind } from "./gate.machine.js";
import { createActorStepper, type MachineState, type Stepper } from "./step.js";

/**
 * The kind in the addresses of subscribers. The id in such an address is the subscriber's name. No actor type may use
 * this kind.
 */
export const subscriberKind = "hearing";

/** Carries a fact to one subscriber. */
export interface FactMessage extends Message {
  readonly type: "fact";
  readonly fact: Fact;
}

/** How actors of one kind are stored, restored and stepped. */
export interface Behaviour {
  readonly supervision: Supervision;
  /** The version of stored snapshots; null for a subscriber, which has no state. */
  readonly version: number | null;
  initial(find: Address): MachineState | null;
  restore(stored: StoredState, version: number): MachineState | null;
  store(state: MachineState): StoredState;
  /**
   * Returns the state after the message, or {@link notTaken} if no transition accepts it. The state of a subscriber is
   * always null.
   */
  take(state: MachineState | null, message: Message, turn: TurnRecorder): MachineState | null | typeof notTaken;
}

export const notTaken = Symbol("not taken");

/** The behaviours of a catalogue, by actor kind or by subscriber name. */
export class Behaviours {
  readonly #actors = new Map<string, Behaviour>();
  readonly #subscribers = new Map<string, Behaviour>();

  constructor(catalogue: Catalogue) {
    for (const type of [gateActor, ...catalogue.actors]) {
      if (this.#actors.has(type.kind) || type.kind === subscriberKind || type.kind === "") {
        throw new Error(
          `the actor kind ${JSON.stringify(type.kind)} is taken (${gateKind} and ${subscriberKind} always are)`,
        );
      }
      this.#actors.set(type.kind, actorBehaviour(type));
    }
    for (const subscriber of catalogue.subscribers) {
      if (this.#subscribers.has(subscriber.name)) throw new Error(`two subscribers are named ${subscriber.name}`);
      this.#subscribers.set(subscriber.name, subscriberBehaviour(subscriber));
    }
  }

  /** Returns the behaviour of the actor or subscriber; undefined if the catalogue has none. */
  find(address: Address): Behaviour | undefined {
    return address.kind === subscriberKind ? this.#subscribers.get(address.id) : this.#actors.get(address.kind);
  }
}

function actorBehaviour(type: ActorType): Behaviour {
  // Compiled at first use, so that the service does not compile all kinds at its start.
  let compiled: Stepper | null = null;
  const stepper = (): Stepper => {
    compiled ??= createActorStepper(type);
    return compiled;
  };
  if (type.version > 1 && type.migrate === undefined) {
    throw new Error(`the actor kind ${type.kind} is at version ${type.version} and has no migrate`);
  }
  return {
    supervision: type.supervision ?? defaultSupervision,
    version: type.version,
    initial: (find) => stepper().initial(find),
    restore: (stored, version) => stepper().restore(migrateState(type, stored, version)),
    store: (state) => stepper().store(state),
    take: (state, message, turn) => takeStep(stepper(), state, message, turn),
  };
}

function takeStep(stepper: Stepper, state: MachineState | null, message: Message, turn: TurnRecorder) {
  const before = state ?? stepper.initial(turn.self);
  return stepper.step(before, message, turn) ?? notTaken;
}

function migrateState(type: ActorType, stored: StoredState, version: number): StoredState {
  if (version === type.version) return stored;
  if (version > type.version || type.migrate === undefined) {
    throw new Error(`a ${type.kind} was stored at version ${version}; this release knows ${type.version}`);
  }
  return type.migrate(stored, version);
}

function subscriberBehaviour(subscriber: Subscriber): Behaviour {
  return {
    supervision: defaultSupervision,
    version: null,
    initial: () => null,
    restore: () => null,
    store: () => ({ value: null, context: null }),
    take(_state, message, turn) {
      if (!isFactMessage(message)) return notTaken;
      subscriber.handle(message.fact, turn);
      refuseAllButSends(subscriber, turn);
      return null;
    },
  };
}

function isFactMessage(message: Message): message is FactMessage {
  return message.type === "fact" && "fact" in message;
}

function refuseAllButSends(subscriber: Subscriber, turn: TurnRecorder): void {
  const other = turn.intents.find((intent) => intent.kind !== "send")?.kind;
  const what = other ?? (turn.wrote ? "write rows" : turn.stopped ? "stop" : turn.replied ? "reply" : undefined);
  if (what !== undefined) throw new Error(`the subscriber ${subscriber.name} may read and send, not ${what}`);
}
