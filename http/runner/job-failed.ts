import { type FailureCode, MAX_OUTPUT_CHARACTERS, type RunFailure } from "../../actors/runners/protocol.js";

/** Maximum length of a failure's message, in characters. */
const MAX_MESSAGE = 2_000;

/** Thrown when a run fails, with the code and output for the service. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  constructor(
    readonly code: FailureCode,
    message: string,
    readonly output = "",
  ) {
    super(message);
  }
}

/** Converts an error to the failure for the service: masked, and shortened to the message limits. */
export function toFailure({ code, message, output }: JobFailed, mask: (text: string) => string): RunFailure {
  return { code, message: mask(message).slice(0, MAX_MESSAGE), output: mask(output).slice(-MAX_OUTPUT_CHARACTERS) };
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
