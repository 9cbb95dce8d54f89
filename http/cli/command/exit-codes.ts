/** The exit codes of the commands. `http/cli/check/outcome.ts` has the verdicts of `check` as exit codes. */
export const exitCodes = {
  done: 0,
  /**
   * The command failed. For example, the service refused the request, the object does not exist, a replay check failed,
   * or `doctor` left damage in the store.
   */
  failed: 1,
  /** `plan`: an apply would change something. */
  "would-change": 2,
  /** `check`: a replay check has no verdict yet. */
  undecided: 2,
  /** The service cannot be reached, or nobody is signed in. `check`: the check could not be asked, for any reason. */
  "no-service": 3,
  /** Wrong arguments, as `EX_USAGE` of sysexits. */
  usage: 64,
  interrupted: 130,
  /** Only `check`: ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Ends a command with a message for the person and an exit code. If the cause is an error response of the service,
 * `--json` also prints that response's problem.
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options: ErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/**
 * True if a wait or a call rejected with `error` because `signal` aborted. After an abort, a call can still reject with
 * another error; then returns false.
 */
export function isInterruption(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"));
}
