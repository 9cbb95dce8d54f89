import { assign, type MachineContext, setup } from "xstate";
import type { Delivered, Message, Turn } from "../turns/turn.js";
import type { Address } from "./address.js";

/** Handles the event of a transition. Returns the changed fields of the context, or nothing if no field changes. */
type Act<Context, Event> = (event: Event, context: Context) => Partial<Context> | undefined | void;

/** A transition that is taken only while `when` holds; see `choose`. */
interface Case<Context, Event, State extends string> {
  readonly when?: (event: Event, context: Context) => boolean;
  /** The next state; absent for the same state. */
  readonly to?: State;
  readonly act?: Act<Context, Event> | readonly Act<Context, Event>[];
}

/** The fields that the runtime adds to each event. */
export interface InTurn {
  readonly turn: Turn;
}

/** The context of a machine that keeps everything in rows. */
export type NoContext = Readonly<Record<never, never>>;

/** The events that can have this type, including events that can have several types. */
type EventOf<Event extends Message, Type> = Event extends Message
  ? Type extends Event["type"]
    ? Event
    : never
  : never;

/**
 * Returns functions that build the parts of a chart. The transitions are typed by their events. Each function receives
 * two arguments: its own event, with the turn added, and the current context.
 *
 *     const { on, machine } = createChart<RunContext, RunEvent>();
 *     const open = { ...on("run.step", recordStep), ...on("run.end", "ended", endRun) };
 */
export function createChart<Context extends MachineContext, Event extends Message>() {
  type Given = Delivered<Event>;
  type Of<Type> = EventOf<Given, Type>;

  const toAction = <E extends Given>(act: Act<Context, E>) =>
    // XState calls `act` only with events of the type that the transition is listed under.
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

  /** Keeps the state and calls the functions in order. Without functions, the event changes nothing. */
  function on<Type extends Event["type"]>(
    type: Type,
    ...acts: readonly Act<Context, Of<Type>>[]
  ): { readonly [_ in Type]: Transition<never> };
  /** Moves to the state `to` and calls the functions in order. */
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

  /** Takes the first case whose condition holds. If no condition holds, the machine does not take the event. */
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

  /** The types of the machines that `machine` creates. */
  const types = { context: {} as Context, events: {} as Given, input: {} as Address };
  const { createMachine: machine } = setup({ types });

  return { on, choose, machine };
}

/**
 * An event of any type with the fields of the message `M`. The answer to the event goes to the asker of that message.
 */
export type EventWith<M extends Message, More = unknown> = Delivered<Omit<M, "type"> & Message> & More;

/** `Fields` with the message type `Type`. If a message was spread into the fields, its answer type is kept. */
type Renamed<Type extends string, Fields> = Type extends string
  ? Fields extends object
    ? Omit<Fields, "type"> & { readonly type: Type }
    : never
  : never;

/**
 * Creates an event that `classify` returns for a message, from the event's type and the data that `classify` has read.
 * The TypeScript type is inferred, so that a machine can take its events from the result of its classifier. If the
 * event is answered, include the message's fields: `toEvent("start.refused", { ...message, refusal })`.
 */
export function toEvent<const Type extends string, const Fields extends object = object>(
  type: Type,
  fields?: Fields,
): Renamed<Type, Fields>;
export function toEvent(type: string, fields?: object) {
  return { ...fields, type };
}
