import t from "tap";
import { CommandError, exitCodes } from "../../../../http/cli/command/exit-codes.js";
import { runCommand } from "../../../../http/cli/command/run-command.js";
import { processTerminal } from "../../../../http/cli/command/terminal.js";

/** Runs a command that is interrupted and then throws. Returns the exit code and the command's output. */
async function runInterrupted(toError: (signal: AbortSignal) => unknown) {
  const notes: string[] = [];
  const terminal = { ...processTerminal(), note: (line: string) => void notes.push(line) };
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const interruption = () => ({ signal, onAgain: () => undefined, end: () => undefined });
  const code = await runCommand({ terminal, interruption }, {}, async () => {
    interrupted.abort(new CommandError("interrupted", exitCodes.interrupted));
    throw toError(signal);
  });
  return { code, err: notes.join("\n") };
}

t.test("an interruption is reported for the errors that it causes", async (t) => {
  const abort = new DOMException("This operation was aborted", "AbortError");
  for (const toError of [({ reason }: AbortSignal) => reason, () => abort]) {
    t.match(await runInterrupted(toError), { code: 130, err: /interrupted$/ });
  }
});

t.test("another error after an interruption is reported itself", async (t) => {
  t.match(await runInterrupted(() => new Error("The store has failed")), { code: 1, err: /The store has failed/ });
  t.match(await runInterrupted(() => new CommandError("no such task")), { code: 1, err: /no such task$/ });
});
