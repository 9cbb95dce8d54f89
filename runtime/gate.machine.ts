import { assign, setup } from "xstate";
import type {
  ActorType,
  CallGatekeepers,
  GatekeeperAnswer,
  GatekeeperRequest,
  GatekeeperTimedOut,
  ReplyTo,
} from "./actor-type.js";
import type { Address } from "./address.js";
import type { Delivered, GateAnswer, Message, Turn, Woken } from "./turn.js";

/** The kind of the actor that collects the answers to one gate question. No actor type may use this kind. */
export const gateKind = "gate";

/** One gatekeeper request of a gate question, with its time limit in milliseconds. */
export interface GateRequest extends GatekeeperRequest {
  /** The name of the gate in the catalogue. */
  readonly gating: string;
  readonly boundMs: number;
}

/**
 * Time for a gatekeeper to answer a {@link GatekeeperTimedOut}, in milliseconds. A working gatekeeper needs one turn.
 */
const GRACE_MS = 5_000;

/** Starts the gate actor for one question. */
export interface OpenGate extends Message {
  readonly type: "gate.open";
  readonly asker: Address;
  readonly gate: string;
  readonly id: string;
  readonly requests: readonly GateRequest[];
}

interface Waiting {
  /** The name of the gate in the catalogue. */
  readonly gating: string;
  readonly keeper: string;
  /**
   * The gatekeeper's address for {@link GatekeeperTimedOut}, and the result if it does not answer that. Absent in
   * states that older releases stored.
   */
  readonly to?: Address;
  readonly whenSilent?: string | null;
}

interface GateContext {
  readonly asker: Address | null;
  readonly gate: string;
  readonly id: string;
  /** The gatekeepers that have not answered yet, by key. */
  readonly waiting: Readonly<Record<string, Waiting>>;
}

type GateEvent = Delivered<OpenGate> | Delivered<GatekeeperAnswer> | Delivered<CallGatekeepers> | Delivered<Woken>;

/**
 * | state   | message                               | next    | also                                                |
 * |---------|---------------------------------------|---------|-----------------------------------------------------|
 * | opening | gate.open                             | waiting | sends every request, sets a wake-up for each limit  |
 * | waiting | keeper.answered, refused              | ended   | answers with the refusal, stops                     |
 * | waiting | keeper.answered, the last to agree    | ended   | answers that all agreed, stops                      |
 * | waiting | keeper.answered, others pending       | waiting |                                                     |
 * | waiting | keeper.called by a pending gatekeeper | waiting | sends its requests and waits for their answers too  |
 * | waiting | woken at a time limit, some pending   | waiting | sends them keeper.late, sets a wake-up for silence  |
 * | waiting | woken for silence, means a refusal    | ended   | answers with the refusal, stops                     |
 * | waiting | woken for silence, all others agreed  | ended   | answers that all agreed, stops                      |
 * | waiting | woken for silence, others pending     | waiting | counts the silence as agreement                     |
 *
 * The machine does not take any other message: a second answer, an answer with an unknown key, or a wake-up after all
 * gatekeepers have answered.
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
        event.type === "keeper.answered" ? without(context.waiting, [event.key]) : context.waiting,
    }),
    call: assign({
      waiting: ({ context, event }) =>
        event.type === "keeper.called" ? callGatekeepers(context, event) : context.waiting,
    }),
    notifyTimedOut: ({ context, event }) => {
      if (event.type === "woken") notifyTimedOut(context, event);
    },
    refuseSilent: ({ context, event }) => {
      if (event.type === "woken") end(context, event, toRefusal(findSilent(context, event)));
    },
    noteSilent: assign({
      waiting: ({ context, event }) =>
        event.type === "woken" ? without(context.waiting, Object.keys(findSilent(context, event))) : context.waiting,
    }),
  },
  guards: {
    refuses: ({ context, event }) =>
      event.type === "keeper.answered" && context.waiting[event.key] !== undefined && event.refused !== null,
    isLast: ({ context, event }) =>
      event.type === "keeper.answered" &&
      context.waiting[event.key] !== undefined &&
      Object.keys(context.waiting).length === 1,
    isAwaited: ({ context, event }) => event.type === "keeper.answered" && context.waiting[event.key] !== undefined,
    calls: ({ context, event }) => event.type === "keeper.called" && context.waiting[event.key] !== undefined,
    isLate: ({ context, event }) =>
      event.type === "woken" && Object.keys(findUnanswered(context, event.name)).length > 0,
    isRefusedBySilence: ({ context, event }) =>
      event.type === "woken" && toRefusal(findSilent(context, event)) !== null,
    isAgreedBySilence: ({ context, event }) => {
      const count = event.type === "woken" ? Object.keys(findSilent(context, event)).length : 0;
      return count > 0 && count === Object.keys(context.waiting).length;
    },
    isSilent: ({ context, event }) => event.type === "woken" && Object.keys(findSilent(context, event)).length > 0,
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
        "keeper.called": { guard: "calls", target: "waiting", actions: "call" },
        woken: [
          { guard: "isLate", target: "waiting", actions: "notifyTimedOut" },
          { guard: "isRefusedBySilence", target: "ended", actions: "refuseSilent" },
          { guard: "isAgreedBySilence", target: "ended", actions: "agree" },
          { guard: "isSilent", target: "waiting", actions: "noteSilent" },
        ],
      },
    },
    ended: { type: "final" },
  },
});

/** The built-in actor that implements {@link Turn.askGate}. */
export const gateActor: ActorType = { kind: gateKind, machine: gateMachine, version: 1 };

