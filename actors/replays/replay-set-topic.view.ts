import type { StreamTopic } from "../access/stream-topic.js";
import { seesOutcomes } from "../access/visibility.js";
import { listMemberships } from "../workspaces/member.table.js";
import { replaySets } from "./replay-set.table.js";
import { entryView, listEntries, replaySetView } from "./replay-set.view.js";
import { findStationNow } from "./run-refusal.js";

/** The topic of a replay set, for those who may read its team's outcomes. Its id is looked up within a workspace. */
export const replaySetTopicView: StreamTopic = {
  workspaceOf: (reading, caller, id) => {
    const workspaces =
      caller.kind === "token" ? [caller.workspaceId] : listMemberships(reading, caller.userId).map((one) => one.id);
    return workspaces.find((workspaceId) => replaySets.get(reading, workspaceId, id) !== undefined);
  },
  sees: (reading, caller, { workspaceId, id }) => {
    const set = replaySets.get(reading, workspaceId, id);
    return set !== undefined && seesOutcomes(reading, caller, workspaceId, set.teamId);
  },
  view: (reading, { workspaceId, id }) => {
    const set = replaySets.get(reading, workspaceId, id);
    if (set === undefined) return undefined;
    const place = { workspaceId, station: findStationNow(reading, workspaceId, set) };
    const entries = listEntries(reading, workspaceId, set).map((entry) => entryView(reading, place, entry));
    return replaySetView(set, place.station, entries);
  },
};
