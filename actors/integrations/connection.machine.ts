/**
 * An account that is linked to an integration, `connection/<integration>:<holder>`; the holder is `team` or a person.
 * Its row is what others read; tokens are in it, sealed, and nowhere else.
 *
 * 1. One exchange and one renewal are under way at most; a code or a refresh token is never sent twice at once.
 * 2. An exchange leaves what was connected before as it is until it has succeeded.
 * 3. There are no tokens in a broken connection, nor once it may not be (see `findConnectionTarget`).
 *
 * | state      | moved by                                          | next       | also                                |
 * |------------|---------------------------------------------------|------------|-------------------------------------|
 * | none       | link.begun (connection.link, by who may)          | linking    | the code is exchanged               |
 * | linking    | exchange.failed (effect.ended)                    | none       | told; stops                         |
 * | connected, | link.begun                                        | same       | the code is exchanged; an earlier   |
 * | refreshing,|                                                   |            | exchange under way is forgotten     |
 * | broken     | exchange.failed                                   | same       | told                                |
 * | any but    | exchange.done (effect.ended)                      | connected  | tokens kept; told; woken to renew   |
 * | none,      |                                                   |            |                                     |
 * | revoking   |                                                   |            |                                     |
 * | the same   | exchange.in-vain (the same, of what may not be    | revoking   | the host is to forget them          |
 * |            | any more)                                         |            |                                     |
 * | connected  | renewal.due (woken `renew`)                       | refreshing | asks for new tokens                 |
 * | connected  | renewal.impossible (the same, with nothing to     | broken     | tokens go                           |
 * |            | renew it with)                                    |            |                                     |
 * | refreshing | renewal.done (effect.ended)                       | connected  | kept; woken to renew them           |
 * | refreshing | renewal.given-up (the host refused for good, or a | broken     | tokens go                           |
 * |            | day went by)                                      |            |                                     |
 * | refreshing | renewal.failed                                    | refreshing | woken `renew` later                 |
 * | refreshing | renewal.due                                       | refreshing | asks again                          |
 * | connected, | check.strange (connection.check, the host or      | broken     | tokens go, the host is to forget    |
 * | refreshing | client is another)                                |            | them                                |
 * | connected, | disconnect.allowed (connection.disconnect), or    | revoking   | tokens go, the host is to forget    |
 * | refreshing | check.over (connection.check of what may not be)  |            | them                                |
 * | linking,   | the same                                          | none       | stops                               |
 * | broken     |                                                   |            |                                     |
 * | revoking   | revoked.other (effect.ended)                      | revoking   | others are waited for               |
 * | revoking   | revoked.last (effect.ended)                       | none       | stops                               |
 * | revoking   | link.begun                                        | linking    | the code is exchanged               |
 * | any        | asks.set (connection.ask, by whose it is)         | same       | what they want to be asked about    |
 * | any        | link.refused, disconnect.refused, asks.refused    | same       | refused                             |
 * | any        | check.kept                                        | same       |                                     |
 * | none,      | check.over                                        | same       |                                     |
 * | revoking   |                                                   |            |                                     |
 * | any but    | effect.ended of an effect not waited for          | same       |                                     |
 * | none,      |                                                   |            |                                     |
 * | revoking   |                                                   |            |                                     |
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import {
  classifyConnection,
  type IntegrationConnectionContext,
  type IntegrationConnectionEvent,
} from "./classify-connection.js";
import { integrationConnectionRef, parseActorId } from "./connection.messages.js";
import {
  beginExchange,
  breakStrange,
  countRevoked,
  disconnect,
  endInVain,
  endOver,
  failExchange,
  idleContext,
  markBroken,
  removeSettings,
  renew,
  retryLater,
  setAsks,
  storeExchanged,
  storeRenewed,
} from "./connection.transitions.js";

/** What is asked of it and leads nowhere, and what a person sets, whatever the state. */
function askTransitions<State extends string>(state: State) {
  return {
    "link.refused": { target: state, actions: "refuse" },
    "disconnect.refused": { target: state, actions: "refuse" },
    "asks.set": { target: state, actions: "setAsks" },
    "asks.refused": { target: state, actions: "refuse" },
    "check.kept": { target: state },
  } as const;
}

/** A new link is tried beside what is there. */
function exchangeTransitions<State extends string>(state: State) {
  return {
    "link.begun": { target: state, actions: "beginExchange" },
    "exchange.done": { target: "connected", actions: "storeExchanged" },
    "exchange.in-vain": { target: "revoking", actions: "endInVain" },
    "exchange.failed": { target: state, actions: "failExchange" },
    "effect.ended": { target: state },
  } as const;
}

