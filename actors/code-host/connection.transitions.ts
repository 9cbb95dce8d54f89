import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import { rolePermissions } from "../access/permissions.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";
import { CONFIRMATION_EFFECT, type Confirmation, type ConfirmedInstallation } from "./confirmation.effects.js";
import { attemptTopic, type CodeHostConnectionEvent, type ConnectOutcome } from "./connection.messages.js";
import {
  type CodeHostConnection,
  findInstallationOwner,
  type InstallationKey,
  listCodeHostConnections,
  MAX_CONNECTIONS,
  parseActorId,
  removeCodeHostConnection,
  storeCodeHostConnection,
} from "./connection.table.js";
import { codeHostConnectionView } from "./connection.view.js";
import { INSTALLATION_CHECK_EFFECT, type InstallationStatus } from "./installation-check.effects.js";
import { connectedElsewhere, notAnAdministratorThere, notAWorkspaceAdministrator, notConfirmed } from "./refusals.js";

/** What the transitions of a connection do; the machine says when. */

export interface CodeHostConnectionContext extends InstallationKey {
  /** Null when it is not connected. */
  readonly connection: CodeHostConnection | null;
  /** Confirmations under way. */
  readonly attempts: readonly { readonly id: string; readonly by: string }[];
}

/** Confirmations of one installation under way at once. */
const MAX_ATTEMPTS = 5;
/** How often the code host is asked how an installation is, in milliseconds. */
export const INSTALLATION_CHECK_INTERVAL_MS = 6 * 60 * 60 * 1_000;
/** The wake-up for it. */
const CHECK = "look";

export function initialContext(actorId: string): CodeHostConnectionContext {
  return { ...parseActorId(actorId), connection: null, attempts: [] };
}

