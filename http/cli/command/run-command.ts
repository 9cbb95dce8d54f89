import { readJson } from "../../../actors/exact-json.js";
import { ApiError, ConnectionError } from "../../client/entry.js";
import { type CommonOptions, Context } from "./context.js";
import { CommandError, type ExitCode, exitCodes, isInterruption } from "./exit-codes.js";
import { chooseLogin } from "./logins.js";
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
    return report(terminal, isInterruption(error, signal) ? signal.reason : error, options);
  } finally {
    listening.end();
  }
}

/**
 * Prints an error for a person, or as JSON; returns the exit code. Prints an unexpected error with its stack. Does not
 * call an interruption an error, because the person wanted it.
 */
function report(terminal: Terminal, error: unknown, options: CommonOptions): ExitCode {
  const { message, exitCode, problem } = describe(error, (said) => explainSignIn(terminal, options, said));
  if (options.json === true) terminal.note(toJson({ error: message, ...problem }));
  else if (exitCode === exitCodes.interrupted) terminal.note(toLines(message));
  else terminal.note(`${terminal.paint("red", "error:")} ${toLines(message)}`);
  return exitCode;
}

function describe(
  error: unknown,
  explainSignIn: (said: string) => string,
): { message: string; exitCode: ExitCode; problem?: object } {
  if (error instanceof CommandError) {
    const { message, exitCode, cause } = error;
    return cause instanceof ApiError ? { message, exitCode, problem: toProblem(cause) } : { message, exitCode };
  }
  if (error instanceof ConnectionError) {
    const { url, message } = error;
    const advice = `cannot reach ${url}: is the service running? (start a local one with signalbox dev)`;
    return { message: url === null ? message : advice, exitCode: exitCodes["no-service"] };
  }
  if (error instanceof ApiError) {
    const problem = toProblem(error);
    const said = withoutRequest(error);
    if (error.status !== 401) return { message: said, exitCode: exitCodes.failed, problem };
    return { message: explainSignIn(said), exitCode: exitCodes["no-service"], problem };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, exitCode: exitCodes.failed };
}

/**
 * Returns the message for a 401: what happened, and what to do. A token from `--token` or `SIGNALBOX_TOKEN` must be
 * removed first, because it takes precedence over a sign-in.
 */
function explainSignIn(terminal: Terminal, options: CommonOptions, said: string): string {
  if (options.token !== undefined) return `${said}\nOmit --token and run signalbox login.`;
  if ((terminal.env.SIGNALBOX_TOKEN ?? "") !== "") return `${said}\nUnset SIGNALBOX_TOKEN and run signalbox login.`;
  const login = chooseLogin(terminal, options);
  const next = "Run signalbox login to sign in, or set SIGNALBOX_TOKEN.";
  if (login === null || login.token !== undefined) return `${said}\n${next}`;
  const { url, cookie } = login;
  return `${cookie === undefined ? `you are not signed in to ${url}` : `your sign-in to ${url} has ended`}\n${next}`;
}

function toProblem({ status, requestId, problem, text }: ApiError): object {
  return { status, requestId, ...(problem === null ? {} : (readJson(text) as object)) };
}

/** Returns the message of an error. Removes a hint that names an API request, because people use commands instead. */
function withoutRequest({ message, problem }: ApiError): string {
  const { hint = "" } = problem ?? {};
  return hint.includes("GET /api/") ? message.replace(`\n${hint}`, "") : message;
}
