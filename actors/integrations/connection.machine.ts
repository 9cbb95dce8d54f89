/**
 * An account that is linked to an integration, `connection/<integration>:<holder>`; the holder is `team` or a person.
 * Its row is what others read; tokens are in it, sealed, and nowhere else.
 *
 * 1. One exchange and one renewal are under way at most; a code or a refresh token is never sent twice at once.
 * 2. An exchange leaves what was connected before as it is until it has succeeded.
 * 3. There are no tokens in a broken connection, nor once it may not be (see `standingOf`).
 *
 * | state      | moved by                                          | next       | also                                |
 * |------------|---------------------------------------------------|------------|-------------------------------------|
 * | none       | connection.link, by who may                       | linking    | the code is exchanged               |
 * | linking    | the exchange failed                               | none       | told; stops                         |
 * | connected, | connection.link, by who may                       | same       | the code is exchanged; an earlier   |
 * | refreshing,|                                                   |            | exchange under way is forgotten     |
 * | broken     | the exchange failed                               | same       | told                                |
 * | any        | the exchange succeeded                            | connected  | tokens kept; told; woken to renew   |
 * | any        | the same, of what may not be any more             | revoking   | the host is to forget them          |
 * | connected  | woken `renew`                                     | refreshing | asks for new tokens                 |
 * | connected  | the same, with nothing to renew it with           | broken     | tokens go                           |
 * | refreshing | new tokens came                                   | connected  | kept; woken to renew them           |
 * | refreshing | the host refused for good, or a day went by       | broken     | tokens go                           |
 * | refreshing | it failed otherwise                               | refreshing | woken `renew` later                 |
 * | refreshing | woken `renew`                                     | refreshing | asks again                          |
 * | connected, | connection.check, the host or client is another   | broken     | tokens go, the host is to forget    |
 * | refreshing |                                                   |            | them                                |
 * | connected, | connection.disconnect by who may, or              | revoking   | tokens go, the host is to forget    |
 * | refreshing | connection.check of what may not be any more      |            | them                                |
 * | linking,   | the same                                          | none       | stops                               |
 * | broken     |                                                   |            |                                     |
 * | revoking   | it ended                                          | none       | stops                               |
 * | revoking   | connection.link, by who may                       | linking    | the code is exchanged               |
 * | any        | connection.ask, by the person whose it is         | same       | what they want to be asked about    |
 */
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { type Address, address } from "../../runtime/address.js";
import type { ConnectionHolder } from "./connection.table.js";
import {
  beginExchange,
  countRevoked,
  endConnection,
  failExchange,
  hasNothingToRenewWith,
  type IntegrationConnectionContext,
  type IntegrationConnectionEvent,
  idleContext,
  isExchange,
  isLastRevoked,
  isLinked,
  isOfOtherServer,
  isOver,
  isRefresh,
  isRefreshed,
  isRefusedForGood,
  markBroken,
  mayAsk,
  mayDisconnect,
  mayLink,
  refuse,
  removeSettings,
  renew,
  retryLater,
  setAsks,
  storeTokens,
} from "./connection.transitions.js";
import type { IntegrationConnectionKey } from "./connection-permissions.js";

/** The actor of a connection. */
export function integrationConnectionAddress({
  workspaceId,
  integrationId,
  holder,
}: IntegrationConnectionKey): Address {
  return address(workspaceId, "connection", `${integrationId}:${holder}`);
}

function parseActorId(id: string): { readonly integrationId: string; readonly holder: ConnectionHolder } {
  const colon = id.indexOf(":");
  return { integrationId: id.slice(0, colon), holder: id.slice(colon + 1) };
}

/** A new link is tried beside what is there, and a person sets what they want, whatever the state. */
function linkAndAskTransitions<State extends string>(state: State) {
  return {
    "connection.link": [
      { guard: "mayLink", target: state, actions: "beginExchange" },
      { target: state, actions: "refuse" },
    ],
    "connection.ask": [
      { guard: "mayAsk", target: state, actions: "setAsks" },
      { target: state, actions: "refuse" },
    ],
  } as const;
}

/** What ends a connection that has tokens. */
function endTransitions<State extends string>(state: State) {
  return {
    "connection.disconnect": [
      { guard: "mayDisconnect", target: "revoking", actions: "end" },
      { target: state, actions: "refuse" },
    ],
    "connection.check": [
      { guard: "isOver", target: "revoking", actions: "end" },
      { guard: "isStrange", target: "broken", actions: "breakDown" },
      { target: state },
    ],
  } as const;
}

/** The end of an exchange beside what is there. */
function exchangeTransitions<State extends string>(state: State) {
  return [
    { guard: "isLinked", target: "connected", actions: "keepLinked" },
    { guard: "isLinkedInVain", target: "revoking", actions: "end" },
    { guard: "isExchange", target: state, actions: "failExchange" },
  ] as const;
}

