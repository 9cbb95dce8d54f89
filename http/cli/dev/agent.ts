import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that works the runs. */
export interface Agent {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** For the person. */
  readonly title: string;
}

const EXAMPLE = fileURLToPath(new URL("./example-agent.js", import.meta.url));

/**
 * Returns the person's agent, or else the example agent. A program that is given as a path is taken from the folder, if
 * it exists there: agents start in checkouts, where an uncommitted program is not.
 */
export function toAgent(folder: string, [program, ...args]: readonly string[]): Agent {
  if (program === undefined) {
    return {
      command: [process.execPath, EXAMPLE],
      title: "the built-in example agent: it calls no model, and adds a note (your own: --command)",
    };
  }
  const path = resolve(folder, program);
  const command = [program.includes("/") && existsSync(path) ? path : program, ...args];
  return { command, title: command.join(" ") };
}
