import type { RunOwner } from "./runs/run-owner.js";
import { taskRunOwner } from "./tasks/task-run-owner.js";

/** Who wants runs, and what runs read of them; one line for each kind of owner. */
export const runOwners: readonly RunOwner[] = [taskRunOwner];
