import { toChangeEntry, topic } from "../../../runtime/feeds/topic.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { runs } from "../../runs/run.table.js";
import { changedMembers } from "../../tables/changed-members.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { pin, unpin } from "../../tables/pins.js";
import type { ReplayRow } from "../replay/replay.js";
import { holdCommits, releaseCommits } from "./entry-commits.js";
import type { ReplayEntryRow, ReplaySetRow } from "./replay-set.js";

/** Maximum number of sets in a team. Lists of sets are not paginated. */
export const MAX_SETS = 100;

/**
 * Changes on a set's stream. `replay-set`: the changed members with the id; readers then read the set's runs again.
 * `replay`: a replay is new or in a new state. `health`: readers must read the health again. `deleted`: the set is
 * gone.
 */
type ReplaySetChanged =
  | { readonly type: "replay-set"; readonly set: Pick<ReplaySetRow, "id"> & Partial<ReplaySetRow> }
  | { readonly type: "replay"; readonly replay: Pick<ReplayRow, "id" | "candidate" | "state"> }
  | { readonly type: "health" }
  | { readonly type: "deleted" };

export const replaySetTopic = topic<ReplaySetChanged>("replay-set");

/** Key: `[set]`. Set ids increase over time. */
export const replaySets = indexedTable<ReplaySetRow>("replay-set", {
  order: ["id"],
  changes: (set, _reading, { first }) => {
    const changed = changedMembers(first, set);
    if (Object.keys(changed).length === 0) return [];
    return [toChangeEntry(replaySetTopic(set.id), { type: "replay-set", set: { ...changed, id: set.id } })];
  },
  indexes: { "team-replay-set": ["teamId"], "station-replay-set": ["teamId", "lineId", "stationId"] },
});

/** Key: `[set, place]`, in the order of addition. */
export const replayEntries = indexedTable<ReplayEntryRow>("replay-entry", {
  under: ["setId"],
  order: ["place"],
  indexes: { "replay-entry-of-run": ["runId", "setId"] },
});

/** Adds runs to a set, in the given order. Call it in a turn of the actor of the team's sets. */
export function insertEntries(
  turn: Turn,
  set: ReplaySetRow,
  added: readonly Pick<ReplayEntryRow, "runId" | "taskId">[],
): void {
  const { partition } = turn.self;
  const addedAt = new Date(turn.now).toISOString();
  replaySets.put(turn, partition, set, { ...set, version: set.version + added.length });
  for (const [index, { runId, taskId }] of added.entries()) {
    replayEntries.insert(turn, partition, { setId: set.id, place: set.version + 1 + index, addedAt, runId, taskId });
    pin(turn, partition, toPin(set.id, runId));
    holdCommits(turn, { runId, holder: set.id });
  }
}

/** Removes a run from a set. Call it in a turn of the actor of the team's sets. */
export function removeEntry(turn: Turn, set: ReplaySetRow, entry: ReplayEntryRow): void {
  replaySets.put(turn, turn.self.partition, set, { ...set, version: set.version + 1 });
  releaseEntry(turn, entry);
}

/** Removes a set with its entries. Call it in a turn of the actor of the team's sets. */
export function removeSet(turn: Turn, set: ReplaySetRow): void {
  const { partition } = turn.self;
  for (const entry of replayEntries.list(turn, partition, [set.id])) releaseEntry(turn, entry);
  replaySets.remove(turn, partition, set);
  turn.publishChange(replaySetTopic(set.id), { type: "deleted" });
}

function releaseEntry(turn: Turn, entry: ReplayEntryRow): void {
  replayEntries.remove(turn, turn.self.partition, entry);
  unpin(turn, turn.self.partition, toPin(entry.setId, entry.runId));
  releaseCommits(turn, { runId: entry.runId, holder: entry.setId });
}

function toPin(setId: string, runId: string) {
  return { of: runs.name, id: runId, by: setId };
}
