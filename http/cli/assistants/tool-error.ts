import { ApiError, ConnectionError } from "../../client/entry.js";
import { CommandError } from "../command/exit-codes.js";

interface Failure {
  readonly error: unknown;
  /** The address of the service; null if none is configured. */
  readonly url: string | null;
  /** Whether the credential is a workspace token. */
  readonly isToken: boolean;
  readonly idempotencyKey: string;
  readonly isWrite: boolean;
}

/**
 * Returns a message that says what failed and what to do about it. Returns null for any error other than {@link
 * CommandError}, `ConnectionError` and `ApiError`.
 */
export function describeFailure({ error, url, isToken, idempotencyKey, isWrite }: Failure): string | null {
  if (error instanceof CommandError) return error.message;
  if (error instanceof ConnectionError) {
    const repeat = `It is unknown whether the change was made. To repeat the call, pass idempotencyKey: ${JSON.stringify(idempotencyKey)}.`;
    const advice = `No response from ${url}. Ask the person whether the service is running (signalbox dev starts a local one), then call the tool again.`;
    return isWrite ? `${advice}\n${repeat}` : advice;
  }
  if (!(error instanceof ApiError)) return null;
  const { status, requestId, slug, message } = error;
  const kind = [`status ${status}`, slug, requestId === null ? null : `request ${requestId}`];
  const described = `${message} (${kind.filter((part) => part !== null).join(", ")})`;
  if (status !== 401) return described;
  const advice = isToken
    ? `The service does not accept the token for this. Ask the person to check SIGNALBOX_TOKEN, or to run signalbox login ${url} in a terminal and start the assistant without a token.`
    : `The service does not accept the sign-in. Ask the person to run signalbox login ${url} in a terminal, then call the tool again.`;
  return `${described}\n${advice}`;
}
