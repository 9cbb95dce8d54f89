import type { StreamTopic } from "../access/visibility/stream-topic.js";
import { findMemberWorkspace } from "../replays/reads/member-workspace.js";
import { replayChecks } from "./check.table.js";
import { checkView } from "./check.view.js";

/**
 * Defines the topic of a check, for readers of its team's outcomes. A check's id can be looked up only within a
 * workspace. Changes show its progress; a read shows what regressed, and why.
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