/** Has the code host asked. */
export function startConfirmation(
  context: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): CodeHostConnectionContext {
  if (event.type !== "installation.confirm") return context;
  const { turn, attemptId, by, sealedSignIn } = event;
  if (context.attempts.length >= MAX_ATTEMPTS) {
    const detail = `${context.host} is being asked about this installation already.`;
    const refusal: Refusal = { refused: "too-many-requests", detail, retryAfterSeconds: 10 };
    turn.reply(refusal);
    return context;
  }
  turn.start(CONFIRMATION_EFFECT.request(attemptId, sealedSignIn));
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** The state that a confirmation connects it in; null when it does not. */
export function findConnectedState(
  context: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): "connected" | "suspended" | null {
  if (!isConfirmation(event)) return null;
  const judged = evaluateConfirmation(context, event);
  if ("refused" in judged) return null;
  return judged.isSuspended ? "suspended" : "connected";
}

/** Connects the installation, or brings what is known of it up to date. */
export function connect(context: CodeHostConnectionContext, event: CodeHostConnectionEvent): CodeHostConnectionContext {
  if (!isConfirmation(event)) return context;
  const judged = evaluateConfirmation(context, event);
  if ("refused" in judged) return context;
  const { turn } = event;
  const { host, installationId } = context;
  const earlier = context.connection?.state === "deleted" ? null : context.connection;
  const connection: CodeHostConnection = {
    ...{ host, installationId, account: judged.account },
    state: judged.isSuspended ? "suspended" : "connected",
    connectedBy: earlier?.connectedBy ?? requesterOfAttempt(context, event.id),
    connectedAtMs: earlier?.connectedAtMs ?? turn.now,
    asOfMs: judged.updatedAtMs,
  };
  const outcome: ConnectOutcome = { connection };
  turn.publishChange(attemptTopic(event.id), outcome);
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
  return storeConnection(turn, withoutAttempt(context, event.id), connection);
}

/** Tells who waits for a confirmation why it came to nothing. */
export function publishRefusal(
  context: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): CodeHostConnectionContext {
  if (!isConfirmation(event)) return context;
  const outcome = evaluateConfirmation(context, event);
  if ("refused" in outcome) event.turn.publishChange(attemptTopic(event.id), outcome);
  return withoutAttempt(context, event.id);
}

/** The state that a change there, or a look at it, leads to; null when it changes nothing here. */
export function findNextState(
  context: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): CodeHostConnection["state"] | null {
  return findChange(context, event)?.state ?? null;
}

/** Keeps what a change there, or a look at it, led to. */
export function applyChange(
  context: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): CodeHostConnectionContext {
  const changed = findChange(context, event);
  if (changed === null) return context;
  const { turn } = event;
  if (event.type === "installation.changed") turn.reply(true);
  if (changed.state === "deleted") turn.cancelWake(CHECK);
  return storeConnection(turn, context, changed);
}

/** Has the code host asked how the installation is. */
export function startInstallationCheck(
  { connection, host, installationId }: CodeHostConnectionContext,
  { turn }: CodeHostConnectionEvent,
): void {
  if (connection === null || connection.state === "deleted") return;
  turn.start(INSTALLATION_CHECK_EFFECT.request(turn.newId("look"), { host, installationId }));
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
}

/** The connection as the code host has told of it since; null when that is nothing new. */
function findChange(
  { connection }: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): CodeHostConnection | null {
  const told = findReportedInstallation(event);
  if (told === null || connection === null || connection.state === "deleted") return null;
  if (told.state === "deleted") return { ...connection, state: "deleted" };
  // Deliveries may come in another order than they were sent in.
  if (told.asOfMs < connection.asOfMs) return null;
  const account = told.account ?? connection.account;
  const isSame = told.state === connection.state && account.login === connection.account.login;
  return isSame ? null : { ...connection, account, state: told.state, asOfMs: told.asOfMs };
}

type ReportedInstallation =
  | { readonly state: "deleted" }
  | (Pick<CodeHostConnection, "asOfMs"> & {
      readonly state: "connected" | "suspended";
      readonly account?: CodeHostConnection["account"];
    });

function findReportedInstallation(event: CodeHostConnectionEvent): ReportedInstallation | null {
  if (event.type === "installation.changed") {
    if (event.change === "deleted") return { state: "deleted" };
    return { state: event.change === "suspended" ? "suspended" : "connected", asOfMs: event.atMs };
  }
  if (event.type !== "effect.ended" || event.effect !== INSTALLATION_CHECK_EFFECT.name || !event.result.ok) return null;
  const sight = event.result.output as InstallationStatus;
  if (sight.seen === "gone") return { state: "deleted" };
  if (sight.seen === "unknown") return null;
  const { account, isSuspended, updatedAtMs } = sight.installation;
  return { state: isSuspended ? "suspended" : "connected", asOfMs: updatedAtMs, account };
}

export function mayDisconnect({ connection }: CodeHostConnectionContext, event: CodeHostConnectionEvent): boolean {
  return event.type === "installation.disconnect" && connection !== null && mayAdminister(event.turn, event.by);
}

/** Takes the connection away. */
export function disconnect(
  context: CodeHostConnectionContext,
  { turn }: CodeHostConnectionEvent,
): CodeHostConnectionContext {
  turn.reply(null);
  if (context.connection === null) return context;
  turn.cancelWake(CHECK);
  removeCodeHostConnection(turn, turn.self.partition, context);
  publishConnection(turn, context.connection, "disconnected");
  return { ...context, connection: null };
}

export function whyNotDisconnected(
  { connection, host }: CodeHostConnectionContext,
  event: CodeHostConnectionEvent,
): Refusal {
  const isAllowed = event.type === "installation.disconnect" && mayAdminister(event.turn, event.by);
  return isAllowed || connection === null ? { refused: "not-found" } : notAWorkspaceAdministrator(host);
}

function isConfirmation(event: CodeHostConnectionEvent): event is Delivered<EffectEnded> {
  return event.type === "effect.ended" && event.effect === CONFIRMATION_EFFECT.name;
}

/** What a confirmation that has ended comes to, as things are in this turn. */
function evaluateConfirmation(
  context: CodeHostConnectionContext,
  event: Delivered<EffectEnded>,
): ConfirmedInstallation | Refusal {
  const { turn, result, id } = event;
  const { host } = context;
  const workspaceId = turn.self.partition;
  if (!result.ok) return { refused: "refused-upstream", detail: `${host} could not be asked.` };
  const confirmation = result.output as Confirmation;
  if (confirmation.confirmed === "refused") return { refused: "refused-upstream", detail: confirmation.why };
  if (confirmation.confirmed === "unknown") return notConfirmed(host);
  if (confirmation.confirmed === "no") return notAnAdministratorThere(host);
  if (!mayAdminister(turn, requesterOfAttempt(context, id))) return notAWorkspaceAdministrator(host);
  const owner = findInstallationOwner(turn, context);
  if (owner !== undefined && owner !== workspaceId) return connectedElsewhere(host);
  if (context.connection === null && listCodeHostConnections(turn, workspaceId).length >= MAX_CONNECTIONS) {
    return { refused: "conflict", detail: `A workspace connects to at most ${MAX_CONNECTIONS} installations.` };
  }
  return confirmation.installation;
}

/** Whether the person is an owner or admin of the workspace, and it is open. */
function mayAdminister(turn: Turn, userId: string): boolean {
  const workspaceId = turn.self.partition;
  if (findResource(turn, workspaceId, "workspace", workspaceId) === undefined) return false;
  const member = findMember(turn, workspaceId, userId);
  return member !== undefined && rolePermissions[member.role].includes("administer");
}

function requesterOfAttempt({ attempts }: CodeHostConnectionContext, attemptId: string): string {
  return attempts.find(({ id }) => id === attemptId)?.by ?? "";
}

function withoutAttempt(context: CodeHostConnectionContext, attemptId: string): CodeHostConnectionContext {
  return { ...context, attempts: context.attempts.filter(({ id }) => id !== attemptId) };
}

function storeConnection(
  turn: Turn,
  context: CodeHostConnectionContext,
  connection: CodeHostConnection,
): CodeHostConnectionContext {
  storeCodeHostConnection(turn, turn.self.partition, connection);
  publishConnection(turn, connection, connection.state);
  return { ...context, connection };
}

/** Tells readers of the workspace. */
function publishConnection(
  turn: Turn,
  connection: CodeHostConnection,
  what: CodeHostConnection["state"] | "disconnected",
): void {
  turn.publishChange(`workspace/${turn.self.partition}`, {
    type: "code-host",
    what,
    connection: codeHostConnectionView(connection),
  });
}
