import { locateWorkspace, type StreamTopic } from "../access/visibility/stream-topic.js";
import { listOpenApprovals } from "./approval.table.js";
import { approvalView } from "./approval.view.js";
import { runs } from "./run.table.js";
import { stepPageView } from "./run.view.js";
import { runRowView } from "./run-row.view.js";

/** Number of steps in the first view of a run's stream. The API returns earlier steps. */
const STEPS_SHOWN = 200;

/** The topic of a run, for callers who may read the outcomes of the run's team. */
export const runTopicView: StreamTopic = {
  workspaceOf: locateWorkspace,
  audience: (reading, { workspaceId, id }) => {
    const run = runs.get(reading, workspaceId, id);
    return run === undefined ? undefined : { outcomesOf: run.teamId };
  },
  view: (reading, { workspaceId, id }) => {
    const run = runs.get(reading, workspaceId, id);
    if (run === undefined) return undefined;
    const after = Math.max(-1, run.steps - STEPS_SHOWN - 1);
    const { steps } = stepPageView(reading, workspaceId, id, { after, limit: STEPS_SHOWN });
    const approvals = listOpenApprovals(reading, workspaceId, id).map(approvalView);
    return { run: runRowView(run), steps, approvals };
  },
};
