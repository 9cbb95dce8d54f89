/** The transitions of a connection. `connection.machine.ts` lists when each transition runs. */
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { ConnectionHolder, IntegrationConnectionRow, LinkedAccount } from "./connection.js";
import { integrationConnectionTopic, type LinkConnection, type SetAsks } from "./connection.messages.js";
import {
  findIntegrationConnection,
  newIntegrationConnection,
  removeIntegrationConnection,
  storeIntegrationConnection,
} from "./connection.table.js";
import type { IntegrationConnectionKey } from "./connection-permissions.js";
import { EXCHANGE_EFFECT, REFRESH_EFFECT, REVOKE_EFFECT } from "./oauth.effects.js";

/** The stored state of a connection between turns. */
export interface IntegrationConnectionContext {
  readonly integrationId: string;
  readonly holder: ConnectionHolder;
  /** The id of the running exchange; null if none runs. */
  readonly exchangeId: string | null;
  /** The user whose code is being exchanged; null if no exchange runs. */
  readonly linkedBy: string | null;
  readonly refreshId: string | null;
  /** While the connection is revoking, the number of revocations that have not ended. */
  readonly revoking: number;
  /**
   * Number of failed renewals since the last successful renewal. `failingSinceMs` is the time of the first failed
   * renewal, in milliseconds since 1970; null if there is none.
   */
  readonly failures: number;
  readonly failingSinceMs: number | null;
}

/** An exchange or a renewal returned tokens. */
interface TokensCame extends InTurn {
  readonly account: LinkedAccount;
}

/** An exchange or a renewal failed. `reason` is a clause for the user. */
interface Failed extends InTurn {
  readonly reason: string;
}

/** Returns the key of the actor's connection. */
export function connectionKey(
  { integrationId, holder }: IntegrationConnectionContext,
  turn: TurnReading,
): IntegrationConnectionKey {
  return { workspaceId: turn.self.partition, integrationId, holder };
}

/** Returns the connection's row, or an empty row if the connection does not exist yet. */
export function getRow(context: IntegrationConnectionContext, turn: TurnReading): IntegrationConnectionRow {
  const { integrationId, holder } = context;
  return (
    findIntegrationConnection(turn, turn.self.partition, integrationId, holder) ??
    newIntegrationConnection(integrationId, holder)
  );
}

/** The initial and final state of a connection. */
export const idleContext: Omit<IntegrationConnectionContext, "integrationId" | "holder"> = {
  exchangeId: null,
  linkedBy: null,
  refreshId: null,
  revoking: 0,
  failures: 0,
  failingSinceMs: null,
};

/**
 * Time before an access token's expiry at which the service renews the token, in milliseconds. If a fifth of the
 * token's lifetime is less, the service uses that fifth instead.
 */
const RENEW_BEFORE_MS = 5 * 60 * 1_000;
/**
 * Minimum time between the arrival of tokens and their renewal, in milliseconds. Applies even if the tokens expire
 * earlier.
 */
const MIN_RENEWAL_INTERVAL_MS = 30_000;
/** Waits after failed renewals, in milliseconds. The last wait repeats. */
const RETRY_MS = [10_000, 60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000];

function storeRow(turn: Turn, row: IntegrationConnectionRow): void {
  if (row.state === "none" && row.asks.length === 0) removeIntegrationConnection(turn, turn.self.partition, row);
  else storeIntegrationConnection(turn, turn.self.partition, row);
}

/** Starts to exchange a code. If another exchange is in progress, cancels that exchange and reports it as failed. */
export function beginExchange(
  { turn, exchangeId, sealedGrant, caller }: Omit<LinkConnection, "type"> & InTurn,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  if (context.exchangeId !== null) {
    turn.cancelEffect(context.exchangeId);
    publishLinkEnd(turn, context, "a newer link replaced it");
  }
  turn.start(EXCHANGE_EFFECT.request(exchangeId, { ...connectionKey(context, turn), sealedGrant }));
  const row = getRow(context, turn);
  if (row.state === "none") storeRow(turn, { ...row, state: "linking", connectedBy: caller.userId });
  return { ...context, exchangeId, linkedBy: caller.userId };
}

/** Reports why an exchange failed. The earlier connection stays. */
export function failExchange(
  { turn, reason }: Failed,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  publishLinkEnd(turn, context, reason);
  const row = getRow(context, turn);
  if (row.state === "linking") storeRow(turn, { ...row, state: "none", connectedBy: null });
  return { ...context, exchangeId: null, linkedBy: null };
}

/** Stores the tokens of an exchange. */
export function storeExchanged(
  { turn, account: linked }: TokensCame,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  if (context.refreshId !== null) turn.cancelEffect(context.refreshId);
  const connectedAt = new Date(turn.now).toISOString();
  const since = { account: linked.account, connectedBy: context.linkedBy, connectedAt, renewedAt: null };
  storeTokens(turn, { ...getRow(context, turn), ...since }, linked);
  publishLinkEnd(turn, context, null);
  return { ...context, exchangeId: null, linkedBy: null, refreshId: null, failures: 0, failingSinceMs: null };
}

/** Stores the tokens of a renewal. */
export function storeRenewed(
  { turn, account: linked }: TokensCame,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  storeTokens(turn, { ...getRow(context, turn), renewedAt: new Date(turn.now).toISOString() }, linked);
  return { ...context, refreshId: null, failures: 0, failingSinceMs: null };
}

