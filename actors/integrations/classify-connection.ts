import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import type { PersonCaller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { IntegrationConnectionMessage, LinkConnection, SetAsks } from "./connection.messages.js";
import {
  type ConnectionHolder,
  findIntegrationConnection,
  type IntegrationConnectionRow,
  type LinkedAccount,
  newIntegrationConnection,
} from "./connection.table.js";
import { findConnectionTarget, type IntegrationConnectionKey, whyNotLinked } from "./connection-permissions.js";
import { EXCHANGE_EFFECT, type LinkOutcome, REFRESH_EFFECT } from "./oauth.effects.js";
import { isSameServer } from "./oauth-terms.js";

/** The stored state of a connection between turns. */
export interface IntegrationConnectionContext {
  readonly integrationId: string;
  readonly holder: ConnectionHolder;
  /** In progress, or null. */
  readonly exchangeId: string | null;
  /** The person whose code is being exchanged. */
  readonly linkedBy: string | null;
  readonly refreshId: string | null;
  /** Revocations that have not ended. */
  readonly revoking: number;
  /** Failed renewals since the last successful one, and the time of the first. */
  readonly failures: number;
  readonly failingSinceMs: number | null;
}

/** A message without a field that affects how it is classified. */
interface Plain<Type extends string> extends Message {
  readonly type: Type;
}

/** The caller may not, or the subject does not exist. */
export interface Refused<Type extends string> extends Answered<Refusal> {
  readonly type: Type;
  readonly refusal: Refusal;
}

export interface LinkBegun extends Omit<LinkConnection, "type"> {
  readonly type: "link.begun";
}

export interface AsksSet extends Omit<SetAsks, "type"> {
  readonly type: "asks.set";
}

/** An exchange or a renewal returned tokens. */
export interface TokensCame<Type extends string> extends Message {
  readonly type: Type;
  readonly linked: LinkedAccount;
}

/** An exchange or a renewal failed; `reason` is half a sentence for a person. */
export interface Failed<Type extends string> extends Message {
  readonly type: Type;
  readonly reason: string;
}

/** A classified message, with what was read to classify it. */
export type IntegrationConnectionEvent =
  | LinkBegun
  | Refused<"link.refused">
  | AsksSet
  | Refused<"asks.refused">
  | Plain<"disconnect.allowed">
  | Refused<"disconnect.refused">
  /** The connection may no longer exist. */
  | Plain<"check.over">
  /** The definition has another host or client than the linked tokens. */
  | Plain<"check.strange">
  | Plain<"check.kept">
  | TokensCame<"exchange.done">
  /** It succeeded, but the connection may no longer exist. */
  | TokensCame<"exchange.in-vain">
  | Failed<"exchange.failed">
  | TokensCame<"renewal.done">
  /** The host says that the grant has ended, or renewal has failed for a day; `reason` is a whole sentence. */
  | Failed<"renewal.exhausted">
  | Failed<"renewal.failed">
  | Plain<"renewal.due">
  /** The access token has expired, and nothing can renew it. */
  | Plain<"renewal.impossible">
  | Plain<"revoked.last">
  | Plain<"revoked.other">
  | EffectEnded;

/** How long renewals may fail before they are exhausted, in milliseconds. */
const MAX_RENEWAL_FAILURE_MS = 24 * 60 * 60 * 1_000;

interface ConnectionState {
  readonly value: string;
  readonly context: IntegrationConnectionContext;
}

/** Classifies each message to a connection as an event of its machine. Reads only. */
export function classifyConnection(
  message: IntegrationConnectionMessage | EffectEnded | Woken,
  { value, context }: ConnectionState,
  turn: TurnReading,
): IntegrationConnectionEvent {
  switch (message.type) {
    case "connection.link": {
      const refusal = refuseUnlessMay(context, message, turn);
      return refusal === null ? { ...message, type: "link.begun" } : { type: "link.refused", refusal };
    }
    case "connection.ask": {
      const refusal = refuseUnlessMay(context, message, turn) ?? (context.holder === "team" ? nothingHere : null);
      return refusal === null ? { ...message, type: "asks.set" } : { type: "asks.refused", refusal };
    }
    case "connection.disconnect": {
      const isNothing = value === "none" || value === "revoking";
      const refusal = refuseUnlessMay(context, message, turn) ?? (isNothing ? nothingHere : null);
      return refusal === null ? { type: "disconnect.allowed" } : { type: "disconnect.refused", refusal };
    }
    case "connection.check":
      return classifyCheck(context, turn);
    case "effect.ended":
      if (value === "revoking") return { type: context.revoking <= 1 ? "revoked.last" : "revoked.other" };
      return classifyEnded(message, context, turn);
    case "woken": {
      const canRenew = getRow(context, turn).linked?.canRenew === true;
      return { type: value === "refreshing" || canRenew ? "renewal.due" : "renewal.impossible" };
    }
    // No transition takes a message of an unknown type.
    default:
      return message;
  }
}

/** The connection's integration and holder. */
export function connectionKey(
  { integrationId, holder }: IntegrationConnectionContext,
  turn: TurnReading,
): IntegrationConnectionKey {
  return { workspaceId: turn.self.partition, integrationId, holder };
}

/** Its row, or the empty row of a connection that does not exist yet. */
export function getRow(context: IntegrationConnectionContext, turn: TurnReading): IntegrationConnectionRow {
  const { integrationId, holder } = context;
  return (
    findIntegrationConnection(turn, turn.self.partition, integrationId, holder) ??
    newIntegrationConnection(integrationId, holder)
  );
}

const nothingHere: Refusal = { refused: "conflict", detail: "No account is connected here." };

function refuseUnlessMay(
  context: IntegrationConnectionContext,
  { caller }: { readonly caller: PersonCaller },
  turn: TurnReading,
): Refusal | null {
  return whyNotLinked(turn, caller, connectionKey(context, turn));
}

function classifyCheck(context: IntegrationConnectionContext, turn: TurnReading): IntegrationConnectionEvent {
  const target = findConnectionTarget(turn, connectionKey(context, turn));
  if (target === null) return { type: "check.over" };
  const { linked } = getRow(context, turn);
  return { type: linked === null || isSameServer(linked.terms, target.oauth2) ? "check.kept" : "check.strange" };
}

function classifyEnded(
  message: EffectEnded,
  context: IntegrationConnectionContext,
  turn: TurnReading,
): IntegrationConnectionEvent {
  if (isResultOf(EXCHANGE_EFFECT, message) && message.id === context.exchangeId) {
    const outcome = toLinkOutcome(message);
    if (!outcome.ok) return { type: "exchange.failed", reason: outcome.reason };
    const isOver = findConnectionTarget(turn, connectionKey(context, turn)) === null;
    return { type: isOver ? "exchange.in-vain" : "exchange.done", linked: toLinked(outcome) };
  }
  if (isResultOf(REFRESH_EFFECT, message) && message.id === context.refreshId) {
    const outcome = toLinkOutcome(message);
    if (outcome.ok) return { type: "renewal.done", linked: toLinked(outcome) };
    const { isFinal, reason } = outcome;
    if (isFinal) return { type: "renewal.exhausted", reason: `The access is renewed no more: ${reason}.` };
    return turn.now - (context.failingSinceMs ?? turn.now) >= MAX_RENEWAL_FAILURE_MS
      ? { type: "renewal.exhausted", reason: `The access could not be renewed for a day: ${reason}.` }
      : { type: "renewal.failed", reason };
  }
  return message;
}

function toLinkOutcome({ result }: EffectEnded<LinkOutcome>): LinkOutcome {
  return result.ok ? result.output : { ok: false, isFinal: false, reason: "it went wrong" };
}

function toLinked({ ok: _ok, ...linked }: Extract<LinkOutcome, { readonly ok: true }>): LinkedAccount {
  return linked;
}
