import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Turn } from "../../runtime/turn.js";
import { runs } from "../runs/run.table.js";
import { changedMembers } from "../tables/changed-members.js";
import { indexedTable } from "../tables/indexed-table.js";
import { pin, unpin } from "../tables/pins.js";
import { holdCommits, letGoOfCommits } from "./entry-commits.js";
import type { ReplayRow } from "./replay.js";

/** Most sets of a team: lists of them have no pages. */
export const MAX_SETS = 100;

/** A named set of ended runs at one station, which may be repeated. Its runs are entries. */
export interface ReplaySetRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  /** The station's key, which its id never outlives. */
  readonly stationKey: string;
  readonly name: string;
  /** From 1; rises with each entry that is added or removed. */
  readonly version: number;
  /** Whether changes of the station are checked with it; at most one set of a station. */
  readonly guardsChanges: boolean;
  readonly createdAt: string;
}

/**
 * What the stream of a set publishes: the members that changed, and the id, where runs that it holds are read anew; a
 * replay of it that is new or in another state; that its health is to be read anew; that it is gone.
 */
type ReplaySetChanged =
  | { readonly type: "replay-set"; readonly set: Pick<ReplaySetRow, "id"> & Partial<ReplaySetRow> }
  | { readonly type: "replay"; readonly replay: Pick<ReplayRow, "id" | "candidate" | "state"> }
  | { readonly type: "health" }
  | { readonly type: "deleted" };

export const replaySetTopic = topic<ReplaySetChanged>("replay-set");

/** `[set]`; ids rise with time. */
export const replaySets = indexedTable<ReplaySetRow>("replay-set", {
  order: ["id"],
  changes: (set, _reading, { first }) => {
    const changed = changedMembers(first, set);
    if (Object.keys(changed).length === 0) return [];
    return [toChangeEntry(replaySetTopic(set.id), { type: "replay-set", set: { ...changed, id: set.id } })];
  },
  indexes: { "team-replay-set": ["teamId"], "station-replay-set": ["teamId", "lineId", "stationId"] },
});

/**
 * A run of a set. It pins the run, and so its task, input, steps and bodies, and holds the archives of the commits that
 * the run began from.
 */
export interface ReplayEntryRow {
  readonly setId: string;
  /** Its place in the set: the version that the set had with it first. */
  readonly place: number;
  readonly runId: string;
  readonly taskId: string;
  readonly addedAt: string;
}

/** `[set, place]`, in the order in which they were added */
export const replayEntries = indexedTable<ReplayEntryRow>("replay-entry", {
  ...{ under: ["setId"], order: ["place"] },
  indexes: { "replay-entry-of-run": ["runId", "setId"] },
});

/** Adds runs to a set, in their order. In a turn of the team's sets. */
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
    pin(turn, partition, pinOf(set.id, runId));
    holdCommits(turn, { runId, holder: set.id });
  }
}

/** Takes a run out of a set. In a turn of the team's sets. */
export function removeEntry(turn: Turn, set: ReplaySetRow, entry: ReplayEntryRow): void {
  replaySets.put(turn, turn.self.partition, set, { ...set, version: set.version + 1 });
  releaseEntry(turn, entry);
}

/** Removes a set with its entries. In a turn of the team's sets. */
export function removeSet(turn: Turn, set: ReplaySetRow): void {
  const { partition } = turn.self;
  for (const entry of replayEntries.list(turn, partition, [set.id])) releaseEntry(turn, entry);
  replaySets.remove(turn, partition, set);
  turn.publishChange(replaySetTopic(set.id), { type: "deleted" });
}

function releaseEntry(turn: Turn, entry: ReplayEntryRow): void {
  replayEntries.remove(turn, turn.self.partition, entry);
  unpin(turn, turn.self.partition, pinOf(entry.setId, entry.runId));
  letGoOfCommits(turn, { runId: entry.runId, holder: entry.setId });
}

function pinOf(setId: string, runId: string) {
  return { of: runs.name, id: runId, by: setId };
}
