import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { whyNotStarted } from "../../runner/process/find-program.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";

/** The program that the runner starts for each run. */
export interface Agent {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** The agent's description for the person. */
  readonly title: string;
  readonly isExample: boolean;
}

const EXAMPLE = fileURLToPath(new URL("./example-agent.js", import.meta.url));

/**
 * Returns the given agent, or the example agent if none is given. Throws a {@link CommandError} if the program cannot
 * start.
 *
 * Agents start in other checkouts, which do not have uncommitted files. So a program with a slash that exists relative
 * to `folder` gets its absolute path. Any other path with a slash stays relative to the checkout in which the agent
 * starts. It must exist in the person's checkout `top`.
 */
export async function toAgent(
  { folder, top }: { readonly folder: string; readonly top: string },
  [program, ...args]: readonly string[],
): Promise<Agent> {
  if (program === undefined) {
    return {
      command: [process.execPath, EXAMPLE],
      title: "built-in example agent: calls no model, adds a note (use --command for your own)",
      isExample: true,
    };
  }
  const [path, inCheckout] = [resolve(folder, program), resolve(top, program)];
  const isPath = program.includes("/");
  const isOfFolder = isPath && existsSync(path);
  const why =
    isPath && !isOfFolder && !existsSync(inCheckout)
      ? `there is no file ${path}`
      : await whyNotStarted(isOfFolder ? path : isPath ? inCheckout : program, process.env.PATH);
  if (why !== null) throw new CommandError(`cannot start the agent ${program}: ${why}`, exitCodes.usage);
  const command = [isOfFolder ? path : program, ...args];
  return { command, title: command.join(" "), isExample: false };
}
