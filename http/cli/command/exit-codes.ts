/** The exit codes of the commands, except `signalbox check` and the programs on a store, which document their own. */
export const exitCodes = {
  done: 0,
  /** The service refused, the object does not exist, or the work ended badly. */
  failed: 1,
  /** `signalbox plan`: an apply would change something. */
  "would-change": 2,
  /** The service cannot be reached, or nobody is signed in. */
  "no-service": 3,
  /** Wrong arguments, as `EX_USAGE` of sysexits. */
  usage: 64,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Ends a command with a message for the person and an exit code. If the cause is an error of the service, `--json` prints
 * its problem too.
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options: ErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Whether an error is how a wait or a call ends when the signal aborts. Other errors may happen after that too. */
export function isInterruption(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"));
}
