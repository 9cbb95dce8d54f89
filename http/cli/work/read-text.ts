import type { Context } from "../command/context.js";

/** Returns the text of an argument, or reads it from standard input for `-`. */
export async function readText({ terminal }: Context, given: string): Promise<string> {
  return given === "-" ? (await terminal.readInput()).trimEnd() : given;
}
