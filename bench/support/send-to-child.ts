import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import type { Load, LoadFigures } from "./load.js";

/** Starts a module of this folder in a process of its own with a message, and returns what it answers. */
export async function sendToChild(
  module: string,
  message: object,
  priority: number = constants.priority.PRIORITY_NORMAL,
): Promise<unknown> {
  const child: ChildProcess = fork(new URL(module, import.meta.url));
  if (child.pid !== undefined) setPriority(child.pid, priority);
  child.send(message);
  const [figures] = await once(child, "message");
  child.kill();
  return figures;
}

/**
 * Generates a load in a process of its own. One with the lowest priority takes processor time only where nobody else wants
 * it, as clients on machines of their own would.
 */
export async function measureLoad(load: Load, priority?: number): Promise<LoadFigures> {
  return (await sendToChild("./load.js", load, priority)) as LoadFigures;
}
