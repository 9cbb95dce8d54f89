/**
 * An account that is linked to an integration, `connection/<integration>:<holder>`; the holder is `team` or a person.
 * Others read its row; only that row holds tokens, sealed.
 *
 * 1. At most one exchange and one renewal run at a time; a code or a refresh token is never sent twice at once.
 * 2. An exchange leaves the earlier connection unchanged until it has succeeded.
 * 3. A connection that is broken, or may no longer exist, has no tokens (see `findConnectionTarget`).
 *
 * | state      | moved by                                          | next       | also                                |
 * |------------|---------------------------------------------------|------------|-------------------------------------|
 * | none       | link.begun (connection.link, permitted)           | linking    | exchanges the code                  |
 * | linking    | exchange.failed (effect.ended)                    | none       | reports; stops                      |
 * | connected, | link.begun                                        | same       | exchanges the code; drops an        |
 * | refreshing,|                                                   |            | exchange in progress                |
 * | broken     | exchange.failed                                   | same       | reports                             |
 * | any but    | exchange.done (effect.ended)                      | connected  | stores tokens; sets the renewal     |
 * | none,      |                                                   |            |                                     |
 * | revoking   |                                                   |            |                                     |
 * | the same   | exchange.in-vain (the same, where the connection  | revoking   | revokes them at the host            |
 * |            | may no longer exist)                              |            |                                     |
 * | connected  | renewal.due (woken `renew`)                       | refreshing | asks for new tokens                 |
 * | connected  | renewal.impossible (the same, with nothing to     | broken     | removes tokens                      |
 * |            | renew it with)                                    |            |                                     |
 * | refreshing | renewal.done (effect.ended)                       | connected  | stores tokens; sets the renewal     |
 * | refreshing | renewal.exhausted (refused for good, or a day     | broken     | removes tokens                      |
 * |            | has passed)                                       |            |                                     |
 * | refreshing | renewal.failed                                    | refreshing | woken `renew` later                 |
 * | refreshing | renewal.due                                       | refreshing | asks again                          |
 * | connected, | check.strange (connection.check, the host or      | broken     | removes tokens, revokes them at     |
 * | refreshing | client is another)                                |            | the host                            |
 * | connected, | disconnect.allowed (connection.disconnect), or    | revoking   | removes tokens, revokes them at     |
 * | refreshing | check.over (connection.check, where it may no     |            | the host                            |
 * |            | longer exist)                                     |            |                                     |
 * | linking,   | the same                                          | none       | stops                               |
 * | broken     |                                                   |            |                                     |
 * | revoking   | revoked.other (effect.ended)                      | revoking   | waits for the others                |
 * | revoking   | revoked.last (effect.ended)                       | none       | stops                               |
 * | revoking   | link.begun                                        | linking    | exchanges the code                  |
 * | any        | asks.set (connection.ask, by its owner)           | same       | stores what to ask them about       |
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

/** Requests that are refused, and settings of a person, in any state. */
function askTransitions<State extends string>(state: State) {
  return {
    "link.refused": { target: state, actions: "refuse" },
    "disconnect.refused": { target: state, actions: "refuse" },
    "asks.set": { target: state, actions: "setAsks" },
    "asks.refused": { target: state, actions: "refuse" },
    "check.kept": { target: state },
  } as const;
}

/** A new exchange, in parallel with the existing connection. */
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
        "renewal.exhausted": {
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