/** What ends a connection that has tokens. */
const endTransitions = {
  "disconnect.allowed": { target: "revoking", actions: "disconnect" },
  "check.over": { target: "revoking", actions: "endOver" },
  "check.strange": { target: "broken", actions: "breakStrange" },
} as const;

/** What ends one that has none. */
const stopTransitions = {
  "disconnect.allowed": { target: "none", actions: ["disconnect", "stop"] },
  "check.over": { target: "none", actions: ["endOver", "stop"] },
} as const;

const machine = setup({
  types: {
    context: {} as IntegrationConnectionContext,
    events: {} as Delivered<IntegrationConnectionEvent>,
    input: {} as { readonly id: string },
  },
  actions: {
    beginExchange: assign(({ context, event }) => {
      assertEvent(event, "link.begun");
      return beginExchange(context, event);
    }),
    failExchange: assign(({ context, event }) => {
      assertEvent(event, "exchange.failed");
      return failExchange(context, event);
    }),
    storeExchanged: assign(({ context, event }) => {
      assertEvent(event, "exchange.done");
      return storeExchanged(context, event);
    }),
    renew: assign(({ context, event }) => renew(context, event.turn)),
    breakStrange: assign(({ context, event }) => breakStrange(context, event.turn)),
    disconnect: assign(({ context, event }) => disconnect(context, event.turn)),
    endOver: assign(({ context, event }) => endOver(context, event.turn)),
    endInVain: assign(({ context, event }) => {
      assertEvent(event, "exchange.in-vain");
      return endInVain(context, event);
    }),
    setAsks: ({ context, event }) => {
      assertEvent(event, "asks.set");
      setAsks(context, event);
    },
    refuse: ({ event }) => {
      assertEvent(event, ["link.refused", "disconnect.refused", "asks.refused"]);
      event.turn.reply(event.refusal);
    },
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "connection",
  context: ({ input }) => ({ ...parseActorId(input.id), ...idleContext }),
  initial: "none",
  states: {
    none: {
      on: {
        "link.begun": { target: "linking", actions: "beginExchange" },
        "link.refused": { target: "none", actions: ["refuse", "stop"] },
        "disconnect.refused": { target: "none", actions: ["refuse", "stop"] },
        "check.over": { target: "none", actions: ["endOver", "stop"] },
        "check.kept": { target: "none", actions: "stop" },
        "asks.set": { target: "none", actions: ["setAsks", "stop"] },
        "asks.refused": { target: "none", actions: ["refuse", "stop"] },
      },
    },
    linking: {
      on: {
        ...askTransitions("linking"),
        ...exchangeTransitions("linking"),
        ...stopTransitions,
        "exchange.failed": { target: "none", actions: ["failExchange", "stop"] },
      },
    },
    connected: {
      on: {
        ...askTransitions("connected"),
        ...exchangeTransitions("connected"),
        ...endTransitions,
        "renewal.due": { target: "refreshing", actions: "renew" },
        "renewal.impossible": {
          target: "broken",
          actions: assign(({ context, event }) =>
            markBroken(context, event.turn, "The access has run out, and the host gave nothing to renew it with."),
          ),
        },
      },
    },
    refreshing: {
      on: {
        ...askTransitions("refreshing"),
        ...exchangeTransitions("refreshing"),
        ...endTransitions,
        "renewal.done": { target: "connected", actions: assign(({ context, event }) => storeRenewed(context, event)) },
        "renewal.given-up": {
          target: "broken",
          actions: assign(({ context, event }) => markBroken(context, event.turn, event.reason)),
        },
        "renewal.failed": {
          target: "refreshing",
          actions: assign(({ context, event }) => retryLater(context, event)),
        },
        "renewal.due": { target: "refreshing", actions: "renew" },
      },
    },
    broken: { on: { ...askTransitions("broken"), ...exchangeTransitions("broken"), ...stopTransitions } },
    revoking: {
      on: {
        ...askTransitions("revoking"),
        "link.begun": { target: "linking", actions: "beginExchange" },
        "check.over": {
          target: "revoking",
          actions: ({ context, event }) => removeSettings(context, event.turn),
        },
        "revoked.last": { target: "none", actions: "stop" },
        "revoked.other": { target: "revoking", actions: assign(({ context }) => countRevoked(context)) },
      },
    },
  },
});

/** See the table above. */
export const integrationConnectionActor = defineActor(integrationConnectionRef, {
  machine,
  classify: classifyConnection,
  version: 1,
});
