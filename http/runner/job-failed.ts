import { type FailureCode, MAX_OUTPUT_CHARACTERS, type RunFailure } from "../../actors/runners/protocol.js";

/** Longest message of a failure, in characters. */
const MAX_MESSAGE = 2_000;

/** A run fails, with the code and the output that the service is told; thrown on the way to the run's end. */
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

/** As the service is told: without what `mask` takes out, and cut to what a message holds. */
export function toFailure({ code, message, output }: JobFailed, mask: (text: string) => string): RunFailure {
  return { code, message: mask(message).slice(0, MAX_MESSAGE), output: mask(output).slice(-MAX_OUTPUT_CHARACTERS) };
}

/** What an error says. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
