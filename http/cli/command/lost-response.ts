import { ApiError, ConnectionError } from "../../client/entry.js";
import { CommandError, exitCodes } from "./exit-codes.js";

/**
 * True if the service refused the call, which then had no effect. False after a lost response or a server error,
 * because the call may have taken effect.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 408;
}

/**
 * Awaits a write. If its response is lost, throws a {@link CommandError} with `advice`: what may have happened, and
 * what to do. Do not pass an abort signal to the call, so that an interruption does not lose the response.
 */
export async function withAdviceIfLost<Result>(call: Promise<Result>, advice: string): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error) || !(error instanceof ApiError || error instanceof ConnectionError)) throw error;
    const exitCode = error instanceof ConnectionError ? exitCodes["no-service"] : exitCodes.failed;
    throw new CommandError(`${error.message}\n${advice}`, exitCode, { cause: error });
  }
}
