import { isDeepStrictEqual } from "node:util";
import { toEvent } from "../../runtime/cells/chart.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { rolePermissions } from "../access/visibility/permissions.js";
import { type Refusal, toRefused } from "../refusal.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";
import { CONFIRMATION_EFFECT, type Confirmation, type ConfirmedInstallation } from "./confirmation.effects.js";
import { type CodeHostConnection, MAX_CONNECTIONS } from "./connection.js";
import type {
  CodeHostConnectionMessage,
  ConfirmInstallation,
  DisconnectInstallation,
  InstallationChanged,
  InstallationClaimed,
} from "./connection.messages.js";
import { listCodeHostConnections } from "./connection.queries.js";
import { type CodeHostConnectionContext, isInstalled, requesterOfAttempt } from "./connection.transitions.js";
import { INSTALLATION_CHECK_EFFECT, type InstallationStatus } from "./installation-check.effects.js";
import { connectedElsewhere, notAnAdministratorThere, notAWorkspaceAdministrator, notConfirmed } from "./refusals.js";

/** Maximum number of concurrent confirmations per installation. */
const MAX_ATTEMPTS = 5;

/** Classifies each message to a connection as an event of its machine. Only reads. */
export function classifyConnection(
  message: CodeHostConnectionMessage | EffectEnded | Woken,
  { context }: { readonly context: CodeHostConnectionContext },
  turn: TurnReading,
) {
  switch (message.type) {
    case "installation.confirm":
      return classifyConfirm(message, context);
    case "installation.changed":
      return { ...message, ...toChangeEvent(toReported(message), context), isTold: true } as const;
    case "installation.disconnect":
      return classifyDisconnect(message, context, turn);
    case "effect.ended":
      if (isEffectResult(CONFIRMATION_EFFECT, message)) return classifyConfirmation(message, context, turn);
      if (!isEffectResult(INSTALLATION_CHECK_EFFECT, message)) return message;
      return {
        ...toChangeEvent(message.result.ok ? toSeen(message.result.output) : null, context),
        isTold: false,
      } as const;
    case "name.claimed":
      return classifyClaimed(message, context, turn);
    case "name.ask":
      return toEvent(isInstalled(context) ? "claim.kept" : "claim.lapsed", message);
    // `woken` and messages of unknown types are passed on unchanged as events of the machine.
    default:
      return message;
  }
}

function classifyConfirm(message: ConfirmInstallation, { attempts, host }: CodeHostConnectionContext) {
  if (attempts.length < MAX_ATTEMPTS) return toEvent("confirmation.begun", message);
  const detail = `A request to ${host} about this installation is already in progress. Try again later.`;
  return toRefused("confirmation.crowded", { refused: "too-many-requests", detail, retryAfterSeconds: 10 });
}

function classifyDisconnect(
  message: DisconnectInstallation,
  { connection, host }: CodeHostConnectionContext,
  turn: TurnReading,
) {
  if (connection === null) return toRefused("disconnect.refused", { refused: "not-found" });
  if (mayAdminister(turn, message.by)) return toEvent("disconnect.allowed", message);
  return toRefused("disconnect.refused", notAWorkspaceAdministrator(host));
}

function classifyConfirmation(
  { id: attemptId, result }: EffectEnded<Confirmation>,
  context: CodeHostConnectionContext,
  turn: TurnReading,
) {
  const installation = result.ok
    ? evaluateConfirmation(context, { attemptId, confirmation: result.output }, turn)
    : ({ refused: "refused-upstream", detail: `The request to ${context.host} failed.` } as const);
  if ("refused" in installation) return toEvent("confirmation.refused", { attemptId, refusal: installation });
  if (!isInstalled(context)) return toEvent("claim.needed", { attemptId, installation });
  return toEvent(toConfirmed(installation), { attemptId, installation, isGranted: false });
}

function classifyClaimed(
  { key, isGranted }: InstallationClaimed,
  context: CodeHostConnectionContext,
  turn: TurnReading,
) {
  const attempt = context.attempts.find(({ claim }) => claim?.key === key);
  if (attempt?.claim === undefined) return toEvent("claim.void");
  const { id: attemptId, by, claim } = attempt;
  if (!isGranted) return toEvent("confirmation.refused", { attemptId, refusal: connectedElsewhere(context.host) });
  const refusal = whyNotConnected(context, by, turn);
  // The workspace got the installation, but the user may no longer connect it.
  if (refusal !== null) return toEvent("claim.unused", { attemptId, refusal });
  const { installation } = claim;
  return toEvent(toConfirmed(installation), { attemptId, installation, isGranted });
}

