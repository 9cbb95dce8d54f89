import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import type { Load, LoadFigures } from "./load.js";

/** Starts a module of this folder in a separate process, sends it a message, and returns its answer. */
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
 * Generates a load in a separate process. With the lowest priority, the load uses only spare CPU time, like clients on
 * other machines.
 */
export async function measureLoad(load: Load, priority?: number): Promise<LoadFigures> {
  return (await sendToChild("./load.js", load, priority)) as LoadFigures;
}
