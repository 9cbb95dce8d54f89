/** What the transitions of a connection do (`connection.machine.ts` has the table of when). */
import type { Delivered, EffectEnded, Message, Turn, Woken } from "../../runtime/turn.js";
import type { PersonCaller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import {
  type ConnectionHolder,
  findIntegrationConnection,
  type IntegrationConnectionRow,
  type LinkedAccount,
  newIntegrationConnection,
  removeIntegrationConnection,
  storeIntegrationConnection,
} from "./connection.table.js";
import { findConnectionTarget, type IntegrationConnectionKey, whyNotLinked } from "./connection-permissions.js";
import { EXCHANGE_EFFECT, type LinkOutcome, REFRESH_EFFECT, REVOKE_EFFECT } from "./oauth.effects.js";
import { isSameServer } from "./oauth-terms.js";

/** A person came back with a code. Accepted, its end is told on the connection's topic as a {@link LinkEnded}. */
export interface LinkConnection extends Message {
  readonly type: "connection.link";
  readonly caller: PersonCaller;
  readonly exchangeId: string;
  readonly sealedGrant: string;
}

export interface Disconnect extends Message {
  readonly type: "connection.disconnect";
  readonly caller: PersonCaller;
}

/** Sets which tools a person wants to be asked about before calls with their own connection. */
export interface SetAsks extends Message {
  readonly type: "connection.ask";
  readonly caller: PersonCaller;
  readonly tools: readonly string[];
}

/** What the connection is of may have changed: the integration, its team's people, the workspace. */
export interface CheckConnection extends Message {
  readonly type: "connection.check";
}

/** What is told of an exchange on {@link integrationConnectionTopic}. */
export interface LinkEnded {
  readonly exchangeId: string;
  /** Why it failed, or null. */
  readonly failed: string | null;
}

export interface IntegrationConnectionContext {
  readonly integrationId: string;
  readonly holder: ConnectionHolder;
  /** Under way, or null. */
  readonly exchangeId: string | null;
  /** Who brought the code that is exchanged. */
  readonly linkedBy: string | null;
  readonly refreshId: string | null;
  /** Revocations whose end is waited for. */
  readonly revoking: number;
  /** Renewals that failed since the last that did not, and when the first of them did. */
  readonly failures: number;
  readonly failingSinceMs: number | null;
}

/** What a connection begins with, and ends with. */
export const idleContext: Omit<IntegrationConnectionContext, "integrationId" | "holder"> = {
  ...{ exchangeId: null, linkedBy: null, refreshId: null, revoking: 0, failures: 0, failingSinceMs: null },
};

export type IntegrationConnectionEvent = Delivered<
  LinkConnection | Disconnect | SetAsks | CheckConnection | EffectEnded | Woken
>;

/** Access is renewed so long before its end, in milliseconds, or a fifth of its time where that is sooner. */
const RENEW_BEFORE_MS = 5 * 60 * 1_000;
/** Shortest time between two renewals, in milliseconds, however short the access is. */
const MIN_RENEWAL_INTERVAL_MS = 30_000;
/** Waits after failed renewals, in milliseconds; the last one is for all that follow. */
const RETRY_MS = [10_000, 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000];
/** Renewals that fail for so long, in milliseconds, are given up. */
const MAX_RENEWAL_FAILURE_MS = 24 * 60 * 60 * 1_000;

/** The topic of the workspace's feed on which the ends of exchanges are told; no stream serves it. */
export function integrationConnectionTopic({
  integrationId,
  holder,
}: Omit<IntegrationConnectionKey, "workspaceId">): string {
  return `connection/${integrationId}:${holder}`;
}

function connectionKey({ integrationId, holder }: IntegrationConnectionContext, turn: Turn): IntegrationConnectionKey {
  return { workspaceId: turn.self.partition, integrationId, holder };
}

function getRow(context: IntegrationConnectionContext, turn: Turn): IntegrationConnectionRow {
  const { integrationId, holder } = context;
  return (
    findIntegrationConnection(turn, turn.self.partition, integrationId, holder) ??
    newIntegrationConnection(integrationId, holder)
  );
}

function storeRow(turn: Turn, row: IntegrationConnectionRow): void {
  if (row.state === "none" && row.asks.length === 0) removeIntegrationConnection(turn, turn.self.partition, row);
  else storeIntegrationConnection(turn, turn.self.partition, row);
}

function toLinkOutcome({ result }: EffectEnded): LinkOutcome {
  if (result.ok) return result.output as LinkOutcome;
  return { ok: false, isFinal: false, reason: "it went wrong" };
}

/** The outcome of the effect under way with this id, or null for any other message. */
function findEffectOutcome(event: IntegrationConnectionEvent, effectId: string | null): LinkOutcome | null {
  return event.type === "effect.ended" && event.id === effectId ? toLinkOutcome(event) : null;
}

export function mayLink(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  if (event.type !== "connection.link") return false;
  return whyNotLinked(event.turn, event.caller, connectionKey(context, event.turn)) === null;
}

export function mayAsk(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  if (event.type !== "connection.ask" || context.holder === "team") return false;
  return whyNotLinked(event.turn, event.caller, connectionKey(context, event.turn)) === null;
}

export function mayDisconnect(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  if (event.type !== "connection.disconnect") return false;
  return whyNotLinked(event.turn, event.caller, connectionKey(context, event.turn)) === null;
}

/** Answers why the caller may not, or that there is nothing to do it to. */
export function refuse(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): void {
  if (!("caller" in event)) return;
  const refusal: Refusal = whyNotLinked(event.turn, event.caller, connectionKey(context, event.turn)) ?? {
    refused: "conflict",
    detail: "No account is connected here.",
  };
  event.turn.reply(refusal);
}

/** Whether the connection may not be any more. */
export function isOver(context: IntegrationConnectionContext, { turn }: IntegrationConnectionEvent): boolean {
  return findConnectionTarget(turn, connectionKey(context, turn)) === null;
}

/** Whether the definition has another host or client than what is linked. */
export function isOfOtherServer(context: IntegrationConnectionContext, { turn }: IntegrationConnectionEvent): boolean {
  const standing = findConnectionTarget(turn, connectionKey(context, turn));
  const { linked } = getRow(context, turn);
  return standing !== null && linked !== null && !isSameServer(linked.terms, standing.oauth2);
}

export function isExchange({ exchangeId }: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  return findEffectOutcome(event, exchangeId) !== null;
}

export function isLinked({ exchangeId }: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  return findEffectOutcome(event, exchangeId)?.ok === true;
}

export function isRefresh({ refreshId }: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  return findEffectOutcome(event, refreshId) !== null;
}

export function isRefreshed({ refreshId }: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  return findEffectOutcome(event, refreshId)?.ok === true;
}

/** Whether a renewal is given up: the host says that the grant is over, or it failed for too long. */
export function isRefusedForGood(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): boolean {
  const outcome = findEffectOutcome(event, context.refreshId);
  if (outcome === null || outcome.ok) return false;
  const sinceMs = context.failingSinceMs ?? event.turn.now;
  return outcome.isFinal || event.turn.now - sinceMs >= MAX_RENEWAL_FAILURE_MS;
}

export function hasNothingToRenewWith(
  context: IntegrationConnectionContext,
  { turn }: IntegrationConnectionEvent,
): boolean {
  return getRow(context, turn).linked?.canRenew !== true;
}

/** Whether no other revocation is waited for. */
export function isLastRevoked({ revoking }: IntegrationConnectionContext): boolean {
  return revoking <= 1;
}

/** Exchanges a code; one that came before and is still under way is told as failed, and forgotten. */
export function beginExchange(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  if (event.type !== "connection.link") return context;
  const { turn, exchangeId, sealedGrant } = event;
  if (context.exchangeId !== null) {
    turn.cancelEffect(context.exchangeId);
    publishLinkEnd(turn, context, "another link took its place");
  }
  turn.start(EXCHANGE_EFFECT.request(exchangeId, { ...connectionKey(context, turn), sealedGrant }));
  const row = getRow(context, turn);
  if (row.state === "none") storeRow(turn, { ...row, state: "linking", connectedBy: event.caller.userId });
  return { ...context, exchangeId, linkedBy: event.caller.userId };
}

/** Tells why an exchange failed; what was connected before stays. */
export function failExchange(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  const outcome = findEffectOutcome(event, context.exchangeId);
  const { turn } = event;
  publishLinkEnd(turn, context, outcome === null || outcome.ok ? "it went wrong" : outcome.reason);
  const row = getRow(context, turn);
  if (row.state === "linking") storeRow(turn, { ...row, state: "none", connectedBy: null });
  return { ...context, exchangeId: null, linkedBy: null };
}

/** Keeps new tokens, of an exchange or a renewal, and has itself woken to renew them. */
export function storeTokens(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  const { turn } = event;
  const exchanged = findEffectOutcome(event, context.exchangeId);
  const outcome = exchanged ?? findEffectOutcome(event, context.refreshId);
  if (outcome === null || !outcome.ok) return context;
  const { ok: _ok, ...linked } = outcome;
  if (exchanged !== null && context.refreshId !== null) turn.cancelEffect(context.refreshId);
  const at = new Date(turn.now).toISOString();
  const since =
    exchanged === null
      ? { renewedAt: at }
      : { account: linked.account, connectedBy: context.linkedBy, connectedAt: at, renewedAt: null };
  storeIntegrationConnection(turn, turn.self.partition, {
    ...getRow(context, turn),
    ...since,
    ...{ state: "connected", linked, problem: null },
  });
  if (exchanged !== null) publishLinkEnd(turn, context, null);
  wakeToRenew(turn, linked);
  const settled = { ...context, refreshId: null, failures: 0, failingSinceMs: null };
  return exchanged === null ? settled : { ...settled, exchangeId: null, linkedBy: null };
}

/** Asks for new tokens, unless that is under way. */
export function renew(
  context: IntegrationConnectionContext,
  { turn }: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  if (context.refreshId !== null) return context;
  const refreshId = turn.newId("renew");
  turn.start(REFRESH_EFFECT.request(refreshId, connectionKey(context, turn)));
  storeIntegrationConnection(turn, turn.self.partition, { ...getRow(context, turn), state: "refreshing" });
  return { ...context, refreshId };
}

export function retryLater(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  const { turn } = event;
  const outcome = findEffectOutcome(event, context.refreshId);
  const reason = outcome === null || outcome.ok ? "it went wrong" : outcome.reason;
  const waitMs = RETRY_MS[Math.min(context.failures, RETRY_MS.length - 1)] ?? 0;
  turn.wake(RENEW, turn.now + waitMs);
  storeIntegrationConnection(turn, turn.self.partition, {
    ...getRow(context, turn),
    problem: `The access could not be renewed yet: ${reason}.`,
  });
  const failingSinceMs = context.failingSinceMs ?? turn.now;
  return { ...context, refreshId: null, failures: context.failures + 1, failingSinceMs };
}

/** Lets the tokens go: the account has to be connected again. */
export function markBroken(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  const { turn } = event;
  const row = getRow(context, turn);
  if (event.type === "connection.check" && row.linked !== null) startRevoking(turn, row.linked);
  if (context.refreshId !== null) turn.cancelEffect(context.refreshId);
  turn.cancelWake(RENEW);
  const problem = `${whyBroken(context, event)} Connect the account again.`;
  storeIntegrationConnection(turn, turn.self.partition, { ...row, state: "broken", linked: null, problem });
  return { ...context, refreshId: null, failures: 0, failingSinceMs: null };
}

function whyBroken({ refreshId }: IntegrationConnectionContext, event: IntegrationConnectionEvent): string {
  if (event.type === "woken") return "The access has run out, and the host gave nothing to renew it with.";
  const outcome = findEffectOutcome(event, refreshId);
  if (outcome === null || outcome.ok) return "The integration has another host or client now.";
  return outcome.isFinal
    ? `The access is renewed no more: ${outcome.reason}.`
    : `The access could not be renewed for a day: ${outcome.reason}.`;
}

/** Ends the connection and has the host forget its tokens, those included that have only now come. */
export function endConnection(
  context: IntegrationConnectionContext,
  event: IntegrationConnectionEvent,
): IntegrationConnectionContext {
  const { turn } = event;
  const { workspaceId } = connectionKey(context, turn);
  const row = getRow(context, turn);
  const come = findEffectOutcome(event, context.exchangeId);
  const given = [row.linked, come?.ok === true ? come : null].filter((linked) => linked !== null);
  for (const linked of given) startRevoking(turn, linked);
  for (const effectId of [context.exchangeId, context.refreshId]) {
    if (effectId !== null && !(event.type === "effect.ended" && event.id === effectId)) turn.cancelEffect(effectId);
  }
  if (context.exchangeId !== null) publishLinkEnd(turn, context, "it was disconnected meanwhile");
  turn.cancelWake(RENEW);
  // What a person has set outlasts their disconnecting, not their leaving.
  const asks = event.type === "connection.disconnect" ? row.asks : [];
  const { integrationId, holder } = context;
  if (asks.length === 0) removeIntegrationConnection(turn, workspaceId, context);
  else storeIntegrationConnection(turn, workspaceId, { ...newIntegrationConnection(integrationId, holder), asks });
  return { ...context, ...idleContext, revoking: given.length };
}

export function countRevoked(context: IntegrationConnectionContext): IntegrationConnectionContext {
  return { ...context, revoking: context.revoking - 1 };
}

/** Lets go what a person has set. */
export function removeSettings(context: IntegrationConnectionContext, { turn }: IntegrationConnectionEvent): void {
  removeIntegrationConnection(turn, turn.self.partition, context);
}

export function setAsks(context: IntegrationConnectionContext, event: IntegrationConnectionEvent): void {
  if (event.type !== "connection.ask") return;
  storeRow(event.turn, { ...getRow(context, event.turn), asks: [...event.tools].sort() });
}

const RENEW = "renew";

/** Without a time there is nothing to renew; what cannot be renewed is looked at when it runs out. */
function wakeToRenew(turn: Turn, { expiresAtMs, canRenew }: LinkedAccount): void {
  if (expiresAtMs === null) {
    turn.cancelWake(RENEW);
    return;
  }
  const aheadMs = canRenew ? Math.min(RENEW_BEFORE_MS, (expiresAtMs - turn.now) / 5) : 0;
  turn.wake(RENEW, Math.max(Math.floor(expiresAtMs - aheadMs), turn.now + MIN_RENEWAL_INTERVAL_MS));
}

function startRevoking(turn: Turn, { sealed, terms }: LinkedAccount): void {
  turn.start(REVOKE_EFFECT.request(turn.newId("revoke"), { workspaceId: turn.self.partition, sealed, terms }));
}

function publishLinkEnd(turn: Turn, context: IntegrationConnectionContext, failed: string | null): void {
  if (context.exchangeId === null) return;
  const told: LinkEnded = { exchangeId: context.exchangeId, failed };
  turn.publishChange(integrationConnectionTopic(context), told);
}
