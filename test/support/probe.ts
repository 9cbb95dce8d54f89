import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import type { Answered, Delivered, Message, Turn } from "../../runtime/turns/turn.js";

/** A message with any fields. */
export type Note = Message & { readonly [field: string]: unknown };

type Context = Readonly<Record<string, unknown>>;

/** A probe's handlers, by message type. A handler may record intents and return changes of the context. */
export type Handlers = Readonly<Record<string, (context: Context, message: Note, turn: Turn<unknown>) => unknown>>;

/** Returns an actor type with one state and the test's handlers; other messages are unhandled. */
export function probe(kind: string, handlers: Handlers, more: Partial<ActorType> = {}): ActorType {
  const machine = setup({
    types: { context: {} as Context, events: {} as Delivered<Note & Answered<unknown>> },
    actions: {
      handle: assign(({ context, event }) => toPatch(handlers[event.type]?.(context, event, event.turn))),
    },
    guards: { handles: ({ event }) => handlers[event.type] !== undefined },
  }).createMachine({
    id: kind,
    initial: "here",
    context: {},
    states: { here: { on: { "*": { guard: "handles", actions: "handle" } } } },
  });
  return { kind, machine, version: 1, ...more };
}

function toPatch(handled: unknown): Context {
  return typeof handled === "object" && handled !== null ? { ...handled } : {};
}
