import { assign, setup } from "xstate";
import type { ActorType, KeeperAnswer } from "./actor-type.js";
import type { Address } from "./address.js";
import type { Delivered, GateAnswer, Message, Woken } from "./turn.js";

/** The kind of the actor that collects the answers to one gate question; no actor type may take it. */
export const gateKind = "gate";

/** One request of a gate question, and how long its keeper may take. */
export interface GateRequest {
  readonly to: Address;
  readonly message: Message;
  readonly gating: string;
  readonly boundMs: number;
}

/** Opens a gate actor of its own for one question. */
export interface OpenGate extends Message {
  readonly type: "gate.open";
  readonly asker: Address;
  readonly gate: string;
  readonly id: string;
  readonly requests: readonly GateRequest[];
}

interface Waiting {
  /** Which gating's keeper it is. */
  readonly gating: string;
  readonly keeper: string;
}

interface GateContext {
  readonly asker: Address | null;
  readonly gate: string;
  readonly id: string;
  /** By key: the keepers that have not agreed yet. */
  readonly waiting: Readonly<Record<string, Waiting>>;
}

type GateEvent = Delivered<OpenGate> | Delivered<KeeperAnswer> | Delivered<Woken>;

/**
 * | state   | message                              | next    | also                                              |
 * |---------|--------------------------------------|---------|---------------------------------------------------|
 * | opening | gate.open                            | waiting | sends every request, sets a wake-up for each bound |
 * | waiting | keeper.answered, refused             | ended   | answers the refusal, stops                         |
 * | waiting | keeper.answered, the last to agree   | ended   | answers that all agreed, stops                     |
 * | waiting | keeper.answered, others still wait   | waiting |                                                   |
 * | waiting | woken, a keeper of the bound waits   | ended   | answers a refusal that says so, stops              |
 *
 * Any other message is not taken: a second answer, an answer to a key that was never asked, a bound that was kept.
 */
export const gateMachine = setup({
  types: { context: {} as GateContext, events: {} as GateEvent },
  actions: {
    open: assign(({ event }) => (event.type === "gate.open" ? openGate(event) : {})),
    refuse: ({ context, event }) => {
      if (event.type === "keeper.answered") end(context, event, event.refused);
    },
    agree: ({ context, event }) => end(context, event, null),
    note: assign({
      waiting: ({ context, event }) =>
        event.type === "keeper.answered" ? without(context.waiting, event.key) : context.waiting,
    }),
    refuseLate: ({ context, event }) => {
      if (event.type === "woken") end(context, event, lateReason(late(context, event.name)));
    },
  },
  guards: {
    refuses: ({ context, event }) =>
      event.type === "keeper.answered" && context.waiting[event.key] !== undefined && event.refused !== null,
    isLast: ({ context, event }) =>
      event.type === "keeper.answered" &&
      context.waiting[event.key] !== undefined &&
      Object.keys(context.waiting).length === 1,
    isAwaited: ({ context, event }) => event.type === "keeper.answered" && context.waiting[event.key] !== undefined,
    isLate: ({ context, event }) => event.type === "woken" && late(context, event.name).length > 0,
  },
}).createMachine({
  id: gateKind,
  initial: "opening",
  context: { asker: null, gate: "", id: "", waiting: {} },
  states: {
    opening: { on: { "gate.open": { target: "waiting", actions: "open" } } },
    waiting: {
      on: {
        "keeper.answered": [
          { guard: "refuses", target: "ended", actions: "refuse" },
          { guard: "isLast", target: "ended", actions: "agree" },
          { guard: "isAwaited", target: "waiting", actions: "note" },
        ],
        woken: { guard: "isLate", target: "ended", actions: "refuseLate" },
      },
    },
    ended: { type: "final" },
  },
});

/** The built-in actor behind {@link Turn.ask}. */
export const gateActor: ActorType = { kind: gateKind, machine: gateMachine, version: 1 };

function openGate({ asker, gate, id, requests, turn }: Delivered<OpenGate>): GateContext {
  const waiting: Record<string, Waiting> = {};
  requests.forEach((request, index) => {
    const key = `${index}`;
    waiting[key] = { gating: request.gating, keeper: `${request.to.kind}/${request.to.id}` };
    turn.send(request.to, Object.assign({}, request.message, { gate: { replyTo: turn.self, key } }));
    turn.wake(request.gating, turn.now + request.boundMs);
  });
  return { asker, gate, id, waiting };
}

function end(context: GateContext, event: GateEvent, refused: string | null): void {
  const answer: GateAnswer = { type: "gate.answered", gate: context.gate, id: context.id, refused };
  if (context.asker !== null) event.turn.send(context.asker, answer);
  event.turn.stop();
}

function late(context: GateContext, gating: string): string[] {
  return Object.values(context.waiting)
    .filter((waiting) => waiting.gating === gating)
    .map((waiting) => waiting.keeper);
}

function lateReason(keepers: readonly string[]): string {
  return `no answer in time from ${keepers.join(", ")}`;
}

function without(waiting: GateContext["waiting"], key: string): GateContext["waiting"] {
  const { [key]: _answered, ...rest } = waiting;
  return rest;
}
