import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import { rolePermissions } from "../access/permissions.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";
import { CONFIRMATION_EFFECT, type Confirmation, type ConfirmedInstallation } from "./confirmation.effects.js";
import { connectionView } from "./connection.view.js";
import { attemptTopic, type ConnectionEvent, type ConnectOutcome } from "./connection-messages.js";
import {
  type CodeHostConnection,
  connectionsOf,
  type InstallationName,
  installationOfActor,
  MOST_CONNECTIONS,
  ownerOf,
  putConnection,
  removeConnection,
} from "./connection-rows.js";
import { LOOK_EFFECT, type Sight } from "./look.effects.js";
import { connectedElsewhere, notALead, notAnAdministratorThere, notConfirmed } from "./refusals.js";

/** What the transitions of a connection do; the machine says when. */

export interface ConnectionContext extends InstallationName {
  /** Null when it is not connected. */
  readonly connection: CodeHostConnection | null;
  /** Confirmations under way. */
  readonly attempts: readonly { readonly id: string; readonly by: string }[];
}

/** Confirmations of one installation under way at once. */
const MOST_ATTEMPTS = 5;
/** How often the code host is asked how an installation is, in milliseconds. */
export const LOOK_EVERY_MS = 6 * 60 * 60 * 1_000;
/** The wake-up for it. */
const LOOK = "look";

export function initialContext(actorId: string): ConnectionContext {
  return { ...installationOfActor(actorId), connection: null, attempts: [] };
}

