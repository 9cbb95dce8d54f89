import type { InTurn } from "../../runtime/cells/chart.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { AskHolder } from "../tables/claims.js";
import { CONFIRMATION_EFFECT, type ConfirmedInstallation } from "./confirmation.effects.js";
import type { CodeHostConnection } from "./connection.js";
import { attemptTopic, type ConfirmInstallation, type ConnectOutcome } from "./connection.messages.js";
import { codeHostConnections, workspaceTopic } from "./connection.table.js";
import { codeHostConnectionView } from "./connection.view.js";
import type { InstallationKey } from "./installation.js";
import { INSTALLATION_CHECK_EFFECT } from "./installation-check.effects.js";
import { installationClaimsRef, toName } from "./installation-claims.machine.js";

/** The transitions of a connection. `connection.machine.ts` lists when each one runs. */

/** The stored state of a connection between turns. */
export interface CodeHostConnectionContext extends InstallationKey {
  /**
   * Null before the installation is first connected, and after a disconnection. A deleted installation keeps its
   * connection.
   */
  readonly connection: CodeHostConnection | null;
  /** Confirmations in progress. */
  readonly attempts: readonly Attempt[];
}

/** A confirmation in progress. */
export interface Attempt {
  readonly id: string;
  readonly by: string;
  /**
   * The confirmed installation and the key of its claim, while the service claims the installation for the workspace.
   */
  readonly claim?: { readonly key: string; readonly installation: ConfirmedInstallation };
}

interface OfAttempt extends InTurn {
  readonly attemptId: string;
}

/** Time between two checks of an installation at the code host, in milliseconds. */
export const INSTALLATION_CHECK_INTERVAL_MS = 6 * 60 * 60 * 1_000;
/** The name of the wake-up for a check. */
const CHECK = "look";

/** Returns whether the workspace has the installation. */
export function isInstalled({ connection }: CodeHostConnectionContext): boolean {
  return connection !== null && connection.state !== "deleted";
}

/** Returns the user who requested the confirmation; an empty string if the confirmation is no longer in progress. */
export function requesterOfAttempt({ attempts }: CodeHostConnectionContext, attemptId: string): string {
  return attempts.find(({ id }) => id === attemptId)?.by ?? "";
}