/** Stores new tokens, and sets the wake-up to renew them. */
function storeTokens(turn: Turn, row: IntegrationConnectionRow, linked: LinkedAccount): void {
  storeIntegrationConnection(turn, turn.self.partition, { ...row, state: "connected", linked, problem: null });
  wakeToRenew(turn, linked);
}

/** Requests new tokens, unless a renewal is in progress. */
export function renew({ turn }: InTurn, context: IntegrationConnectionContext): IntegrationConnectionContext {
  if (context.refreshId !== null) return context;
  const refreshId = turn.newId("renew");
  turn.start(REFRESH_EFFECT.request(refreshId, connectionKey(context, turn)));
  storeIntegrationConnection(turn, turn.self.partition, { ...getRow(context, turn), state: "refreshing" });
  return { ...context, refreshId };
}

export function retryLater(
  { turn, reason }: Failed,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  const waitMs = RETRY_MS[Math.min(context.failures, RETRY_MS.length - 1)] ?? 0;
  turn.wake(RENEW, turn.now + waitMs);
  storeIntegrationConnection(turn, turn.self.partition, {
    ...getRow(context, turn),
    problem: `The last attempt to renew the access token failed: ${reason}.`,
  });
  const failingSinceMs = context.failingSinceMs ?? turn.now;
  return { ...context, refreshId: null, failures: context.failures + 1, failingSinceMs };
}

/**
 * Breaks a connection whose tokens belong to a host or client other than the current definition's. Revokes the tokens
 * at the host that issued them.
 */
export function breakStrange({ turn }: InTurn, context: IntegrationConnectionContext): IntegrationConnectionContext {
  const { linked } = getRow(context, turn);
  if (linked !== null) startRevoking(turn, linked);
  return markBroken(turn, context, "The integration's OAuth host or client has changed.");
}

/** Removes the tokens. The user must connect the account again. `why` is a sentence. */
export function markBroken(
  turn: Turn,
  context: IntegrationConnectionContext,
  why: string,
): IntegrationConnectionContext {
  if (context.refreshId !== null) turn.cancelEffect(context.refreshId);
  turn.cancelWake(RENEW);
  const problem = `${why} Connect the account again.`;
  const row = getRow(context, turn);
  storeIntegrationConnection(turn, turn.self.partition, { ...row, state: "broken", linked: null, problem });
  return { ...context, refreshId: null, failures: 0, failingSinceMs: null };
}

/** Ends the connection and revokes its tokens at the host. The user's settings stay. */
export function disconnect({ turn }: InTurn, context: IntegrationConnectionContext): IntegrationConnectionContext {
  return end(context, turn, { asks: getRow(context, turn).asks, came: null });
}

/** Ends a connection that is no longer permitted. Also removes the user's settings. */
export function endOver({ turn }: InTurn, context: IntegrationConnectionContext): IntegrationConnectionContext {
  return end(context, turn, { asks: [], came: null });
}

/**
 * Ends a connection that stopped being permitted during an exchange. Also revokes the tokens that the exchange
 * returned.
 */
export function endInVain(
  { turn, account: linked }: TokensCame,
  context: IntegrationConnectionContext,
): IntegrationConnectionContext {
  return end(context, turn, { asks: [], came: linked });
}

function end(
  context: IntegrationConnectionContext,
  turn: Turn,
  { asks, came }: { readonly asks: readonly string[]; readonly came: LinkedAccount | null },
): IntegrationConnectionContext {
  const workspaceId = turn.self.partition;
  const given = [getRow(context, turn).linked, came].filter((linked) => linked !== null);
  for (const linked of given) startRevoking(turn, linked);
  // If `came` has the tokens of an exchange, that exchange has already ended and cannot be cancelled.
  const inProgress = [came === null ? context.exchangeId : null, context.refreshId];
  for (const effectId of inProgress) if (effectId !== null) turn.cancelEffect(effectId);
  if (context.exchangeId !== null) publishLinkEnd(turn, context, "it was disconnected in the meantime");
  turn.cancelWake(RENEW);
  const { integrationId, holder } = context;
  if (asks.length === 0) removeIntegrationConnection(turn, workspaceId, context);
  else storeIntegrationConnection(turn, workspaceId, { ...newIntegrationConnection(integrationId, holder), asks });
  return { ...context, ...idleContext, revoking: given.length };
}

export function countRevoked(_event: unknown, context: IntegrationConnectionContext): IntegrationConnectionContext {
  return { ...context, revoking: context.revoking - 1 };
}

/** Removes a user's settings. */
export function removeSettings({ turn }: InTurn, context: IntegrationConnectionContext): void {
  removeIntegrationConnection(turn, turn.self.partition, context);
}

export function setAsks({ turn, tools }: Pick<SetAsks, "tools"> & InTurn, context: IntegrationConnectionContext): void {
  storeRow(turn, { ...getRow(context, turn), asks: [...tools].sort() });
}

const RENEW = "renew";

/**
 * Sets the wake-up at which the token is renewed. If the token cannot be renewed, the wake-up is at its expiry. A token
 * that does not expire needs no wake-up.
 */
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
  turn.publishChange(integrationConnectionTopic(context), { exchangeId: context.exchangeId, failed });
}
