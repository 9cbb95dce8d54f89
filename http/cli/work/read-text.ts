import type { Context } from "../command/context.js";

/** Returns the text of an argument. `-` stands for standard input. */
export async function readText({ terminal }: Context, given: string): Promise<string> {
  return given === "-" ? (await terminal.readInput()).trimEnd() : given;
}
