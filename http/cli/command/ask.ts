import { CommandError, exitCodes } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/**
 * Asks a question and returns the answer without surrounding whitespace. Throws a {@link CommandError} if the input
 * ends without an answer. Without a terminal, throws a {@link CommandError} that names the option to use instead.
 */
export async function ask(
  { ask: question }: Pick<Terminal, "ask">,
  text: string,
  { instead, signal }: { readonly instead: string; readonly signal?: AbortSignal },
): Promise<string> {
  if (question === null) throw new CommandError(`standard input is not a terminal: use ${instead}`, exitCodes.usage);
  const answer = await question(text, signal);
  if (answer === null) throw new CommandError("no answer was given", exitCodes.interrupted);
  return answer.trim();
}

/**
 * Asks for confirmation and returns whether the person confirmed: only `y` and `yes` confirm. With `isGiven` (the
 * option `--yes`), returns true without asking.
 */
export async function confirm(
  terminal: Pick<Terminal, "ask">,
  question: string,
  { isGiven, signal }: { readonly isGiven: boolean; readonly signal?: AbortSignal },
): Promise<boolean> {
  if (isGiven) return true;
  const answer = await ask(terminal, `${question} [y/N]`, {
    instead: "--yes",
    ...(signal === undefined ? {} : { signal }),
  });
  return /^y(es)?$/i.test(answer);
}
