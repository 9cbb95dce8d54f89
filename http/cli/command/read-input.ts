import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError, exitCodes } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** The folder and the standard input that {@link readInput} and {@link readArgument} use. */
type Source = Pick<Terminal, "folder" | "readInput">;

/** Reads a file; `-` means standard input. Throws a {@link CommandError} if the file cannot be read. */
export async function readInput({ folder, readInput: readStandardInput }: Source, file: string): Promise<string> {
  if (file === "-") return await readStandardInput();
  return await readFile(resolve(folder, file), "utf8").catch((error: unknown) => {
    throw new CommandError(explain(file, error), exitCodes.usage);
  });
}

function explain(file: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return `there is no file ${file}`;
  if (code === "EISDIR") return `${file} is a folder`;
  if (code === "EACCES") return `you may not read ${file}`;
  return `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Returns an argument, or the text on standard input for `-`. */
export async function readArgument(terminal: Source, given: string): Promise<string> {
  return given === "-" ? await readInput(terminal, given) : given;
}