const machine = setup({
  types: {
    context: {} as IntegrationConnectionContext,
    events: {} as IntegrationConnectionEvent,
    input: {} as { readonly id: string },
  },
  guards: {
    mayLink: ({ context, event }) => mayLink(context, event),
    mayDisconnect: ({ context, event }) => mayDisconnect(context, event),
    mayAsk: ({ context, event }) => mayAsk(context, event),
    isOver: ({ context, event }) => isOver(context, event),
    isStrange: ({ context, event }) => isOfOtherServer(context, event),
    isLinked: ({ context, event }) => isLinked(context, event) && !isOver(context, event),
    isLinkedInVain: ({ context, event }) => isLinked(context, event),
    isExchange: ({ context, event }) => isExchange(context, event),
    isRefreshed: ({ context, event }) => isRefreshed(context, event),
    isRefusedForGood: ({ context, event }) => isRefusedForGood(context, event),
    isRefresh: ({ context, event }) => isRefresh(context, event),
    isLastRevoked: ({ context }) => isLastRevoked(context),
    hasNothingToRenewWith: ({ context, event }) => hasNothingToRenewWith(context, event),
  },
  actions: {
    beginExchange: assign(({ context, event }) => beginExchange(context, event)),
    failExchange: assign(({ context, event }) => failExchange(context, event)),
    keepLinked: assign(({ context, event }) => storeTokens(context, event)),
    renew: assign(({ context, event }) => renew(context, event)),
    retryLater: assign(({ context, event }) => retryLater(context, event)),
    breakDown: assign(({ context, event }) => markBroken(context, event)),
    end: assign(({ context, event }) => endConnection(context, event)),
    countRevoked: assign(({ context }) => countRevoked(context)),
    forget: ({ context, event }) => removeSettings(context, event),
    setAsks: ({ context, event }) => setAsks(context, event),
    refuse: ({ context, event }) => refuse(context, event),
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "connection",
  context: ({ input }) => ({ ...parseActorId(input.id), ...idleContext }),
  initial: "none",
  states: {
    none: {
      on: {
        "connection.link": [
          { guard: "mayLink", target: "linking", actions: "beginExchange" },
          { target: "none", actions: ["refuse", "stop"] },
        ],
        "connection.disconnect": { target: "none", actions: ["refuse", "stop"] },
        "connection.check": [
          { guard: "isOver", target: "none", actions: ["end", "stop"] },
          { target: "none", actions: "stop" },
        ],
        "connection.ask": [
          { guard: "mayAsk", target: "none", actions: ["setAsks", "stop"] },
          { target: "none", actions: ["refuse", "stop"] },
        ],
      },
    },
    linking: {
      on: {
        ...linkAndAskTransitions("linking"),
        "connection.disconnect": [
          { guard: "mayDisconnect", target: "none", actions: ["end", "stop"] },
          { target: "linking", actions: "refuse" },
        ],
        "connection.check": [{ guard: "isOver", target: "none", actions: ["end", "stop"] }, { target: "linking" }],
        "effect.ended": [
          { guard: "isLinked", target: "connected", actions: "keepLinked" },
          { guard: "isLinkedInVain", target: "revoking", actions: "end" },
          { guard: "isExchange", target: "none", actions: ["failExchange", "stop"] },
          { target: "linking" },
        ],
      },
    },
    connected: {
      on: {
        ...linkAndAskTransitions("connected"),
        ...endTransitions("connected"),
        "effect.ended": [...exchangeTransitions("connected"), { target: "connected" }],
        woken: [
          { guard: "hasNothingToRenewWith", target: "broken", actions: "breakDown" },
          { target: "refreshing", actions: "renew" },
        ],
      },
    },
    refreshing: {
      on: {
        ...linkAndAskTransitions("refreshing"),
        ...endTransitions("refreshing"),
        "effect.ended": [
          ...exchangeTransitions("refreshing"),
          { guard: "isRefreshed", target: "connected", actions: "keepLinked" },
          { guard: "isRefusedForGood", target: "broken", actions: "breakDown" },
          { guard: "isRefresh", target: "refreshing", actions: "retryLater" },
          { target: "refreshing" },
        ],
        woken: { target: "refreshing", actions: "renew" },
      },
    },
    broken: {
      on: {
        ...linkAndAskTransitions("broken"),
        "connection.disconnect": [
          { guard: "mayDisconnect", target: "none", actions: ["end", "stop"] },
          { target: "broken", actions: "refuse" },
        ],
        "connection.check": [{ guard: "isOver", target: "none", actions: ["end", "stop"] }, { target: "broken" }],
        "effect.ended": [...exchangeTransitions("broken"), { target: "broken" }],
      },
    },
    revoking: {
      on: {
        "connection.link": [
          { guard: "mayLink", target: "linking", actions: "beginExchange" },
          { target: "revoking", actions: "refuse" },
        ],
        "connection.disconnect": { target: "revoking", actions: "refuse" },
        "connection.check": [{ guard: "isOver", target: "revoking", actions: "forget" }, { target: "revoking" }],
        "connection.ask": [
          { guard: "mayAsk", target: "revoking", actions: "setAsks" },
          { target: "revoking", actions: "refuse" },
        ],
        "effect.ended": [
          { guard: "isLastRevoked", target: "none", actions: "stop" },
          { target: "revoking", actions: "countRevoked" },
        ],
      },
    },
  },
});

/** See the table above. */
export const integrationConnectionActor: ActorType = { kind: "connection", machine, version: 1 };