function openGate({ asker, gate, id, requests, turn }: Delivered<OpenGate>): GateContext {
  const waiting: Record<string, Waiting> = {};
  requests.forEach((request, index) => {
    waiting[`${index}`] = sendRequest(turn, request, { gating: request.gating, key: `${index}` });
    turn.wake(request.gating, turn.now + request.boundMs);
  });
  return { asker, gate, id, waiting };
}

function sendRequest(
  turn: Turn,
  request: GatekeeperRequest,
  { gating, key }: { readonly gating: string; readonly key: string },
) {
  const { to, message, whenSilent } = request;
  const gate: ReplyTo = { replyTo: turn.self, key };
  turn.send(to, Object.assign({}, message, { gate }));
  const waiting: Waiting = { gating, keeper: `${to.kind}/${to.id}`, to };
  return whenSilent === undefined ? waiting : { ...waiting, whenSilent };
}

/** Sends the requests of a gatekeeper that asks others. They share its time limit. */
function callGatekeepers(
  { waiting }: GateContext,
  { key, requests, turn }: Delivered<CallGatekeepers>,
): GateContext["waiting"] {
  const gating = waiting[key]?.gating ?? "";
  const called = requests.map((request) => {
    const own = turn.newId("keeper");
    return [own, sendRequest(turn, request, { gating, key: own })] as const;
  });
  return { ...waiting, ...Object.fromEntries(called) };
}

function end(context: GateContext, event: GateEvent, refused: string | null): void {
  const answer: GateAnswer = { type: "gate.answered", gate: context.gate, id: context.id, refused };
  if (context.asker !== null) event.turn.send(context.asker, answer);
  event.turn.stop();
}

/** Returns the gatekeepers of one gate that have not answered. */
function findUnanswered({ waiting }: GateContext, gating: string): GateContext["waiting"] {
  return Object.fromEntries(Object.entries(waiting).filter(([, each]) => each.gating === gating));
}

/** Prefix of the name of the wake-up after {@link GatekeeperTimedOut}. The gate's name follows it. */
const SILENCE = "silence/";

function notifyTimedOut(context: GateContext, { name, turn }: Delivered<Woken>): void {
  for (const [key, { to }] of Object.entries(findUnanswered(context, name))) {
    const late: GatekeeperTimedOut = { type: "keeper.late", replyTo: turn.self, key };
    if (to !== undefined) turn.send(to, late);
  }
  turn.wake(`${SILENCE}${name}`, turn.now + GRACE_MS);
}

/** Returns the gatekeepers that have not answered {@link GatekeeperTimedOut} either. */
function findSilent(context: GateContext, { name }: Woken): GateContext["waiting"] {
  return name.startsWith(SILENCE) ? findUnanswered(context, name.slice(SILENCE.length)) : {};
}

/** Returns the result of these gatekeepers' silence: the text of a refusal, or null for agreement. */
function toRefusal(waiting: GateContext["waiting"]): string | null {
  const given = Object.values(waiting).find(({ whenSilent }) => typeof whenSilent === "string")?.whenSilent;
  if (typeof given === "string") return given;
  const unknown = Object.values(waiting).filter(({ whenSilent }) => whenSilent === undefined);
  return unknown.length === 0 ? null : `no answer in time from ${unknown.map(({ keeper }) => keeper).join(", ")}`;
}

function without(waiting: GateContext["waiting"], keys: readonly string[]): GateContext["waiting"] {
  return Object.fromEntries(Object.entries(waiting).filter(([key]) => !keys.includes(key)));
}
