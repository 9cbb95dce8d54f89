import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { z } from "zod";
import { CommandError } from "./exit-codes.js";

/**
 * Reads a JSON file; null if it does not exist. Throws a {@link CommandError} with the path if the file cannot be read
 * or does not match the schema.
 */
export function readPrivateFile<Shape>(path: string, schema: z.ZodType<Shape>): Shape | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new CommandError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new CommandError(`${path} is not valid: delete it and run the command again`);
  }
}

/**
 * Writes a JSON file that only its owner can read (0600). The file is replaced in one step, so readers see either the
 * old or the new text.
 */
export function writePrivateFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
