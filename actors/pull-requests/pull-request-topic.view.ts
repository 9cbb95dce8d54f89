import { locateWorkspace, type StreamTopic } from "../access/visibility/stream-topic.js";
import { pullRequests } from "./pull-request.table.js";
import { pullRequestView } from "./pull-request.view.js";

/** The topic of a pull request, for callers who may read the outcomes of the pull request's team. */
export const pullRequestTopicView: StreamTopic = {
  workspaceOf: locateWorkspace,
  audience: (reading, { workspaceId, id }) => {
    const row = pullRequests.get(reading, workspaceId, id);
    return row === undefined ? undefined : { outcomesOf: row.teamId };
  },
  view: (reading, { workspaceId, id }) => {
    const row = pullRequests.get(reading, workspaceId, id);
    return row === undefined ? undefined : pullRequestView(row);
  },
};
