import type { StreamTopic } from "../access/stream-topic.js";
import { findMemberWorkspace } from "../replays/member-workspace.js";
import { replayChecks } from "./check.table.js";
import { checkView } from "./check.view.js";

/**
 * The topic of a check, for those who may read its team's outcomes. Its id is looked up within a workspace. Changes say
 * how far it has come; what regressed, and why, is in a read.
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
