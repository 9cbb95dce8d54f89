/**
 * An account that is linked to an integration, `connection/<integration>:<holder>`. The holder is `team` or a user id.
 * Other actors read its row. Only that row holds tokens, sealed.
 *
 * 1. At most one exchange and one renewal run at a time, so a code or refresh token is never sent twice concurrently.
 * 2. An exchange leaves the earlier connection unchanged until it has succeeded.
 * 3. A connection has no tokens if it is broken or no longer permitted (see `findConnectionTarget`).
 *
 * In the table, `active` means linking, connected, refreshing or broken.
 *
 * | state       | event (message)                                   | next       | also                               |
 * |-------------|---------------------------------------------------|------------|------------------------------------|
 * | none        | link.begun (connection.link, permitted)           | linking    | exchanges the code                 |
 * | active      | link.begun                                        | same       | exchanges the code; cancels an     |
 * |             |                                                   |            | exchange in progress               |
 * | revoking    | link.begun                                        | linking    | exchanges the code                 |
 * | linking     | exchange.failed (effect.ended)                    | none       | publishes the reason; stops        |
 * | connected,  | exchange.failed                                   | same       | publishes the reason               |
 * | refreshing, |                                                   |            |                                    |
 * | broken      |                                                   |            |                                    |
 * | active      | exchange.done (effect.ended)                      | connected  | stores the tokens; sets the        |
 * |             |                                                   |            | wake-up for the renewal            |
 * | active      | exchange.in-vain (effect.ended, if the connection | revoking   | revokes the tokens at the host     |
 * |             | is no longer permitted)                           |            |                                    |
 * | connected   | renewal.due (woken `renew`)                       | refreshing | requests new tokens                |
 * | connected   | renewal.impossible (woken `renew`, without a      | broken     | removes the tokens                 |
 * |             | refresh token)                                    |            |                                    |
 * | refreshing  | renewal.done (effect.ended)                       | connected  | stores the tokens; sets the        |
 * |             |                                                   |            | wake-up for the renewal            |
 * | refreshing  | renewal.exhausted (effect.ended, refused for good | broken     | removes the tokens                 |
 * |             | or failing for a day)                             |            |                                    |
 * | refreshing  | renewal.failed (effect.ended)                     | refreshing | sets the wake-up for a retry       |
 * | refreshing  | renewal.due                                       | refreshing | requests new tokens again          |
 * | connected,  | check.strange (connection.check, if the host or   | broken     | removes the tokens, and revokes    |
 * | refreshing  | client changed)                                   |            | them at the host                   |
 * | connected,  | disconnect.allowed (connection.disconnect);       | revoking   | removes the tokens, and revokes    |
 * | refreshing  | check.over (connection.check, if the connection   |            | them at the host                   |
 * |             | is no longer permitted)                           |            |                                    |
 * | linking,    | disconnect.allowed, check.over                    | none       | stops                              |
 * | broken      |                                                   |            |                                    |
 * | none,       | check.over                                        | same       | removes the user's settings        |
 * | revoking    |                                                   |            |                                    |
 * | revoking    | revoked.other (effect.ended)                      | revoking   | waits for the other revocations    |
 * | revoking    | revoked.last (effect.ended)                       | none       | stops                              |
 * | any         | asks.set (connection.ask, by the owner)           | same       | stores which tools need approval   |
 * | any         | link.refused, disconnect.refused, asks.refused    | same       | replies with the refusal           |
 * | any         | check.kept                                        | same       |                                    |
 * | active      | effect.ended of an obsolete effect                | same       |                                    |
 */
