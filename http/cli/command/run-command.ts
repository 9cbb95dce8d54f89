import { ApiError, ConnectionError } from "../../client/entry.js";
import { type CommonOptions, Context } from "./context.js";
import { CommandError, type ExitCode, exitCodes } from "./exit-codes.js";
import { toJson, toLines } from "./printable.js";
import type { ProcessParts, Terminal } from "./terminal.js";

/** Runs a command; returns its exit code. Prints errors to standard error. */
export async function runCommand(
  { terminal, interruption }: ProcessParts,
  options: CommonOptions,
  run: (context: Context) => Promise<ExitCode | undefined | void>,
): Promise<ExitCode> {
  const listening = interruption();
  const { signal } = listening;
  try {
    return (await run(new Context(terminal, options, listening))) ?? exitCodes.done;
  } catch (error) {
    return report(terminal, isInterruption(error, signal) ? signal.reason : error, options.json === true);
  } finally {
    listening.end();
  }
}

/** Whether an error is how a wait or a call ends when the signal aborts. Other errors may happen after that too. */
function isInterruption(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"));
}

/** Prints an error for a person, or as JSON; returns the exit code. Unexpected errors are printed with their stack. */
function report(terminal: Terminal, error: unknown, isJson: boolean): ExitCode {
  const { message, exitCode, problem } = describe(error);
  if (isJson) terminal.note(toJson({ error: message, ...problem }));
  else terminal.note(`${terminal.paint("red", "error:")} ${toLines(message)}`);
  return exitCode;
}

function describe(error: unknown): { message: string; exitCode: ExitCode; problem?: object } {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ConnectionError) {
    const { url, message } = error;
    const advice = `cannot reach ${url}: is the service running? (start a local one with signalbox dev)`;
    return { message: url === null ? message : advice, exitCode: exitCodes["no-service"] };
  }
  if (error instanceof ApiError) {
    const { status, requestId } = error;
    const problem = { status, requestId, ...error.problem };
    if (status !== 401) return { message: error.message, exitCode: exitCodes.failed, problem };
    const message = `${error.message}\nRun signalbox login to sign in, or set SIGNALBOX_TOKEN.`;
    return { message, exitCode: exitCodes["no-service"], problem };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, exitCode: exitCodes.failed };
}
