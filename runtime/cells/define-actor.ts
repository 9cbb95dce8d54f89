import type { AnyStateMachine, EventFrom, SnapshotFrom } from "xstate";
import type { Delivered, Message, Replies, TurnReading } from "../turns/turn.js";
import type { ActorType } from "./actor-type.js";
import type { ReferenceTo } from "./reference.js";

type Rest = Omit<ActorType, "kind" | "machine" | "classify">;

/** The type of {@link ActorType.classify} for a given machine. */
type Classify<Machine extends AnyStateMachine> = (
  message: never,
  state: StateOf<Machine>,
  turn: TurnReading,
) => Message;

/** The state of a machine between two turns. */
export type StateOf<Machine extends AnyStateMachine> = Pick<SnapshotFrom<Machine>, "value" | "context">;

/**
 * No constraint if the machine accepts every message. Otherwise a type that no definition satisfies, so that the
 * definition does not compile.
 */
type Taking<M extends Message, Event extends Message> = [Delivered<M>] extends [Event]
  ? unknown
  : { readonly "messages that are not taken": Exclude<M["type"], Event["type"]> };

/**
 * No constraint if the askers of the messages expect every reply that the events allow. Otherwise a type that no
 * definition satisfies, so that the definition does not compile.
 */
type Replying<M extends Message, Event extends Message> = [Replies<Event>] extends [Replies<M>]
  ? unknown
  : { readonly "replies that are not expected": Exclude<Replies<Event>, Replies<M>> };

/** The messages that `classify` accepts, in the form that the machine receives them. */
type Classified<Of extends (message: never, ...more: never[]) => unknown> = Delivered<
  Extract<Parameters<Of>[0], Message>
>;

/**
 * Defines the actor type for a reference. The call does not compile if the machine does not accept every message that
 * the reference offers.
 */
export function defineActor<Offered extends Message, Place extends readonly unknown[], Machine extends AnyStateMachine>(
  to: ReferenceTo<Offered, Place>,
  definition: Rest & { readonly machine: Machine; readonly classify?: never } & Taking<Offered, EventFrom<Machine>>,
): ActorType;
/**
 * Defines an actor type with `classify`. `classify` must accept every message that the reference offers, and the
 * machine must accept every event that `classify` returns.
 */
export function defineActor<
  Offered extends Message,
  Place extends readonly unknown[],
  Machine extends AnyStateMachine,
  Of extends Classify<Machine>,
>(
  to: ReferenceTo<Offered, Place>,
  definition: Rest & { readonly machine: Machine; readonly classify: Of } & Taking<Offered, Classified<Of>> &
    Taking<ReturnType<Of>, EventFrom<Machine>> &
    Replying<Extract<Parameters<Of>[0], Message>, ReturnType<Of>>,
): ActorType;
export function defineActor(to: { readonly kind: string }, definition: Omit<ActorType, "kind">): ActorType {
  return { kind: to.kind, ...definition };
}
