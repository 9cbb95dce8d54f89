import { ApiError, ConnectionError } from "../../client/entry.js";
import { CommandError } from "../command/exit-codes.js";

/** Where and how a call failed. */
interface Failure {
  readonly error: unknown;
  /** The address of the service; null if none is configured. */
  readonly url: string | null;
  /** Whether the credential is a workspace token. */
  readonly isToken: boolean;
  /** The key of the call's write. */
  readonly idempotencyKey: string;
  readonly isWrite: boolean;
}

/** Says what failed and what to do about it. Null for an error of the program itself, which only the log may show. */
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