/** Starts a confirmation at the code host. */
export function startConfirmation(
  { turn, attemptId, by, sealedSignIn }: Omit<ConfirmInstallation, "type"> & { readonly turn: Turn<null> },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  turn.start(CONFIRMATION_EFFECT.request(attemptId, sealedSignIn));
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** Claims the installation for the workspace. `InstallationClaimed` reports the result. */
export function claim(
  { turn, attemptId, installation }: OfAttempt & { readonly installation: ConfirmedInstallation },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  return claimFor(turn, context, ({ id }) => (id === attemptId ? installation : null));
}

/** Sends a claim for each attempt for which `confirmed` returns a confirmed installation. */
function claimFor(
  turn: Turn,
  context: CodeHostConnectionContext,
  confirmed: (attempt: Attempt) => ConfirmedInstallation | null,
): CodeHostConnectionContext {
  const attempts = context.attempts.map((attempt): Attempt => {
    const installation = confirmed(attempt);
    if (installation === null) return attempt;
    const key = turn.newId("claim");
    turn.send(installationClaimsRef, { type: "name.claim", ...toClaimed(turn, context), key });
    return { ...attempt, claim: { key, installation } };
  });
  return { ...context, attempts };
}

/** Confirms to the claims actor that the workspace has the installation. */
export function confirmClaim({ turn }: InTurn, context: CodeHostConnectionContext): void {
  turn.send(installationClaimsRef, { type: "name.confirm", ...toClaimed(turn, context) });
}

/** Reports to the claims actor that the workspace does not have the installation. */
export function lapseClaim(
  { turn, untilMs }: Pick<AskHolder, "untilMs"> & InTurn,
  context: CodeHostConnectionContext,
): void {
  turn.send(installationClaimsRef, { type: "name.lapse", ...toClaimed(turn, context), untilMs });
}

/**
 * Releases the installation. The release also ends pending claims of this workspace, so each attempt with a pending
 * claim sends a new claim.
 */
function giveBack(context: CodeHostConnectionContext, turn: Turn): CodeHostConnectionContext {
  turn.send(installationClaimsRef, { type: "name.release", ...toClaimed(turn, context) });
  return claimFor(turn, context, ({ claim: made }) => made?.installation ?? null);
}

function toClaimed(turn: Turn, context: CodeHostConnectionContext) {
  return { name: toName(context), workspaceId: turn.self.partition };
}

/**
 * Connects the installation, or updates the stored data of a connected one. `isGranted` is true if the claims actor has
 * just granted the claim. It is false if the workspace already has the installation.
 */
export function connect(
  {
    turn,
    attemptId,
    installation,
    isGranted,
  }: OfAttempt & { readonly installation: ConfirmedInstallation; readonly isGranted: boolean },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const { host, installationId } = context;
  if (isGranted) confirmClaim({ turn }, context);
  const earlier = context.connection?.state === "deleted" ? null : context.connection;
  const connection: CodeHostConnection = {
    host,
    installationId,
    account: installation.account,
    state: installation.isSuspended ? "suspended" : "connected",
    connectedBy: earlier?.connectedBy ?? requesterOfAttempt(context, attemptId),
    connectedAtMs: earlier?.connectedAtMs ?? turn.now,
    asOfMs: installation.updatedAtMs,
    ...(installation.permissions && { permissions: installation.permissions }),
  };
  const outcome: ConnectOutcome = { connection };
  turn.publishChange(attemptTopic(attemptId), outcome);
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
  return storeConnection(turn, withoutAttempt(context, attemptId), connection);
}

interface AttemptRefused extends OfAttempt {
  readonly refusal: Refusal;
}

/** Publishes why a confirmation failed. */
export function publishRefusal(
  { turn, attemptId, refusal }: AttemptRefused,
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  return withoutAttempt(context, attemptId);
}

/**
 * Publishes why the user could not connect an installation that the claims actor granted. Releases the installation,
 * unless the workspace already has it or another attempt also claims it.
 */
export function publishUnused(
  { turn, attemptId, refusal }: AttemptRefused,
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  const left = withoutAttempt(context, attemptId);
  const isWanted = isInstalled(left) || left.attempts.some(({ claim: made }) => made !== undefined);
  return isWanted ? left : giveBack(left, turn);
}

/** Stores a connection that changed at the code host. Releases the installation if it was deleted there. */
export function applyChange(
  { turn, connection }: { readonly turn: Turn; readonly connection: CodeHostConnection },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const changed = storeConnection(turn, context, connection);
  if (connection.state !== "deleted") return changed;
  turn.cancelWake(CHECK);
  return giveBack(changed, turn);
}

/** Checks the installation at the code host, and schedules the next check. */
export function startInstallationCheck({ turn }: InTurn, { host, installationId }: CodeHostConnectionContext): void {
  turn.start(INSTALLATION_CHECK_EFFECT.request(turn.newId("look"), { host, installationId }));
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
}

/** Removes the connection and releases the installation. */
export function disconnect(
  { turn }: { readonly turn: Turn<null> },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  turn.reply(null);
  if (context.connection === null) return context;
  turn.cancelWake(CHECK);
  codeHostConnections.remove(turn, turn.self.partition, context.connection);
  const connection = codeHostConnectionView(context.connection);
  turn.publishChange(workspaceTopic(turn.self.partition), { type: "code-host", what: "disconnected", connection });
  const left = { ...context, connection: null };
  return isInstalled(context) ? giveBack(left, turn) : left;
}

function withoutAttempt(context: CodeHostConnectionContext, attemptId: string): CodeHostConnectionContext {
  return { ...context, attempts: context.attempts.filter(({ id }) => id !== attemptId) };
}

/** Stores the connection, and returns a context with this connection. */
function storeConnection(
  turn: Turn,
  context: CodeHostConnectionContext,
  connection: CodeHostConnection,
): CodeHostConnectionContext {
  codeHostConnections.put(turn, turn.self.partition, context.connection, connection);
  return { ...context, connection };
}
