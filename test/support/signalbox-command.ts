import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The path of the command that people start. The command needs a build. */
export const signalbox = fileURLToPath(new URL("../../../http/cli/signalbox.mjs", import.meta.url));

/** The result of a command. */
export interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `signalbox <args>` until it exits. */
export function runSignalbox(...args: readonly string[]): Promise<CommandEnd> {
  return new Promise((resolve) => {
    execFile(process.execPath, [signalbox, ...args], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** A program of `http/cli/store/`. */
export type StoreProgram = "compact" | "dead-letters" | "doctor" | "rebuild-directory" | "recount-bodies";

let runs = 0;

/**
 * Runs a program of `http/cli/store/` in this process, which is ten times faster than starting a process. Each call
 * evaluates the program's module again. Calls must not overlap.
 *
 * Use it to test what a program does with a store. Use {@link runSignalbox} for a store that this process has open, and
 * once per program to test the path from the command to the program.
 */
export async function runStoreProgram(name: StoreProgram, ...args: readonly string[]): Promise<CommandEnd> {
  const { argv, exitCode } = process;
  const { log, error } = console;
  const [out, err]: [string[], string[]] = [[], []];
  process.argv = [process.execPath, name, ...args];
  process.exitCode = undefined;
  console.log = (line: string) => void out.push(`${line}\n`);
  console.error = (line: string) => void err.push(`${line}\n`);
  runs += 1;
  try {
    await import(new URL(`../../http/cli/store/${name}.js?run=${runs}`, import.meta.url).href);
    return { code: Number(process.exitCode ?? 0), out: out.join(""), err: err.join("") };
  } finally {
    Object.assign(process, { argv, exitCode });
    Object.assign(console, { log, error });
  }
}
