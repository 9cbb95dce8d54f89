import type { Delivered, Turn } from "../../runtime/turn.js";
import {
  type Attempt,
  type ClaimAsked,
  type ClaimNeeded,
  type ClaimUnused,
  type CodeHostConnectionContext,
  type ConfirmationBegun,
  type ConfirmationRefused,
  type Confirmed,
  type ConnectionChanged,
  isHeld,
  requesterOfAttempt,
} from "./classify-connection.js";
import { CONFIRMATION_EFFECT, type ConfirmedInstallation } from "./confirmation.effects.js";
import type { CodeHostConnection } from "./connection.js";
import { attemptTopic, type ConnectOutcome } from "./connection.messages.js";
import { codeHostConnections, workspaceTopic } from "./connection.table.js";
import { codeHostConnectionView } from "./connection.view.js";
import { INSTALLATION_CHECK_EFFECT } from "./installation-check.effects.js";
import { installationClaimsRef, toName } from "./installation-claims.machine.js";

/** The transitions of a connection; the machine says when each runs. */

/** Time between two checks of an installation at the code host, in milliseconds. */
export const INSTALLATION_CHECK_INTERVAL_MS = 6 * 60 * 60 * 1_000;
/** The wake-up for a check. */
const CHECK = "look";

/** Asks the code host. */
export function startConfirmation(
  context: CodeHostConnectionContext,
  { turn, attemptId, by, sealedSignIn }: Delivered<ConfirmationBegun>,
): CodeHostConnectionContext {
  turn.start(CONFIRMATION_EFFECT.request(attemptId, sealedSignIn));
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** Claims the installation for the workspace; `InstallationClaimed` brings the result. */
export function claim(
  context: CodeHostConnectionContext,
  { turn, attemptId, installation }: Delivered<ClaimNeeded>,
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
export function confirmClaim(context: CodeHostConnectionContext, turn: Turn): void {
  turn.send(installationClaimsRef, { type: "name.confirm", ...toClaimed(turn, context) });
}

/** Reports to the claims actor that the installation was not used. */
export function lapseClaim(
  context: CodeHostConnectionContext,
  { turn, untilMs }: Delivered<ClaimAsked<"claim.lapsed">>,
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

/** Connects the installation, or updates its stored data. */
export function connect(
  context: CodeHostConnectionContext,
  { turn, attemptId, installation, isGranted }: Delivered<Confirmed<string>>,
): CodeHostConnectionContext {
  const { host, installationId } = context;
  if (isGranted) confirmClaim(context, turn);
  const earlier = context.connection?.state === "deleted" ? null : context.connection;
  const connection: CodeHostConnection = {
    ...{ host, installationId, account: installation.account },
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

/** Reports why a confirmation failed to whoever waits for it. */
export function publishRefusal(
  context: CodeHostConnectionContext,
  { turn, attemptId, refusal }: Delivered<ConfirmationRefused>,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  return withoutAttempt(context, attemptId);
}

/** The same after a grant, which is released unless somebody else of the workspace waits for it. */
export function publishUnused(
  context: CodeHostConnectionContext,
  { turn, attemptId, refusal }: Delivered<ClaimUnused>,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  const left = withoutAttempt(context, attemptId);
  const isWanted = isHeld(left) || left.attempts.some(({ claim: made }) => made !== undefined);
  return isWanted ? left : giveBack(left, turn);
}

/** Stores the result of a change at the code host, or of a check. */
export function applyChange(
  context: CodeHostConnectionContext,
  { turn, connection, isTold }: Delivered<ConnectionChanged<string>>,
): CodeHostConnectionContext {
  if (isTold) turn.reply(true);
  const changed = storeConnection(turn, context, connection);
  if (connection.state !== "deleted") return changed;
  turn.cancelWake(CHECK);
  return giveBack(changed, turn);
}

/** Checks the installation at the code host, and schedules the next check. */
export function startInstallationCheck({ host, installationId }: CodeHostConnectionContext, turn: Turn): void {
  turn.start(INSTALLATION_CHECK_EFFECT.request(turn.newId("look"), { host, installationId }));
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
}

/** Removes the connection. */
export function disconnect(context: CodeHostConnectionContext, turn: Turn<null>): CodeHostConnectionContext {
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
