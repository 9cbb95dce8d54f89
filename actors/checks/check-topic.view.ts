import type { StreamTopic } from "../access/visibility/stream-topic.js";
import { findMemberWorkspace } from "../replays/reads/member-workspace.js";
import { replayChecks } from "./check.table.js";
import { checkView } from "./check.view.js";

/**
 * The topic of a check, for callers who may read the team's outcomes. `workspaceOf` looks for the check in the caller's
 * workspaces, because check ids are stored by workspace. Changes contain the progress only. The view also has the
 * regressed tasks and the reasons.
 */
export const replayCheckTopicView: StreamTopic = {
  workspaceOf: (reading, caller, id) =>
    findMemberWorkspace(reading, caller, (workspaceId) => replayChecks.get(reading, workspaceId, id) !== undefined),
  audience: (reading, { workspaceId, id }) => {
    const check = replayChecks.get(reading, workspaceId, id);
    return check === undefined ? undefined : { outcomesOf: check.teamId };
  },
  view: (reading, { workspaceId, id }) => {
    const check = replayChecks.get(reading, workspaceId, id);
    return check === undefined ? undefined : checkView(reading, workspaceId, check, { reused: false, latest: null });
  },
};
