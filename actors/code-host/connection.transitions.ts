import type { InTurn } from "../../runtime/chart.js";
import type { Turn } from "../../runtime/turn.js";
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

/** The transitions of a connection; the machine says when each runs. */

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

/** A turn about a confirmation in progress. */
interface OfAttempt extends InTurn {
  readonly attemptId: string;
}

/** Time between two checks of an installation at the code host, in milliseconds. */
export const INSTALLATION_CHECK_INTERVAL_MS = 6 * 60 * 60 * 1_000;
/** The wake-up for a check. */
const CHECK = "look";

/** Whether the workspace has the installation. */
export function isHeld({ connection }: CodeHostConnectionContext): boolean {
  return connection !== null && connection.state !== "deleted";
}

/** The person whose confirmation is in progress. */
export function requesterOfAttempt({ attempts }: CodeHostConnectionContext, attemptId: string): string {
  return attempts.find(({ id }) => id === attemptId)?.by ?? "";
}

/** Asks the code host. */
export function startConfirmation(
  { turn, attemptId, by, sealedSignIn }: Omit<ConfirmInstallation, "type"> & { readonly turn: Turn<null> },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  turn.start(CONFIRMATION_EFFECT.request(attemptId, sealedSignIn));
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** Claims the installation for the workspace; `InstallationClaimed` brings the result. */
export function claim(
  { turn, attemptId, installation }: OfAttempt & { readonly installation: ConfirmedInstallation },
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  return claimFor(turn, context, ({ id }) => (id === attemptId ? installation : null));
}

/** Makes a claim for each attempt in `confirmed`, with what the code host has confirmed. */
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

/** Reports to the claims actor that the installation was not used. */
export function lapseClaim(
  { turn, untilMs }: Pick<AskHolder, "untilMs"> & InTurn,
  context: CodeHostConnectionContext,
): void {
  turn.send(installationClaimsRef, { type: "name.lapse", ...toClaimed(turn, context), untilMs });
}

/** Releases the installation. Attempts that wait for an earlier claim claim again: what was granted is void. */
function giveBack(context: CodeHostConnectionContext, turn: Turn): CodeHostConnectionContext {
  turn.send(installationClaimsRef, { type: "name.release", ...toClaimed(turn, context) });
  return claimFor(turn, context, ({ claim: made }) => made?.installation ?? null);
}

function toClaimed(turn: Turn, context: CodeHostConnectionContext) {
  return { name: toName(context), workspaceId: turn.self.partition };
}

/**
 * Connects the installation, or updates its stored data. `isGranted` says that its claim was granted for this; else the
 * workspace has it already.
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

/** Reports why a confirmation failed to whoever waits for it. */
export function publishRefusal(
  { turn, attemptId, refusal }: AttemptRefused,
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  return withoutAttempt(context, attemptId);
}

/** The same after a grant, which is released unless somebody else of the workspace waits for it. */
export function publishUnused(
  { turn, attemptId, refusal }: AttemptRefused,
  context: CodeHostConnectionContext,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  const left = withoutAttempt(context, attemptId);
  const isWanted = isHeld(left) || left.attempts.some(({ claim: made }) => made !== undefined);
  return isWanted ? left : giveBack(left, turn);
}

/** Stores the result of a change at the code host, or of a check. */
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

/** Removes the connection. */
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
  return isHeld(context) ? giveBack(left, turn) : left;
}

function withoutAttempt(context: CodeHostConnectionContext, attemptId: string): CodeHostConnectionContext {
  return { ...context, attempts: context.attempts.filter(({ id }) => id !== attemptId) };
}

/** Writes the connection, replacing that of the context. */
function storeConnection(
  turn: Turn,
  context: CodeHostConnectionContext,
  connection: CodeHostConnection,
): CodeHostConnectionContext {
  codeHostConnections.put(turn, turn.self.partition, context.connection, connection);
  return { ...context, connection };
}
