import type { StreamTopic } from "../../access/visibility/stream-topic.js";
import { findMemberWorkspace } from "../reads/member-workspace.js";
import { replaySets } from "./replay-set.table.js";
import { entryView, listEntries, replaySetView } from "./replay-set.view.js";
import { findStationNow } from "./run-refusal.js";
import { type HealthTerms, readHealth } from "./set-health.queries.js";

/**
 * The topic of a replay set, for callers who may read the team's outcomes. `workspaceOf` looks for the set in the
 * caller's workspaces, because set ids are stored by workspace.
 */
export function replaySetTopicView(terms: HealthTerms): StreamTopic {
  return {
    workspaceOf: (reading, caller, id) =>
      findMemberWorkspace(reading, caller, (workspaceId) => replaySets.get(reading, workspaceId, id) !== undefined),
    audience: (reading, { workspaceId, id }) => {
      const set = replaySets.get(reading, workspaceId, id);
      return set === undefined ? undefined : { outcomesOf: set.teamId };
    },
    view: (reading, { workspaceId, id }) => {
      const set = replaySets.get(reading, workspaceId, id);
      if (set === undefined) return undefined;
      const place = { workspaceId, station: findStationNow(reading, workspaceId, set) };
      const entries = listEntries(reading, workspaceId, set).map((entry) => entryView(reading, place, entry));
      const health = readHealth(reading, workspaceId, set, terms);
      return replaySetView(set, { ...place, entries, health });
    },
  };
}
