import { assign, type MachineContext, setup } from "xstate";
import type { Delivered, Message, Turn } from "../turns/turn.js";
import type { Address } from "./address.js";

/** What a transition does with its event. Returns the changed fields of the context, or nothing when none changes. */
type Act<Context, Event> = (event: Event, context: Context) => Partial<Context> | undefined | void;

/** A transition that is taken only while `when` holds; see `choose`. */
interface Case<Context, Event, State extends string> {
  readonly when?: (event: Event, context: Context) => boolean;
  /** The next state; absent for the same state. */
  readonly to?: State;
  readonly act?: Act<Context, Event> | readonly Act<Context, Event>[];
}

/** What each transition gets with its event. */
export interface InTurn {
  readonly turn: Turn;
}

/** The context of a machine that keeps everything in rows. */
export type NoContext = Readonly<Record<never, never>>;

/** The events that may have a type: also one that has several, of which this is one. */
type EventOf<Event extends Message, Type> = Event extends Message
  ? Type extends Event["type"]
    ? Event
    : never
  : never;

/**
 * The parts of a chart whose transitions are typed by their events: each function gets the fields of its own event, with
 * the turn, and the context before it.
 *
 *     const { on, machine } = chartOf<RunContext, RunEvent>();
 *     const open = { ...on("run.step", recordStep), ...on("run.end", "ended", endRun) };
 */
export function toChart<Context extends MachineContext, Event extends Message>() {
  type Given = Delivered<Event>;
  type Of<Type> = EventOf<Given, Type>;

  const toAction = <E extends Given>(act: Act<Context, E>) =>
    // XState calls it with events of the type that the transition is listed under.
    assign<Context, Given, undefined, Given, never>(({ context, event }) => act(event as E, context) ?? context);
  const stay = toAction(() => undefined);

  function toTransition<State extends string, E extends Given>(
    to: State | undefined,
    acts: readonly Act<Context, E>[],
  ) {
    const actions = acts.length === 0 ? [stay] : acts.map(toAction);
    return to === undefined ? { actions } : { target: to, actions };
  }
  type Transition<State extends string> = ReturnType<typeof toTransition<State, Given>>;

  /** The event leaves the state as it is and does this, in this order; without functions it changes nothing. */
  function on<Type extends Event["type"]>(
    type: Type,
    ...acts: readonly Act<Context, Of<Type>>[]
  ): { readonly [_ in Type]: Transition<never> };
  /** The event leads to this state and does this, in this order. */
  function on<Type extends Event["type"], const State extends string>(
    type: Type,
    to: State,
    ...acts: readonly Act<Context, Of<Type>>[]
  ): { readonly [_ in Type]: Transition<State> };
  function on<E extends Given>(type: string, first?: string | Act<Context, E>, ...rest: readonly Act<Context, E>[]) {
    const [to, acts] =
      typeof first === "string" ? [first, rest] : [undefined, first === undefined ? [] : [first, ...rest]];
    return { [type]: toTransition(to, acts) };
  }

  /** The event takes the first case whose condition holds. Without one, it is not taken. */
  function choose<Type extends Event["type"], const State extends string>(
    type: Type,
    ...cases: readonly Case<Context, Of<Type>, State>[]
  ) {
    const transitions = cases.map(({ when, to, act = [] }) => {
      const transition = toTransition(to, typeof act === "function" ? [act] : act);
      if (when === undefined) return transition;
      return {
        ...transition,
        guard: ({ event, context }: { event: Given; context: Context }) => when(event as Of<Type>, context),
      };
    });
    return { [type]: transitions } as { readonly [_ in Type]: typeof transitions };
  }

  /** The machine of these states. */
  const types = { context: {} as Context, events: {} as Given, input: {} as Address };
  const { createMachine: machine } = setup({ types });

  return { on, choose, machine };
}

/** An event of any type with the fields of a message, whose asker gets the answer to that message. */
export type EventWith<M extends Message, More = unknown> = Delivered<Omit<M, "type"> & Message> & More;

/** Fields under a type of their own. Keeps the answer of a message that is spread into them. */
type Renamed<Type extends string, Fields> = Type extends string
  ? Fields extends object
    ? Omit<Fields, "type"> & { readonly type: Type }
    : never
  : never;

/**
 * The event that a message is classified as: its type, and what was read to classify the message. Its type is inferred,
 * so that the events of a machine are what its classifier returns. Pass the message's fields on where the event is
 * answered: `toEvent("start.refused", { ...message, refusal })`.
 */
export function toEvent<const Type extends string, const Fields extends object = object>(
  type: Type,
  fields?: Fields,
): Renamed<Type, Fields>;
export function toEvent(type: string, fields?: object) {
  return { ...fields, type };
}