import { createChart, type InTurn, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../runtime/turns/turn.js";
import type { PersonCaller } from "../caller.js";
import { answerRefusal, type Refusal, toRefused } from "../refusal.js";
import type { LinkedAccount } from "./connection.js";
import { type IntegrationConnectionMessage, integrationConnectionRef, parseActorId } from "./connection.messages.js";
import {
  beginExchange,
  breakStrange,
  connectionKey,
  countRevoked,
  disconnect,
  endInVain,
  endOver,
  failExchange,
  getRow,
  type IntegrationConnectionContext,
  idleContext,
  markBroken,
  removeSettings,
  renew,
  retryLater,
  setAsks,
  storeExchanged,
  storeRenewed,
} from "./connection.transitions.js";
import { findConnectionTarget, whyNotLinked } from "./connection-permissions.js";
import { EXCHANGE_EFFECT, type LinkOutcome, REFRESH_EFFECT } from "./oauth.effects.js";
import { isSameServer } from "./oauth-terms.js";

const { on, machine } = createChart<IntegrationConnectionContext, ReturnType<typeof classifyConnection>>();

/** Transitions of every state except `none`. */
const always = {
  ...on("link.refused", answerRefusal),
  ...on("disconnect.refused", answerRefusal),
  ...on("asks.set", setAsks),
  ...on("asks.refused", answerRefusal),
  ...on("check.kept"),
};

/** Transitions for a new exchange, which runs in parallel with the existing connection. */
const exchanging = {
  ...always,
  ...on("link.begun", beginExchange),
  ...on("exchange.done", "connected", storeExchanged),
  ...on("exchange.in-vain", "revoking", endInVain),
  ...on("exchange.failed", failExchange),
  ...on("effect.ended"),
};

/** Transitions of a connection that has tokens. */
const linked = {
  ...exchanging,
  ...on("disconnect.allowed", "revoking", disconnect),
  ...on("check.over", "revoking", endOver),
  ...on("check.strange", "broken", breakStrange),
};

/** Transitions of a connection without tokens. */
const unlinked = {
  ...exchanging,
  ...on("disconnect.allowed", "none", disconnect, stop),
  ...on("check.over", "none", endOver, stop),
};

const connectionMachine = machine({
  id: "connection",
  context: ({ input }) => ({ ...parseActorId(input.id), ...idleContext }),
  initial: "none",
  states: {
    none: {
      on: {
        ...on("link.begun", "linking", beginExchange),
        ...on("link.refused", answerRefusal, stop),
        ...on("disconnect.refused", answerRefusal, stop),
        ...on("check.over", endOver, stop),
        ...on("check.kept", stop),
        ...on("asks.set", setAsks, stop),
        ...on("asks.refused", answerRefusal, stop),
      },
    },
    linking: { on: { ...unlinked, ...on("exchange.failed", "none", failExchange, stop) } },
    connected: {
      on: {
        ...linked,
        ...on("renewal.due", "refreshing", renew),
        ...on("renewal.impossible", "broken", ({ turn }, context) =>
          markBroken(turn, context, "The access token has expired, and the host issued no refresh token."),
        ),
      },
    },
    refreshing: {
      on: {
        ...linked,
        ...on("renewal.done", "connected", storeRenewed),
        ...on("renewal.exhausted", "broken", ({ turn, reason }, context) => markBroken(turn, context, reason)),
        ...on("renewal.failed", retryLater),
        ...on("renewal.due", renew),
      },
    },
    broken: { on: unlinked },
    revoking: {
      on: {
        ...always,
        ...on("link.begun", "linking", beginExchange),
        ...on("check.over", removeSettings),
        ...on("revoked.last", "none", stop),
        ...on("revoked.other", countRevoked),
      },
    },
  },
});

function stop({ turn }: InTurn): void {
  turn.stop();
}

/** See the table above. */
export const integrationConnectionActor = defineActor(integrationConnectionRef, {
  machine: connectionMachine,
  classify: classifyConnection,
  version: 1,
});

/** How long renewals can keep failing before the connection is broken, in milliseconds. */
const MAX_RENEWAL_FAILURE_MS = 24 * 60 * 60 * 1_000;

/** Classifies each message to a connection as an event of its machine. Only reads. */
function classifyConnection(
  message: IntegrationConnectionMessage | EffectEnded | Woken,
  { value, context }: { readonly value: string; readonly context: IntegrationConnectionContext },
  turn: TurnReading,
) {
  switch (message.type) {
    case "connection.link": {
      const refusal = refuseUnlessMay(context, message, turn);
      return refusal === null ? toEvent("link.begun", message) : toRefused("link.refused", refusal);
    }
    case "connection.ask": {
      const refusal = refuseUnlessMay(context, message, turn) ?? (context.holder === "team" ? nothingHere : null);
      return refusal === null ? toEvent("asks.set", message) : toRefused("asks.refused", refusal);
    }
    case "connection.disconnect": {
      const isNothing = value === "none" || value === "revoking";
      const refusal = refuseUnlessMay(context, message, turn) ?? (isNothing ? nothingHere : null);
      return refusal === null ? toEvent("disconnect.allowed") : toRefused("disconnect.refused", refusal);
    }
    case "connection.check":
      return classifyCheck(context, turn);
    case "effect.ended":
      if (value === "revoking") return toEvent(context.revoking <= 1 ? "revoked.last" : "revoked.other");
      return classifyEnded(message, context, turn);
    case "woken": {
      const canRenew = getRow(context, turn).linked?.canRenew === true;
      return toEvent(value === "refreshing" || canRenew ? "renewal.due" : "renewal.impossible");
    }
    // No transition handles a message of an unknown type.
    default:
      return message;
  }
}

const nothingHere: Refusal = { refused: "conflict", detail: "No account is connected here." };

function refuseUnlessMay(
  context: IntegrationConnectionContext,
  { caller }: { readonly caller: PersonCaller },
  turn: TurnReading,
): Refusal | null {
  return whyNotLinked(turn, caller, connectionKey(context, turn));
}

/**
 * Classifies a check of the connection:
 *
 * - `over`: the connection is no longer permitted.
 * - `strange`: its tokens belong to a host or client other than the definition's.
 * - `kept`: anything else.
 */
function classifyCheck(context: IntegrationConnectionContext, turn: TurnReading) {
  const target = findConnectionTarget(turn, connectionKey(context, turn));
  if (target === null) return toEvent("check.over");
  const { linked: account } = getRow(context, turn);
  const isUnchanged = account === null || isSameServer(account.terms, target.oauth2);
  return toEvent(isUnchanged ? "check.kept" : "check.strange");
}

/**
 * Classifies the end of an exchange or renewal. The reason for a failure is a clause for the user. If the renewal is
 * exhausted, the reason is a whole sentence instead.
 */
function classifyEnded(message: EffectEnded, context: IntegrationConnectionContext, turn: TurnReading) {
  if (isEffectResult(EXCHANGE_EFFECT, message) && message.id === context.exchangeId) {
    const outcome = toLinkOutcome(message);
    if (!outcome.ok) return toEvent("exchange.failed", { reason: outcome.reason });
    const isOver = findConnectionTarget(turn, connectionKey(context, turn)) === null;
    return toEvent(isOver ? "exchange.in-vain" : "exchange.done", { account: toAccount(outcome) });
  }
  if (isEffectResult(REFRESH_EFFECT, message) && message.id === context.refreshId) {
    const outcome = toLinkOutcome(message);
    if (outcome.ok) return toEvent("renewal.done", { account: toAccount(outcome) });
    const { isFinal, reason } = outcome;
    if (isFinal)
      return toEvent("renewal.exhausted", { reason: `The access token can no longer be renewed: ${reason}.` });
    return turn.now - (context.failingSinceMs ?? turn.now) >= MAX_RENEWAL_FAILURE_MS
      ? toEvent("renewal.exhausted", { reason: `The access token could not be renewed for a day: ${reason}.` })
      : toEvent("renewal.failed", { reason });
  }
  return message;
}

function toLinkOutcome({ result }: EffectEnded<LinkOutcome>): LinkOutcome {
  return result.ok ? result.output : { ok: false, isFinal: false, reason: "it went wrong" };
}

function toAccount({ ok: _ok, ...account }: Extract<LinkOutcome, { readonly ok: true }>): LinkedAccount {
  return account;
}
