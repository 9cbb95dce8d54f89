import { isDeepStrictEqual } from "node:util";
import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { rolePermissions } from "../access/permissions.js";
import type { Refusal } from "../refusal.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { AskHolder } from "../tables/claims.js";
import { findMember } from "../workspaces/member.table.js";
import { CONFIRMATION_EFFECT, type Confirmation, type ConfirmedInstallation } from "./confirmation.effects.js";
import { type CodeHostConnection, MAX_CONNECTIONS } from "./connection.js";
import type {
  CodeHostConnectionMessage,
  ConfirmInstallation,
  DisconnectInstallation,
  InstallationChanged,
  InstallationClaimed,
  ReleaseInstallation,
} from "./connection.messages.js";
import { listCodeHostConnections } from "./connection.queries.js";
import type { InstallationKey } from "./installation.js";
import { INSTALLATION_CHECK_EFFECT, type InstallationStatus } from "./installation-check.effects.js";
import { connectedElsewhere, notAnAdministratorThere, notAWorkspaceAdministrator, notConfirmed } from "./refusals.js";

/** The stored state of a connection between turns. */
export interface CodeHostConnectionContext extends InstallationKey {
  /** Null when it is not connected. */
  readonly connection: CodeHostConnection | null;
  /** Confirmations in progress. */
  readonly attempts: readonly Attempt[];
}

/** A confirmation in progress. */
export interface Attempt {
  readonly id: string;
  readonly by: string;
  /** What the code host has confirmed, while the installation is claimed for the workspace. */
  readonly claim?: { readonly key: string; readonly installation: ConfirmedInstallation };
}

/** Most confirmations of one installation at once. */
const MAX_ATTEMPTS = 5;

export interface ConfirmationBegun extends Omit<ConfirmInstallation, "type"> {
  readonly type: "confirmation.begun";
}

/** A message that is refused with the reason. */
interface Refused<Type extends string> extends Message {
  readonly type: Type;
  readonly refusal: Refusal;
}

/** A request that is refused with the reason. */
type RequestRefused<Type extends string> = Refused<Type> & Answered<Refusal>;

/** They administer the installation, and it may be connected; it has the code host's current status. */
export interface Confirmed<Type extends string> extends Message {
  readonly type: Type;
  readonly attemptId: string;
  readonly installation: ConfirmedInstallation;
  /** Whether the claim of the installation was granted for it; else the workspace has it already. */
  readonly isGranted: boolean;
}

/** They administer the installation, which the workspace does not have yet. */
export interface ClaimNeeded extends Message {
  readonly type: "claim.needed";
  readonly attemptId: string;
  readonly installation: ConfirmedInstallation;
}

/** The installation was granted, but the person may no longer connect it. */
export interface ClaimUnused extends Refused<"claim.unused"> {
  readonly attemptId: string;
}

/** The answer to a claim that has been repeated since. */
interface ClaimVoid extends Message {
  readonly type: "claim.void";
}

/** The claims actor asks whether the workspace has the installation. */
export interface ClaimAsked<Type extends string> extends Omit<AskHolder, "type"> {
  readonly type: Type;
}

export interface ConfirmationRefused extends Refused<"confirmation.refused"> {
  readonly attemptId: string;
}

/** The installation's status differs from the stored one, by a delivery or a check. */
export interface ConnectionChanged<Type extends string> extends Answered<boolean> {
  readonly type: Type;
  readonly connection: CodeHostConnection;
  /** Whether it came with a message, whose sender gets an answer. */
  readonly isTold: boolean;
}

interface NothingChanged extends Answered<boolean> {
  readonly type: "changed.nothing";
  readonly isTold: boolean;
}

export interface DisconnectAllowed extends Omit<DisconnectInstallation, "type"> {
  readonly type: "disconnect.allowed";
}

/** A classified message, with what was read to classify it. */
export type CodeHostConnectionEvent =
  | ConfirmationBegun
  | RequestRefused<"confirmation.crowded">
  | Confirmed<"confirmed.connected">
  | Confirmed<"confirmed.suspended">
  | ConfirmationRefused
  | ClaimNeeded
  | ClaimUnused
  | ClaimVoid
  | ClaimAsked<"claim.kept">
  | ClaimAsked<"claim.lapsed">
  | ConnectionChanged<"changed.connected">
  | ConnectionChanged<"changed.suspended">
  | ConnectionChanged<"changed.deleted">
  | NothingChanged
  | DisconnectAllowed
  | RequestRefused<"disconnect.refused">
  | ReleaseInstallation
  | EffectEnded
  | Woken;

/** Classifies each message to a connection as an event of its machine. Reads only. */
export function classifyConnection(
  message: CodeHostConnectionMessage | EffectEnded | Woken,
  { context }: { readonly context: CodeHostConnectionContext },
  turn: TurnReading,
): CodeHostConnectionEvent {
  switch (message.type) {
    case "installation.confirm":
      return classifyConfirm(message, context);
    case "installation.changed":
      return toChangeEvent(toReported(message), context, true);
    case "installation.disconnect":
      return classifyDisconnect(message, context, turn);
    case "effect.ended":
      if (isResultOf(CONFIRMATION_EFFECT, message)) return classifyConfirmation(message, context, turn);
      if (!isResultOf(INSTALLATION_CHECK_EFFECT, message)) return message;
      return toChangeEvent(message.result.ok ? toSeen(message.result.output) : null, context, false);
    case "name.claimed":
      return classifyClaimed(message, context, turn);
    case "name.ask":
      return { ...message, type: isHeld(context) ? "claim.kept" : "claim.lapsed" };
    // No transition takes a message of an unknown type.
    default:
      return message;
  }
}