/** Has the code host asked. */
export function confirm(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (event.type !== "installation.confirm") return context;
  const { turn, attemptId, by, sealedSignIn } = event;
  if (context.attempts.length >= MOST_ATTEMPTS) {
    const detail = `${context.host} is being asked about this installation already.`;
    const refusal: Refusal = { refused: "too-many-requests", detail, retryAfterSeconds: 10 };
    turn.reply(refusal);
    return context;
  }
  turn.start({ name: CONFIRMATION_EFFECT, id: attemptId, input: sealedSignIn });
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** The state that a confirmation connects it in; null when it does not. */
export function connectsAs(context: ConnectionContext, event: ConnectionEvent): "connected" | "suspended" | null {
  if (!isConfirmation(event)) return null;
  const judged = judge(context, event);
  if ("refused" in judged) return null;
  return judged.isSuspended ? "suspended" : "connected";
}

/** Connects the installation, or brings what is known of it up to date. */
export function connect(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (!isConfirmation(event)) return context;
  const judged = judge(context, event);
  if ("refused" in judged) return context;
  const { turn } = event;
  const { host, installationId } = context;
  const earlier = context.connection?.state === "deleted" ? null : context.connection;
  const connection: CodeHostConnection = {
    ...{ host, installationId, account: judged.account },
    state: judged.isSuspended ? "suspended" : "connected",
    connectedBy: earlier?.connectedBy ?? byOf(context, event.id),
    connectedAtMs: earlier?.connectedAtMs ?? turn.now,
    asOfMs: judged.updatedAtMs,
  };
  const outcome: ConnectOutcome = { connection };
  turn.publishChange(attemptTopic(event.id), outcome);
  turn.wake(LOOK, turn.now + LOOK_EVERY_MS);
  return keep(turn, without(context, event.id), connection);
}

/** Tells who waits for a confirmation why it came to nothing. */
export function tellWhyNot(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (!isConfirmation(event)) return context;
  const outcome = judge(context, event);
  if ("refused" in outcome) event.turn.publishChange(attemptTopic(event.id), outcome);
  return without(context, event.id);
}

/** The state that a change there, or a look at it, leads to; null when it changes nothing here. */
export function becomes(context: ConnectionContext, event: ConnectionEvent): CodeHostConnection["state"] | null {
  return changedBy(context, event)?.state ?? null;
}

/** Keeps what a change there, or a look at it, led to. */
export function change(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const changed = changedBy(context, event);
  if (changed === null) return context;
  const { turn } = event;
  if (event.type === "installation.changed") turn.reply(true);
  if (changed.state === "deleted") turn.cancelWake(LOOK);
  return keep(turn, context, changed);
}

/** Has the code host asked how the installation is. */
export function look({ connection, host, installationId }: ConnectionContext, { turn }: ConnectionEvent): void {
  if (connection === null || connection.state === "deleted") return;
  turn.start({ name: LOOK_EFFECT, id: turn.newId("look"), input: { host, installationId } });
  turn.wake(LOOK, turn.now + LOOK_EVERY_MS);
}

/** The connection as the code host has told of it since; null when that is nothing new. */
function changedBy({ connection }: ConnectionContext, event: ConnectionEvent): CodeHostConnection | null {
  const told = toldBy(event);
  if (told === null || connection === null || connection.state === "deleted") return null;
  if (told.state === "deleted") return { ...connection, state: "deleted" };
  // Deliveries may come in another order than they were sent in.
  if (told.asOfMs < connection.asOfMs) return null;
  const account = told.account ?? connection.account;
  const isSame = told.state === connection.state && account.login === connection.account.login;
  return isSame ? null : { ...connection, account, state: told.state, asOfMs: told.asOfMs };
}

type Told =
  | { readonly state: "deleted" }
  | (Pick<CodeHostConnection, "asOfMs"> & {
      readonly state: "connected" | "suspended";
      readonly account?: CodeHostConnection["account"];
    });

function toldBy(event: ConnectionEvent): Told | null {
  if (event.type === "installation.changed") {
    if (event.change === "deleted") return { state: "deleted" };
    return { state: event.change === "suspended" ? "suspended" : "connected", asOfMs: event.atMs };
  }
  if (event.type !== "effect.ended" || event.effect !== LOOK_EFFECT || !event.result.ok) return null;
  const sight = event.result.output as Sight;
  if (sight.seen === "gone") return { state: "deleted" };
  if (sight.seen === "unknown") return null;
  const { account, isSuspended, updatedAtMs } = sight.installation;
  return { state: isSuspended ? "suspended" : "connected", asOfMs: updatedAtMs, account };
}

export function mayDisconnect({ connection }: ConnectionContext, event: ConnectionEvent): boolean {
  return event.type === "installation.disconnect" && connection !== null && leads(event.turn, event.by);
}

/** Takes the connection away. */
export function remove(context: ConnectionContext, { turn }: ConnectionEvent): ConnectionContext {
  turn.reply(null);
  if (context.connection === null) return context;
  turn.cancelWake(LOOK);
  removeConnection(turn, turn.self.partition, context);
  tell(turn, context.connection, "disconnected");
  return { ...context, connection: null };
}

export function whyNotDisconnected({ connection, host }: ConnectionContext, event: ConnectionEvent): Refusal {
  const isAllowed = event.type === "installation.disconnect" && leads(event.turn, event.by);
  return isAllowed || connection === null ? { refused: "not-found" } : notALead(host);
}

function isConfirmation(event: ConnectionEvent): event is Delivered<EffectEnded> {
  return event.type === "effect.ended" && event.effect === CONFIRMATION_EFFECT;
}

/** What a confirmation that has ended comes to, as things are in this turn. */
function judge(context: ConnectionContext, event: Delivered<EffectEnded>): ConfirmedInstallation | Refusal {
  const { turn, result, id } = event;
  const { host } = context;
  const workspaceId = turn.self.partition;
  if (!result.ok) return { refused: "refused-upstream", detail: `${host} could not be asked.` };
  const confirmation = result.output as Confirmation;
  if (confirmation.confirmed === "refused") return { refused: "refused-upstream", detail: confirmation.why };
  if (confirmation.confirmed === "unknown") return notConfirmed(host);
  if (confirmation.confirmed === "no") return notAnAdministratorThere(host);
  if (!leads(turn, byOf(context, id))) return notALead(host);
  const owner = ownerOf(turn, context);
  if (owner !== undefined && owner !== workspaceId) return connectedElsewhere(host);
  if (context.connection === null && connectionsOf(turn, workspaceId).length >= MOST_CONNECTIONS) {
    return { refused: "conflict", detail: `A workspace connects to at most ${MOST_CONNECTIONS} installations.` };
  }
  return confirmation.installation;
}

/** Whether the person is an owner or admin of the workspace, and it is open. */
function leads(turn: Turn, userId: string): boolean {
  const workspaceId = turn.self.partition;
  if (findResource(turn, workspaceId, "workspace", workspaceId) === undefined) return false;
  const member = findMember(turn, workspaceId, userId);
  return member !== undefined && rolePermissions[member.role].includes("administer");
}

function byOf({ attempts }: ConnectionContext, attemptId: string): string {
  return attempts.find(({ id }) => id === attemptId)?.by ?? "";
}

function without(context: ConnectionContext, attemptId: string): ConnectionContext {
  return { ...context, attempts: context.attempts.filter(({ id }) => id !== attemptId) };
}

function keep(turn: Turn, context: ConnectionContext, connection: CodeHostConnection): ConnectionContext {
  putConnection(turn, turn.self.partition, connection);
  tell(turn, connection, connection.state);
  return { ...context, connection };
}

/** Tells readers of the workspace. */
function tell(turn: Turn, connection: CodeHostConnection, what: CodeHostConnection["state"] | "disconnected"): void {
  turn.publishChange(`workspace/${turn.self.partition}`, {
    type: "code-host",
    what,
    connection: connectionView(connection),
  });
}
