import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError, exitCodes } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** Where {@link readInput} and {@link readArgument} read. */
type Source = Pick<Terminal, "folder" | "readInput">;

/** Reads a file; `-` stands for standard input. Throws a {@link CommandError} if the file cannot be read. */
export async function readInput({ folder, readInput: readStandardInput }: Source, file: string): Promise<string> {
  if (file === "-") return await readStandardInput();
  return await readFile(resolve(folder, file), "utf8").catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`cannot read ${file}: ${reason}`, exitCodes.usage);
  });
}

/** Returns an argument, or the text on standard input for `-`. */
export async function readArgument(terminal: Source, given: string): Promise<string> {
  return given === "-" ? await readInput(terminal, given) : given;
}