function classifyConfirm(message: ConfirmInstallation, { attempts, host }: CodeHostConnectionContext) {
  if (attempts.length < MAX_ATTEMPTS) return { ...message, type: "confirmation.begun" } as const;
  const detail = `${host} is being asked about this installation already.`;
  const refusal: Refusal = { refused: "too-many-requests", detail, retryAfterSeconds: 10 };
  return { type: "confirmation.crowded", refusal } as const;
}

function classifyDisconnect(
  message: DisconnectInstallation,
  { connection, host }: CodeHostConnectionContext,
  turn: TurnReading,
) {
  if (connection === null) return { type: "disconnect.refused", refusal: { refused: "not-found" } } as const;
  if (mayAdminister(turn, message.by)) return { ...message, type: "disconnect.allowed" } as const;
  return { type: "disconnect.refused", refusal: notAWorkspaceAdministrator(host) } as const;
}

function classifyConfirmation(
  { id: attemptId, result }: EffectEnded<Confirmation>,
  context: CodeHostConnectionContext,
  turn: TurnReading,
): CodeHostConnectionEvent {
  const installation = result.ok
    ? evaluateConfirmation(context, { attemptId, confirmation: result.output }, turn)
    : ({ refused: "refused-upstream", detail: `${context.host} could not be asked.` } as const);
  if ("refused" in installation) return { type: "confirmation.refused", attemptId, refusal: installation };
  if (!isHeld(context)) return { type: "claim.needed", attemptId, installation };
  return { type: toConfirmed(installation), attemptId, installation, isGranted: false };
}

function classifyClaimed(
  { key, isGranted }: InstallationClaimed,
  context: CodeHostConnectionContext,
  turn: TurnReading,
): CodeHostConnectionEvent {
  const attempt = context.attempts.find(({ claim }) => claim?.key === key);
  if (attempt?.claim === undefined) return { type: "claim.void" };
  const { id: attemptId, by, claim } = attempt;
  if (!isGranted) return { type: "confirmation.refused", attemptId, refusal: connectedElsewhere(context.host) };
  const refusal = whyNotConnected(context, by, turn);
  if (refusal !== null) return { type: "claim.unused", attemptId, refusal };
  return { type: toConfirmed(claim.installation), attemptId, installation: claim.installation, isGranted };
}

function toConfirmed({ isSuspended }: ConfirmedInstallation): "confirmed.suspended" | "confirmed.connected" {
  return isSuspended ? "confirmed.suspended" : "confirmed.connected";
}

/** Whether the workspace has the installation. */
export function isHeld({ connection }: CodeHostConnectionContext): boolean {
  return connection !== null && connection.state !== "deleted";
}

/** The result of a confirmation, by the rows of this turn. */
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

/** Why the person may not connect the installation, apart from other workspaces' claims; or null. */
function whyNotConnected({ host, connection }: CodeHostConnectionContext, by: string, turn: TurnReading) {
  if (!mayAdminister(turn, by)) return notAWorkspaceAdministrator(host);
  const isFull = listCodeHostConnections(turn, turn.self.partition).length >= MAX_CONNECTIONS;
  if (connection !== null || !isFull) return null;
  const detail = `A workspace connects to at most ${MAX_CONNECTIONS} installations.`;
  return { refused: "conflict", detail } as const;
}

/** The person whose confirmation is in progress. */
export function requesterOfAttempt({ attempts }: CodeHostConnectionContext, attemptId: string): string {
  return attempts.find(({ id }) => id === attemptId)?.by ?? "";
}

/** Whether the person is an owner or admin of the workspace, and it is open. */
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

function toSeen(sight: InstallationStatus): ReportedInstallation | null {
  if (sight.seen === "gone") return { state: "deleted" };
  if (sight.seen === "unknown") return null;
  const { account, isSuspended, updatedAtMs, permissions } = sight.installation;
  const state = isSuspended ? "suspended" : "connected";
  return { state, asOfMs: updatedAtMs, account, ...(permissions && { permissions }) };
}

const changeClasses = {
  connected: "changed.connected",
  suspended: "changed.suspended",
  deleted: "changed.deleted",
} as const;

function toChangeEvent(
  reported: ReportedInstallation | null,
  { connection: known }: CodeHostConnectionContext,
  isTold: boolean,
): CodeHostConnectionEvent {
  const connection = reported === null || known === null ? null : findChange(known, reported);
  if (connection === null) return { type: "changed.nothing", isTold };
  return { type: changeClasses[connection.state], connection, isTold };
}

/** The connection with the code host's news applied; null when nothing is new. */
function findChange(known: CodeHostConnection, reported: ReportedInstallation): CodeHostConnection | null {
  if (known.state === "deleted") return null;
  if (reported.state === "deleted") return { ...known, state: "deleted" };
  // Deliveries may arrive out of order.
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
