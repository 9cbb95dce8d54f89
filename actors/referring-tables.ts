import { actionRuns } from "./integration-work/actions/action-run.table.js";
import { deliveries } from "./integration-work/deliveries/delivery.table.js";
import { pullRequests } from "./pull-requests/pull-request.table.js";
import { replayPairs } from "./replays/judging/replay-pair.table.js";
import { replayVerdicts } from "./replays/judging/replay-verdict.table.js";
import { replayInputs } from "./replays/replay/replay-input.table.js";
import { runCheckouts, runSteps } from "./runs/run.table.js";
import { runInputs } from "./runs/run-input.table.js";
import { searchCandidateInputs } from "./searches/candidates/search-candidate.table.js";
import { searchInputs } from "./searches/search/search.table.js";
import type { ReferringTable } from "./tables/blob-recount.js";
import { taskAttachments, taskCheckouts, tasks } from "./tasks/task.table.js";
import { toolCalls } from "./tool-calls/tool-call.table.js";

/** Lists all tables whose rows refer to bodies. The recount of references reads them (`tables/blob-recount.ts`). */
export const referringTables: readonly ReferringTable[] = [
  runInputs,
  runCheckouts,
  runSteps,
  toolCalls,
  tasks,
  taskCheckouts,
  taskAttachments,
  pullRequests,
  deliveries,
  actionRuns,
  replayInputs,
  replayVerdicts,
  replayPairs,
  searchInputs,
  searchCandidateInputs,
];
