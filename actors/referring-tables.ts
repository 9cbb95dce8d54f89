import { runCheckouts } from "./runs/run.table.js";
import { runInputs } from "./runs/run-input.table.js";
import type { Referring } from "./tables/blob-recount.js";
import { taskCheckouts } from "./tasks/task.table.js";

/** Every table whose rows refer to bodies: what refers to one is counted again from these (`tables/blob-recount.ts`). */
export const referringTables: readonly Referring[] = [runInputs, runCheckouts, taskCheckouts];
