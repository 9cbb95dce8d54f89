import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { listenForSignals } from "../../http/cli/command/terminal.js";
import { runCommandLine } from "../../http/cli/program.js";

/** The path of the command that people start. The command needs a build. */
export const signalbox = fileURLToPath(new URL("../../../http/cli/signalbox.mjs", import.meta.url));

/** The result of a command. */
export interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `signalbox <args>` until the command exits. */
export function runSignalbox(...args: readonly string[]): Promise<CommandEnd> {
  return new Promise((resolve) => {
    execFile(process.execPath, [signalbox, ...args], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** A command of `http/cli/store/`. */
export type StoreProgram = "compact" | "dead-letters" | "doctor" | "rebuild-directory" | "recount-bodies";

/**
 * Runs a command of `http/cli/store/` in this process, which is ten times faster than in its own process. Use {@link
 * runSignalbox} instead in these cases:
 *
 * - The test's process has the store open.
 * - The test checks that the command `signalbox` reaches this program. One such test per command is enough.
 */
export async function runStoreProgram(name: StoreProgram, ...args: readonly string[]): Promise<CommandEnd> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    env: {},
    folder: process.cwd(),
    ask: null,
    askHidden: null,
    isTerminal: false,
    columns: 120,
    readInput: async () => "",
    print: (line: string) => void out.push(`${line}\n`),
    write: (text: string) => void out.push(text),
    note: (line: string) => void err.push(`${line}\n`),
    paint: (_colour: string, text: string) => text,
  };
  const code = await runCommandLine([name, ...args], { terminal, interruption: listenForSignals });
  return { code, out: out.join(""), err: err.join("") };
}
