import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that works the runs. */
export interface Agent {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** Shown to the person. */
  readonly title: string;
}

const EXAMPLE = fileURLToPath(new URL("./example-agent.js", import.meta.url));

/**
 * Returns the given agent, or the example agent if none is given. A path is resolved against the folder if the program
 * exists there, because agents start in checkouts, which do not have uncommitted programs.
 */
export function toAgent(folder: string, [program, ...args]: readonly string[]): Agent {
  if (program === undefined) {
    return {
      command: [process.execPath, EXAMPLE],
      title: "built-in example agent: calls no model, adds a note (use --command for your own)",
    };
  }
  const path = resolve(folder, program);
  const command = [program.includes("/") && existsSync(path) ? path : program, ...args];
  return { command, title: command.join(" ") };
}
