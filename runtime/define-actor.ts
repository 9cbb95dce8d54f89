import type { AnyStateMachine, EventFrom, SnapshotFrom } from "xstate";
import type { ActorType } from "./actor-type.js";
import type { ReferenceTo } from "./reference.js";
import type { Delivered, Message, Replies, TurnReading } from "./turn.js";

type Rest = Omit<ActorType, "kind" | "machine" | "classify">;

/** Turns a message into an event; see {@link ActorType.classify}. */
type Classify<Machine extends AnyStateMachine> = (
  message: never,
  state: StateOf<Machine>,
  turn: TurnReading,
) => Message;

/** The state of a machine between two turns. */
export type StateOf<Machine extends AnyStateMachine> = Pick<SnapshotFrom<Machine>, "value" | "context">;

/** No constraint when every message is among the events; otherwise a property that no definition has. */
type Taking<M extends Message, Event extends Message> = [Delivered<M>] extends [Event]
  ? unknown
  : { readonly "messages that are not taken": Exclude<M["type"], Event["type"]> };

/** No constraint when the messages expect every reply of the events; otherwise a property that no definition has. */
type Replying<M extends Message, Event extends Message> = [Replies<Event>] extends [Replies<M>]
  ? unknown
  : { readonly "replies that are not expected": Exclude<Replies<Event>, Replies<M>> };

/** The messages that `classify` takes, as the machine would get them. */
type Classified<Of extends (message: never, ...more: never[]) => unknown> = Delivered<
  Extract<Parameters<Of>[0], Message>
>;

/** Defines the actor type of a reference. The compiler rejects a machine that does not take every message it offers. */
export function defineActor<Offered extends Message, Place extends readonly unknown[], Machine extends AnyStateMachine>(
  to: ReferenceTo<Offered, Place>,
  definition: Rest & { readonly machine: Machine; readonly classify?: never } & Taking<Offered, EventFrom<Machine>>,
): ActorType;
/** The same with `classify`, which has to take every message; the machine has to take every event it returns. */
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
