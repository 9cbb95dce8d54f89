import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import { rolePermissions } from "../access/permissions.js";
import type { Refusal } from "../refusal.js";
import { resourceById } from "../resources/resource-rows.js";
import { memberOf } from "../workspaces/members.js";
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
  if (event.type !== "effect.ended") return null;
  const judged = judge(context, event);
  if ("refused" in judged) return null;
  return judged.isSuspended ? "suspended" : "connected";
}

/** Connects the installation, or brings what is known of it up to date. */
export function connect(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (event.type !== "effect.ended") return context;
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
  turn.change(attemptTopic(event.id), outcome);
  return keep(turn, without(context, event.id), connection);
}

/** Tells who waits for a confirmation why it came to nothing. */
export function tellWhyNot(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  if (event.type !== "effect.ended") return context;
  const outcome = judge(context, event);
  if ("refused" in outcome) event.turn.change(attemptTopic(event.id), outcome);
  return without(context, event.id);
}

/** The state that a change there leads to; null when it changes nothing here. */
export function becomes({ connection }: ConnectionContext, event: ConnectionEvent): CodeHostConnection["state"] | null {
  if (event.type !== "installation.changed" || connection === null || connection.state === "deleted") return null;
  if (event.change === "deleted") return "deleted";
  // Deliveries may come in another order than they were sent in.
  if (event.atMs < connection.asOfMs) return null;
  const next = event.change === "suspended" ? "suspended" : "connected";
  return next === connection.state ? null : next;
}

/** Keeps the state that a change there led to. */
export function change(context: ConnectionContext, event: ConnectionEvent): ConnectionContext {
  const state = becomes(context, event);
  if (event.type !== "installation.changed" || context.connection === null || state === null) return context;
  event.turn.reply(true);
  return keep(event.turn, context, { ...context.connection, state, asOfMs: event.atMs });
}

export function mayDisconnect({ connection }: ConnectionContext, event: ConnectionEvent): boolean {
  return event.type === "installation.disconnect" && connection !== null && leads(event.turn, event.by);
}

/** Takes the connection away. */
export function remove(context: ConnectionContext, { turn }: ConnectionEvent): ConnectionContext {
  turn.reply(null);
  if (context.connection === null) return context;
  removeConnection(turn, turn.self.partition, context);
  tell(turn, context.connection, "disconnected");
  return { ...context, connection: null };
}

export function whyNotDisconnected({ connection, host }: ConnectionContext, event: ConnectionEvent): Refusal {
  const isAllowed = event.type === "installation.disconnect" && leads(event.turn, event.by);
  return isAllowed || connection === null ? { refused: "not-found" } : notALead(host);
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
  if (resourceById(turn, workspaceId, "workspace", workspaceId) === undefined) return false;
  const member = memberOf(turn, workspaceId, userId);
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
  turn.change(`workspace/${turn.self.partition}`, { type: "code-host", what, connection: connectionView(connection) });
}
