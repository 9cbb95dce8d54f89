import { replayRunOwner } from "./replays/replay-run-owner.js";
import type { RunOwner } from "./runs/run-owner.js";
import { searchRunOwner } from "./searches/search-run-owner.js";
import { taskRunOwner } from "./tasks/task-run-owner.js";

/** All kinds of run owners. Each area adds one line. */
export const runOwners: readonly RunOwner[] = [taskRunOwner, replayRunOwner, searchRunOwner];
