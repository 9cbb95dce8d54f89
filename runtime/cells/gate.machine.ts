import type { Delivered, GateAnswer, Message, Turn, Woken } from "../turns/turn.js";
import type {
  ActorType,
  CallGatekeepers,
  GatekeeperAnswer,
  GatekeeperRequest,
  GatekeeperTimedOut,
  ReplyTo,
} from "./actor-type.js";
import type { Address } from "./address.js";
import { createChart, type InTurn } from "./chart.js";

/** The kind of the actor that collects the answers to one gate question. No other actor type may use this kind. */
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
   * The gatekeeper's address for {@link GatekeeperTimedOut}, and the result if the gatekeeper does not answer that
   * message. Absent in states that older releases stored.
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

const { on, choose, machine } = createChart<GateContext, OpenGate | GatekeeperAnswer | CallGatekeepers | Woken>();

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
export const gateMachine = machine({
  id: gateKind,
  initial: "opening",
  context: { asker: null, gate: "", id: "", waiting: {} },
  states: {
    opening: { on: on("gate.open", "waiting", openGate) },
    waiting: {
      on: {
        ...choose(
          "keeper.answered",
          {
            when: ({ key, refused }, { waiting }) => waiting[key] !== undefined && refused !== null,
            to: "ended",
            act: ({ turn, refused }, context) => end(turn, context, refused),
          },
          {
            when: ({ key }, { waiting }) => waiting[key] !== undefined && Object.keys(waiting).length === 1,
            to: "ended",
            act: agree,
          },
          {
            when: ({ key }, { waiting }) => waiting[key] !== undefined,
            act: ({ key }, { waiting }) => ({ waiting: without(waiting, [key]) }),
          },
        ),
        ...choose("keeper.called", {
          when: ({ key }, { waiting }) => waiting[key] !== undefined,
          act: (event, context) => ({ waiting: callGatekeepers(context, event) }),
        }),
        ...choose(
          "woken",
          {
            when: ({ name }, context) => Object.keys(findUnanswered(context, name)).length > 0,
            act: notifyTimedOut,
          },
          {
            when: (event, context) => toRefusal(findSilent(context, event)) !== null,
            to: "ended",
            act: (event, context) => end(event.turn, context, toRefusal(findSilent(context, event))),
          },
          { when: isAgreedBySilence, to: "ended", act: agree },
          {
            when: (event, context) => Object.keys(findSilent(context, event)).length > 0,
            act: (event, context) => ({
              waiting: without(context.waiting, Object.keys(findSilent(context, event))),
            }),
          },
        ),
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

/**
 * Sends the requests to the further gatekeepers that a gatekeeper named. They get the same time limit as that
 * gatekeeper.
 */
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

function agree({ turn }: InTurn, context: GateContext): void {
  end(turn, context, null);
}

function end(turn: Turn, context: GateContext, refused: string | null): void {
  const answer: GateAnswer = { type: "gate.answered", gate: context.gate, id: context.id, refused };
  if (context.asker !== null) turn.send(context.asker, answer);
  turn.stop();
}

/** Returns the gatekeepers of one gate that have not answered. */
function findUnanswered({ waiting }: GateContext, gating: string): GateContext["waiting"] {
  return Object.fromEntries(Object.entries(waiting).filter(([, each]) => each.gating === gating));
}

/** Prefix of the name of the wake-up after {@link GatekeeperTimedOut}. The gate's name follows it. */
const SILENCE = "silence/";

function notifyTimedOut({ name, turn }: Delivered<Woken>, context: GateContext): void {
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

/** Whether all gatekeepers that are still pending have left {@link GatekeeperTimedOut} unanswered. */
function isAgreedBySilence(event: Delivered<Woken>, context: GateContext): boolean {
  const count = Object.keys(findSilent(context, event)).length;
  return count > 0 && count === Object.keys(context.waiting).length;
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