function toConfirmed({ isSuspended }: ConfirmedInstallation) {
  return isSuspended ? "confirmed.suspended" : "confirmed.connected";
}

/**
 * Returns the confirmed installation. Returns a refusal if the code host did not confirm it, or if the user may not
 * connect it now.
 */
function evaluateConfirmation(
  context: CodeHostConnectionContext,
  { attemptId, confirmation }: { readonly attemptId: string; readonly confirmation: Confirmation },
  turn: TurnReading,
): ConfirmedInstallation | Refusal {
  const { host } = context;
  if (confirmation.confirmed === "refused") return { refused: "refused-upstream", detail: confirmation.why };
  if (confirmation.confirmed === "unknown") return notConfirmed(host);
  if (confirmation.confirmed === "no") return notAnAdministratorThere(host);
  return whyNotConnected(context, requesterOfAttempt(context, attemptId), turn) ?? confirmation.installation;
}

/**
 * Returns why the user may not connect the installation, or null if they may. Does not check whether the installation
 * belongs to another workspace.
 */
function whyNotConnected({ host, connection }: CodeHostConnectionContext, by: string, turn: TurnReading) {
  if (!mayAdminister(turn, by)) return notAWorkspaceAdministrator(host);
  const isFull = listCodeHostConnections(turn, turn.self.partition).length >= MAX_CONNECTIONS;
  if (connection !== null || !isFull) return null;
  const detail = `A workspace connects to at most ${MAX_CONNECTIONS} installations.`;
  return { refused: "conflict", detail } as const;
}

/** Returns whether the user is an owner or admin of the workspace, and the workspace is open. */
function mayAdminister(turn: TurnReading, userId: string): boolean {
  const workspaceId = turn.self.partition;
  if (!isWorkspaceOpen(turn, workspaceId)) return false;
  const member = findMember(turn, workspaceId, userId);
  return member !== undefined && rolePermissions[member.role].includes("administer");
}

type ReportedInstallation =
  | { readonly state: "deleted" }
  | (Pick<CodeHostConnection, "asOfMs"> & {
      readonly state: "connected" | "suspended";
      readonly account?: CodeHostConnection["account"];
      readonly permissions?: CodeHostConnection["permissions"];
    });

function toReported({ change, atMs, permissions }: InstallationChanged): ReportedInstallation {
  if (change === "deleted") return { state: "deleted" };
  const state = change === "suspended" ? "suspended" : "connected";
  return { state, asOfMs: atMs, ...(permissions && { permissions }) };
}

function toSeen(status: InstallationStatus): ReportedInstallation | null {
  if (status.seen === "gone") return { state: "deleted" };
  if (status.seen === "unknown") return null;
  const { account, isSuspended, updatedAtMs, permissions } = status.installation;
  const state = isSuspended ? "suspended" : "connected";
  return { state, asOfMs: updatedAtMs, account, ...(permissions && { permissions }) };
}

const changeClasses = {
  connected: "changed.connected",
  suspended: "changed.suspended",
  deleted: "changed.deleted",
} as const;

function toChangeEvent(reported: ReportedInstallation | null, { connection: known }: CodeHostConnectionContext) {
  const connection = reported === null || known === null ? null : findChange(known, reported);
  if (connection === null) return toEvent("changed.nothing");
  return toEvent(changeClasses[connection.state], { connection });
}

/**
 * Returns the connection with the reported change. Returns null if the connection is deleted, or if the report is
 * outdated or changes nothing.
 */
function findChange(known: CodeHostConnection, reported: ReportedInstallation): CodeHostConnection | null {
  if (known.state === "deleted") return null;
  if (reported.state === "deleted") return { ...known, state: "deleted" };
  // Ignore outdated reports: deliveries may arrive out of order.
  if (reported.asOfMs < known.asOfMs) return null;
  const account = reported.account ?? known.account;
  const permissions = reported.permissions ?? known.permissions;
  const isSame =
    reported.state === known.state &&
    account.login === known.account.login &&
    isDeepStrictEqual(permissions, known.permissions);
  if (isSame) return null;
  return { ...known, account, state: reported.state, asOfMs: reported.asOfMs, ...(permissions && { permissions }) };
}
