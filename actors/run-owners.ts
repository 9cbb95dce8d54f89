import { replayRunOwner } from "./replays/copies/replay-run-owner.js";
import type { RunOwner } from "./runs/run-owner.js";
import { searchRunOwner } from "./searches/iterations/search-run-owner.js";
import { taskRunOwner } from "./tasks/task-run-owner.js";

/** All kinds of run owners. Each area adds one line. */
export const runOwners: readonly RunOwner[] = [taskRunOwner, replayRunOwner, searchRunOwner];
