import type { Delivered, Turn } from "../../runtime/turn.js";
import {
  type CodeHostConnectionContext,
  type ConfirmationBegun,
  type ConfirmationRefused,
  type Confirmed,
  type ConnectionChanged,
  requesterOfAttempt,
} from "./classify-connection.js";
import { CONFIRMATION_EFFECT } from "./confirmation.effects.js";
import { attemptTopic, type ConnectOutcome } from "./connection.messages.js";
import { type CodeHostConnection, removeCodeHostConnection, storeCodeHostConnection } from "./connection.table.js";
import { codeHostConnectionView } from "./connection.view.js";
import { INSTALLATION_CHECK_EFFECT } from "./installation-check.effects.js";

/** What the transitions of a connection do; the machine says when. */

/** How often the code host is asked how an installation is, in milliseconds. */
export const INSTALLATION_CHECK_INTERVAL_MS = 6 * 60 * 60 * 1_000;
/** The wake-up for it. */
const CHECK = "look";

/** Has the code host asked. */
export function startConfirmation(
  context: CodeHostConnectionContext,
  { turn, attemptId, by, sealedSignIn }: Delivered<ConfirmationBegun>,
): CodeHostConnectionContext {
  turn.start(CONFIRMATION_EFFECT.request(attemptId, sealedSignIn));
  turn.reply(null);
  return { ...context, attempts: [...context.attempts, { id: attemptId, by }] };
}

/** Connects the installation, or brings what is known of it up to date. */
export function connect(
  context: CodeHostConnectionContext,
  { turn, attemptId, installation }: Delivered<Confirmed<string>>,
): CodeHostConnectionContext {
  const { host, installationId } = context;
  const earlier = context.connection?.state === "deleted" ? null : context.connection;
  const connection: CodeHostConnection = {
    ...{ host, installationId, account: installation.account },
    state: installation.isSuspended ? "suspended" : "connected",
    connectedBy: earlier?.connectedBy ?? requesterOfAttempt(context, attemptId),
    connectedAtMs: earlier?.connectedAtMs ?? turn.now,
    asOfMs: installation.updatedAtMs,
  };
  const outcome: ConnectOutcome = { connection };
  turn.publishChange(attemptTopic(attemptId), outcome);
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
  return storeConnection(turn, withoutAttempt(context, attemptId), connection);
}

/** Tells who waits for a confirmation why it came to nothing. */
export function publishRefusal(
  context: CodeHostConnectionContext,
  { turn, attemptId, refusal }: Delivered<ConfirmationRefused>,
): CodeHostConnectionContext {
  const outcome: ConnectOutcome = refusal;
  turn.publishChange(attemptTopic(attemptId), outcome);
  return withoutAttempt(context, attemptId);
}

/** Keeps what a change there, or a look at it, led to. */
export function applyChange(
  context: CodeHostConnectionContext,
  { turn, connection, isTold }: Delivered<ConnectionChanged<string>>,
): CodeHostConnectionContext {
  if (isTold) turn.reply(true);
  if (connection.state === "deleted") turn.cancelWake(CHECK);
  return storeConnection(turn, context, connection);
}

/** Has the code host asked how the installation is, and again in some hours. */
export function startInstallationCheck({ host, installationId }: CodeHostConnectionContext, turn: Turn): void {
  turn.start(INSTALLATION_CHECK_EFFECT.request(turn.newId("look"), { host, installationId }));
  turn.wake(CHECK, turn.now + INSTALLATION_CHECK_INTERVAL_MS);
}

/** Takes the connection away. */
export function disconnect(context: CodeHostConnectionContext, turn: Turn): CodeHostConnectionContext {
  turn.reply(null);
  if (context.connection === null) return context;
  turn.cancelWake(CHECK);
  removeCodeHostConnection(turn, turn.self.partition, context);
  publishConnection(turn, context.connection, "disconnected");
  return { ...context, connection: null };
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
