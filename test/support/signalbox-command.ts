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
