import type { StreamTopic } from "../access/visibility/stream-topic.js";
import { listMemberships } from "../workspaces/member.table.js";
import { findHookOccurrenceById } from "./hook-occurrence.table.js";
import { hookOccurrenceView } from "./hook-occurrence.view.js";

/**
 * The stream topic of one hook occurrence, for callers who can read the outcomes of its team. The topic finds the
 * occurrence by its id in any of the caller's workspaces.
 */
export const hookOccurrenceTopicView: StreamTopic = {
  workspaceOf: (reading, caller, id) => {
    const workspaces =
      caller.kind === "token" ? [caller.workspaceId] : listMemberships(reading, caller.userId).map((one) => one.id);
    return workspaces.find((workspaceId) => findHookOccurrenceById(reading, workspaceId, id) !== undefined);
  },
  audience: (reading, { workspaceId, id }) => {
    const hookOccurrence = findHookOccurrenceById(reading, workspaceId, id);
    return hookOccurrence === undefined ? undefined : { outcomesOf: hookOccurrence.work.teamId };
  },
  view: (reading, { workspaceId, id }) => {
    const hookOccurrence = findHookOccurrenceById(reading, workspaceId, id);
    return hookOccurrence === undefined ? undefined : hookOccurrenceView(reading, workspaceId, hookOccurrence);
  },
};
