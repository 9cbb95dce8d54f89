/** What the transitions of a connection do (`connection.machine.ts` has the table of when). */
import type { Delivered, EffectEnded, Message, Turn, Woken } from "../../runtime/turn.js";
import type { PersonCaller } from "../access/caller.js";
import type { Refusal } from "../refusal.js";
import { type ConnectionPlace, standingOf, whyNotLinked } from "./connection-rights.js";
import {
  type ConnectionRow,
  connectionOf,
  type Holder,
  type Linked,
  newConnection,
  putConnection,
  removeConnection,
} from "./connection-rows.js";
import {
  EXCHANGE_EFFECT,
  type ExchangeInput,
  type LinkOutcome,
  REFRESH_EFFECT,
  REVOKE_EFFECT,
  type RevokeInput,
} from "./oauth.effects.js";
import { isSameServer } from "./oauth-terms.js";

/** A person came back with a code. Accepted, its end is told on the connection's topic as a {@link LinkTold}. */
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

/** What is told of an exchange on {@link connectionTopic}. */
export interface LinkTold {
  readonly exchangeId: string;
  /** Why it failed, or null. */
  readonly failed: string | null;
}

export interface ConnectionContext {
  readonly integrationId: string;
  readonly holder: Holder;
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
export const nothingUnderWay: Omit<ConnectionContext, "integrationId" | "holder"> = {
  ...{ exchangeId: null, linkedBy: null, refreshId: null, revoking: 0, failures: 0, failingSinceMs: null },
};

export type ConnectionEvent = Delivered<LinkConnection | Disconnect | SetAsks | CheckConnection | EffectEnded | Woken>;

/** Access is renewed so long before its end, in milliseconds, or a fifth of its time where that is sooner. */
const RENEW_BEFORE_MS = 5 * 60 * 1_000;
/** Shortest time between two renewals, in milliseconds, however short the access is. */
const RENEW_AT_MOST_EVERY_MS = 30_000;
/** Waits after failed renewals, in milliseconds; the last one is for all that follow. */
const RETRY_MS = [10_000, 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000];
/** Renewals that fail for so long, in milliseconds, are given up. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;

/** The topic of the workspace's feed on which the ends of exchanges are told; no stream serves it. */
export function connectionTopic({ integrationId, holder }: Omit<ConnectionPlace, "workspaceId">): string {
  return `connection/${integrationId}:${holder}`;
}

function placeOf({ integrationId, holder }: ConnectionContext, turn: Turn): ConnectionPlace {
  return { workspaceId: turn.self.partition, integrationId, holder };
}

function rowOf(context: ConnectionContext, turn: Turn): ConnectionRow {
  const { integrationId, holder } = context;
  return connectionOf(turn, turn.self.partition, integrationId, holder) ?? newConnection(integrationId, holder);
}

function put(turn: Turn, row: ConnectionRow): void {
  if (row.state === "none" && row.asks.length === 0) removeConnection(turn, turn.self.partition, row);
  else putConnection(turn, turn.self.partition, row);
}

function outcomeOf({ result }: EffectEnded): LinkOutcome {
  if (result.ok) return result.output as LinkOutcome;
  return { ok: false, isFinal: false, reason: "it went wrong" };
}

/** The outcome of the effect under way with this id, or null for any other message. */
function endOf(event: ConnectionEvent, effectId: string | null): LinkOutcome | null {
  return event.type === "effect.ended" && event.id === effectId ? outcomeOf(event) : null;
}

export function mayLink(context: ConnectionContext, event: ConnectionEvent): boolean {
  if (event.type !== "connection.link") return false;
  return whyNotLinked(event.turn, event.caller, placeOf(context, event.turn)) === null;
}

export function mayAsk(context: ConnectionContext, event: ConnectionEvent): boolean {
  if (event.type !== "connection.ask" || context.holder === "team") return false;
  return whyNotLinked(event.turn, event.caller, placeOf(context, event.turn)) === null;
}

export function mayDisconnect(context: ConnectionContext, event: ConnectionEvent): boolean {
  if (event.type !== "connection.disconnect") return false;
  return whyNotLinked(event.turn, event.caller, placeOf(context, event.turn)) === null;
}

/** Answers why the caller may not, or that there is nothing to do it to. */
export function refuse(context: ConnectionContext, event: ConnectionEvent): void {
  if (!("caller" in event)) return;
  const refusal: Refusal = whyNotLinked(event.turn, event.caller, placeOf(context, event.turn)) ?? {
    refused: "conflict",
    detail: "No account is connected here.",
  };
  event.turn.reply(refusal);
}

/** Whether the connection may not be any more. */
export function isOver(context: ConnectionContext, { turn }: ConnectionEvent): boolean {
  return standingOf(turn, placeOf(context, turn)) === null;
}

/** Whether the definition has another host or client than what is linked. */
export function isStrange(context: ConnectionContext, { turn }: ConnectionEvent): boolean {
  const standing = standingOf(turn, placeOf(context, turn));
  const { linked } = rowOf(context, turn);
  return standing !== null && linked !== null && !isSameServer(linked.terms, standing.oauth2);
}

export function isExchange({ exchangeId }: ConnectionContext, event: ConnectionEvent): boolean {
  return endOf(event, exchangeId) !== null;
}

export function isLinked({ exchangeId }: ConnectionContext, event: ConnectionEvent): boolean {
  return endOf(event, exchangeId)?.ok === true;
}

export function isRefresh({ refreshId }: ConnectionContext, event: ConnectionEvent): boolean {
  return endOf(event, refreshId) !== null;
}

export function isRefreshed({ refreshId }: ConnectionContext, event: ConnectionEvent): boolean {
  return endOf(event, refreshId)?.ok === true;
}

/** Whether a renewal is given up: the host says that the grant is over, or it failed for too long. */
export function isRefusedForGood(context: ConnectionContext, event: ConnectionEvent): boolean {
  const outcome = endOf(event, context.refreshId);
  if (outcome === null || outcome.ok) return false;
  const sinceMs = context.failingSinceMs ?? event.turn.now;
  return outcome.isFinal || event.turn.now - sinceMs >= GIVE_UP_MS;
}

export function hasNothingToRenewWith(context: ConnectionContext, { turn }: ConnectionEvent): boolean {
  return rowOf(context, turn).linked?.canRenew !== true;
}

/** Whether no other revocation is waited for. */
export function isLastRevoked({ revoking }: ConnectionContext): boolean {
  return revoking <= 1;
}

/** Exchanges a code; one that came before and is still under way is told as failed, and forgotten. */
export function beginExchange(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (event.type !== "connection.link") return context;
  const { turn, exchangeId, sealedGrant } = event;
  if (context.exchangeId !== null) {
    turn.cancelEffect(context.exchangeId);
    tell(turn, context, "another link took its place");
  }
  const input: ExchangeInput = { ...placeOf(context, turn), sealedGrant };
  turn.start({ name: EXCHANGE_EFFECT, id: exchangeId, input });
  const row = rowOf(context, turn);
  if (row.state === "none") put(turn, { ...row, state: "linking", connectedBy: event.caller.userId });
  return { ...context, exchangeId, linkedBy: event.caller.userId };
}

/** Tells why an exchange failed; what was connected before stays. */
export function failExchange(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const outcome = endOf(event, context.exchangeId);
  const { turn } = event;
  tell(turn, context, outcome === null || outcome.ok ? "it went wrong" : outcome.reason);
  const row = rowOf(context, turn);
  if (row.state === "linking") put(turn, { ...row, state: "none", connectedBy: null });
  return { ...context, exchangeId: null, linkedBy: null };
}

/** Keeps new tokens, of an exchange or a renewal, and has itself woken to renew them. */
export function keepLinked(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const { turn } = event;
  const exchanged = endOf(event, context.exchangeId);
  const outcome = exchanged ?? endOf(event, context.refreshId);
  if (outcome === null || !outcome.ok) return context;
  const { ok: _ok, ...linked } = outcome;
  if (exchanged !== null && context.refreshId !== null) turn.cancelEffect(context.refreshId);
  const at = new Date(turn.now).toISOString();
  const since =
    exchanged === null
      ? { renewedAt: at }
      : { account: linked.account, connectedBy: context.linkedBy, connectedAt: at, renewedAt: null };
  putConnection(turn, turn.self.partition, {
    ...rowOf(context, turn),
    ...since,
    ...{ state: "connected", linked, problem: null },
  });
  if (exchanged !== null) tell(turn, context, null);
  wakeToRenew(turn, linked);
  const settled = { ...context, refreshId: null, failures: 0, failingSinceMs: null };
  return exchanged === null ? settled : { ...settled, exchangeId: null, linkedBy: null };
}

/** Asks for new tokens, unless that is under way. */
export function renew(context: ConnectionContext, { turn }: ConnectionEvent): ConnectionContext {
  if (context.refreshId !== null) return context;
  const refreshId = turn.newId("renew");
  turn.start({ name: REFRESH_EFFECT, id: refreshId, input: placeOf(context, turn) });
  putConnection(turn, turn.self.partition, { ...rowOf(context, turn), state: "refreshing" });
  return { ...context, refreshId };
}

export function retryLater(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const { turn } = event;
  const outcome = endOf(event, context.refreshId);
  const reason = outcome === null || outcome.ok ? "it went wrong" : outcome.reason;
  const waitMs = RETRY_MS[Math.min(context.failures, RETRY_MS.length - 1)] ?? 0;
  turn.wake(RENEW, turn.now + waitMs);
  putConnection(turn, turn.self.partition, {
    ...rowOf(context, turn),
    problem: `The access could not be renewed yet: ${reason}.`,
  });
  const failingSinceMs = context.failingSinceMs ?? turn.now;
  return { ...context, refreshId: null, failures: context.failures + 1, failingSinceMs };
}

/** Lets the tokens go: the account has to be connected again. */
export function breakDown(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const { turn } = event;
  const row = rowOf(context, turn);
  if (event.type === "connection.check" && row.linked !== null) startRevoking(turn, row.linked);
  if (context.refreshId !== null) turn.cancelEffect(context.refreshId);
  turn.cancelWake(RENEW);
  const problem = `${whyBroken(context, event)} Connect the account again.`;
  putConnection(turn, turn.self.partition, { ...row, state: "broken", linked: null, problem });
  return { ...context, refreshId: null, failures: 0, failingSinceMs: null };
}

function whyBroken({ refreshId }: ConnectionContext, event: ConnectionEvent): string {
  if (event.type === "woken") return "The access has run out, and the host gave nothing to renew it with.";
  const outcome = endOf(event, refreshId);
  if (outcome === null || outcome.ok) return "The integration has another host or client now.";
  return outcome.isFinal
    ? `The access is renewed no more: ${outcome.reason}.`
    : `The access could not be renewed for a day: ${outcome.reason}.`;
}

/** Ends the connection and has the host forget its tokens, those included that have only now come. */
export function end(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const { turn } = event;
  const { workspaceId } = placeOf(context, turn);
  const row = rowOf(context, turn);
  const come = endOf(event, context.exchangeId);
  const given = [row.linked, come?.ok === true ? come : null].filter((linked) => linked !== null);
  for (const linked of given) startRevoking(turn, linked);
  for (const effectId of [context.exchangeId, context.refreshId]) {
    if (effectId !== null && !(event.type === "effect.ended" && event.id === effectId)) turn.cancelEffect(effectId);
  }
  if (context.exchangeId !== null) tell(turn, context, "it was disconnected meanwhile");
  turn.cancelWake(RENEW);
  // What a person has set outlasts their disconnecting, not their leaving.
  const asks = event.type === "connection.disconnect" ? row.asks : [];
  const { integrationId, holder } = context;
  if (asks.length === 0) removeConnection(turn, workspaceId, context);
  else putConnection(turn, workspaceId, { ...newConnection(integrationId, holder), asks });
  return { ...context, ...nothingUnderWay, revoking: given.length };
}

export function countRevoked(context: ConnectionContext): ConnectionContext {
  return { ...context, revoking: context.revoking - 1 };
}

/** Lets go what a person has set. */
export function forget(context: ConnectionContext, { turn }: ConnectionEvent): void {
  removeConnection(turn, turn.self.partition, context);
}

export function setAsks(context: ConnectionContext, event: ConnectionEvent): void {
  if (event.type !== "connection.ask") return;
  put(event.turn, { ...rowOf(context, event.turn), asks: [...event.tools].sort() });
}

const RENEW = "renew";

/** Without a time there is nothing to renew; what cannot be renewed is looked at when it runs out. */
function wakeToRenew(turn: Turn, { expiresAtMs, canRenew }: Linked): void {
  if (expiresAtMs === null) {
    turn.cancelWake(RENEW);
    return;
  }
  const aheadMs = canRenew ? Math.min(RENEW_BEFORE_MS, (expiresAtMs - turn.now) / 5) : 0;
  turn.wake(RENEW, Math.max(Math.floor(expiresAtMs - aheadMs), turn.now + RENEW_AT_MOST_EVERY_MS));
}

function startRevoking(turn: Turn, { sealed, terms }: Linked): void {
  const input: RevokeInput = { workspaceId: turn.self.partition, sealed, terms };
  turn.start({ name: REVOKE_EFFECT, id: turn.newId("revoke"), input });
}

function tell(turn: Turn, context: ConnectionContext, failed: string | null): void {
  if (context.exchangeId === null) return;
  const told: LinkTold = { exchangeId: context.exchangeId, failed };
  turn.publishChange(connectionTopic(context), told);
}
