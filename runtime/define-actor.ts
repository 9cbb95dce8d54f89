import type { AnyStateMachine, EventFrom, SnapshotFrom } from "xstate";
import type { ActorType } from "./actor-type.js";
import type { ReferenceTo } from "./reference.js";
import type { Delivered, Message, TurnReading } from "./turn.js";

type Rest = Omit<ActorType, "kind" | "machine" | "classify">;

/** Gives the event of a message; see {@link ActorType.classify}. `M` is what it knows to classify. */
type Classify<Machine extends AnyStateMachine> = (
  message: never,
  state: StateOf<Machine>,
  turn: TurnReading,
) => Message;

/** What a machine is in between two turns. */
export type StateOf<Machine extends AnyStateMachine> = Pick<SnapshotFrom<Machine>, "value" | "context">;

/** Nothing, where all the messages are among the events; otherwise what no definition has. */
type Taking<M extends Message, Event extends Message> = [Delivered<M>] extends [Event]
  ? unknown
  : { readonly "messages that are not taken": Exclude<M["type"], Event["type"]> };

/** The messages that can be classified, as the machine would get them. */
type Classified<Of extends (message: never, ...more: never[]) => unknown> = Delivered<
  Extract<Parameters<Of>[0], Message>
>;

/** The actor type behind references. The compiler refuses a machine that does not take every message they offer. */
export function defineActor<Offered extends Message, Place extends readonly unknown[], Machine extends AnyStateMachine>(
  to: ReferenceTo<Offered, Place>,
  definition: Rest & { readonly machine: Machine; readonly classify?: never } & Taking<Offered, EventFrom<Machine>>,
): ActorType;
/** The same, where messages are classified: `classify` has to take every message, the machine every event it gives. */
export function defineActor<
  Offered extends Message,
  Place extends readonly unknown[],
  Machine extends AnyStateMachine,
  Of extends Classify<Machine>,
>(
  to: ReferenceTo<Offered, Place>,
  definition: Rest & { readonly machine: Machine; readonly classify: Of } & Taking<Offered, Classified<Of>> &
    Taking<ReturnType<Of>, EventFrom<Machine>>,
): ActorType;
export function defineActor(to: { readonly kind: string }, definition: Omit<ActorType, "kind">): ActorType {
  return { kind: to.kind, ...definition };
}
