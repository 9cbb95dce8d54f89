import { Command } from "commander";
import t from "tap";
import { CommandTree, endWith, type Run } from "../../../../http/cli/command/define-command.js";
import { exitCodes } from "../../../../http/cli/command/exit-codes.js";
import { processTerminal } from "../../../../http/cli/command/terminal.js";

/**
 * Runs a command line of a program with the command `work`. Returns its exit code and output, and whether the command
 * ran.
 */
async function run(args: readonly string[], definition: object = {}) {
  const seen = { code: null as number | null, listens: 0, ran: false, out: "", err: "" };
  const program = new Command("signalbox").exitOverride(endWith(exitCodes.usage)).configureOutput({
    writeOut: (text) => {
      seen.out += text;
    },
    writeErr: (text) => {
      seen.err += text;
    },
  });
  const interruption = () => {
    seen.listens += 1;
    return { signal: new AbortController().signal, onAgain: () => undefined, end: () => undefined };
  };
  const exit = (code: number) => {
    seen.code = code;
  };
  const load = async (): Promise<Run<object, []>> => async () => {
    seen.ran = true;
  };
  const common = { usage: "work", summary: "do the work", example: "signalbox work", isLocal: true, load };
  new CommandTree(program, { terminal: processTerminal(), interruption, exit }).add({ ...common, ...definition });
  await program
    .parseAsync(args, { from: "user" })
    .catch((error: { readonly exitCode: number }) => exit(error.exitCode));
  return seen;
}

t.test("a command listens for signals while it runs, unless it leaves them alone", async (t) => {
  t.match(await run(["work"]), { code: 0, listens: 1, ran: true });
  t.match(await run(["work"], { handlesSignals: true }), { code: 0, listens: 0, ran: true });
});

t.test("wrong arguments end with 64 or the command's own code, the help with 0, and run nothing", async (t) => {
  t.match(await run(["work", "--much"]), { code: 64, listens: 0, ran: false, err: /unknown option '--much'/ });
  t.match(await run(["work", "--much"], { usageCode: 3 }), { code: 3, ran: false });
  t.match(await run(["work", "--help"], { usageCode: 3 }), {
    code: 0,
    ran: false,
    out: /Example:\n {2}signalbox work/,
  });
});

t.test("a command has --json, unless it has no result", async (t) => {
  t.match(await run(["work", "--json"]), { code: 0, ran: true });
  t.match(await run(["work", "--json"], { hasNoResult: true }), { code: 64, ran: false });
});
