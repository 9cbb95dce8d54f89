import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import { invalid, isRefusal, type Refusal } from "../../refusal.js";
import { recordChange } from "../../resources/change-record.table.js";
import { findRequestBefore, type Keyed, recordRequest } from "../../resources/repeated-request.js";
import { isPinned } from "../../tables/pins.js";
import { listUnderWay } from "../replay/replay.table.js";
import type { ReplayEntryRow, ReplaySetRow } from "./replay-set.js";
import type { DeleteSet, MarkGuard, OpenSet, RemoveEntry, RenameSet, SetChanged } from "./replay-set.messages.js";
import { findStationById, refusePlanner, setNotFound } from "./replay-set.queries.js";
import { MAX_SETS, removeEntry, removeSet, replayEntries, replaySets } from "./replay-set.table.js";
import { findStationNow } from "./run-refusal.js";
import { forgetReplays } from "./set-removal.js";

type Result = SetChanged | Refusal;

/** Creates an empty set. */
export function openSet(event: Delivered<OpenSet>): Result {
  const { turn, name, lineId, stationId } = event;
  const refused = refusePlanner(turn, event.caller, turn.self.id);
  if (refused !== null) return refused;
  const before = findBefore(turn, event);
  if (before !== null) return before;
  const { partition, id: teamId } = turn.self;
  const station = findStationById(turn, { workspaceId: partition, teamId }, { lineId, stationId });
  if (isRefusal(station)) return station;
  if (station.kind !== "work") return invalid("", "A replay set requires a work station.");
  if (replaySets.all(turn, partition, { teamId }, { limit: MAX_SETS }).length === MAX_SETS) {
    return { refused: "conflict", detail: `The team has its ${MAX_SETS} replay sets. Delete one first.` };
  }
  const set: ReplaySetRow = {
    id: turn.newId("rset"),
    teamId,
    lineId,
    stationId,
    stationKey: station.key,
    name,
    version: 1,
    guardsChanges: false,
    createdAt: new Date(turn.now).toISOString(),
  };
  replaySets.insert(turn, partition, set);
  recordRequest(turn, event, set.id);
  return { setId: set.id, replayed: false };
}

/** Renames a set. */
export function renameSet(event: Delivered<RenameSet>): Result {
  const { turn, name } = event;
  return changeSet(event, (set) => {
    replaySets.put(turn, turn.self.partition, set, { ...set, name });
    return null;
  });
}

/**
 * Removes a set with its entries and replays, unless a search or replay of the set is running. A running replay with
 * the answer does not prevent the removal.
 */
export function deleteSet(event: Delivered<DeleteSet>): Result {
  return changeSet(event, (set) => {
    if (isReplayed(event.turn, set)) return replayUnderWay;
    if (isSearched(event.turn, set)) return searchUnderWay;
    if (set.guardsChanges) recordGuard(event, { ...set, guardsChanges: false });
    removeSet(event.turn, set);
    forgetReplays(event.turn, set.id);
    return null;
  });
}

const replayUnderWay: Refusal = {
  refused: "conflict",
  detail: "A replay of the set is under way. Stop it first, or wait until it has ended.",
};

export const searchUnderWay: Refusal = {
  refused: "conflict",
  detail: "A search of the set is under way. Stop it first, or wait until it has ended.",
};

/** Whether a search of the set is running. A running search pins its set. */
export function isSearched(turn: Turn, { id }: ReplaySetRow): boolean {
  return isPinned(turn, { of: replaySets.name, id });
}

/**
 * Whether a replay of the set is running. A replay with the answer does not count, because it is removed with the set.
 */
function isReplayed(turn: Turn, { id: setId, teamId }: ReplaySetRow): boolean {
  const underWay = listUnderWay(turn, turn.self.partition, { teamId, setId });
  return underWay.some(({ candidate }) => candidate.kind !== "with-answer");
}

/** Removes a run from a set. */
export function removeRun(event: Delivered<RemoveEntry>): Result {
  const { turn, runId } = event;
  return changeSet(event, (set) => {
    const entry = findEntry(turn, set, runId);
    if (entry === undefined) return { refused: "not-found" };
    if (isSearched(turn, set)) return searchUnderWay;
    removeEntry(turn, set, entry);
    return null;
  });
}

/** Sets or clears the guard mark of a set. */
export function markGuard(event: Delivered<MarkGuard>): Result {
  const { turn, guardsChanges } = event;
  return changeSet(event, (set) => {
    const { partition } = turn.self;
    if (set.guardsChanges === guardsChanges) return null;
    if (guardsChanges) {
      if (findStationNow(turn, partition, set).station === undefined) return stationLeft;
      const { teamId, lineId, stationId } = set;
      const others = replaySets.all(turn, partition, { teamId, lineId, stationId });
      const other = others.find((each) => each.guardsChanges);
      if (other !== undefined) return { refused: "conflict", detail: guardedBy(other) };
    }
    replaySets.put(turn, partition, set, { ...set, guardsChanges });
    recordGuard(event, { ...set, guardsChanges });
    return null;
  });
}

/** Records a change of the guard mark in the change log. Deleting a set clears its mark. */
function recordGuard(
  { turn, caller, client }: Pick<Delivered<MarkGuard | DeleteSet>, "turn" | "caller" | "client">,
  { id, name, teamId, guardsChanges }: ReplaySetRow,
): void {
  const change = { resource: "replay-set", resourceId: id, key: id, action: "updated" } as const;
  recordChange(turn, { ...change, caller, client, details: { name, guardsChanges } }, teamId);
}

export const stationLeft: Refusal = {
  refused: "conflict",
  detail: "The station of the replay set was removed from its line. The set can only be renamed, emptied or deleted.",
};

function guardedBy({ name }: ReplaySetRow): string {
  return `The replay set "${name}" already guards changes to the station. Only one set of a station can guard it.`;
}

/**
 * Changes a set, if the set exists and the caller may change it. `make` returns a refusal, or null after a successful
 * change.
 */
export function changeSet(
  event: Keyed & { readonly turn: Turn<Result>; readonly caller: Caller; readonly setId: string },
  make: (set: ReplaySetRow) => Refusal | null,
): Result {
  const { turn, caller, setId } = event;
  const refused = refusePlanner(turn, caller, turn.self.id);
  if (refused !== null) return refused;
  const set = replaySets.get(turn, turn.self.partition, setId);
  if (set === undefined || set.teamId !== turn.self.id) return setNotFound(setId);
  const before = findBefore(turn, event);
  if (before !== null) return before;
  const failed = make(set);
  if (failed !== null) return failed;
  recordRequest(turn, event, setId);
  return { setId, replayed: false };
}

function findBefore(turn: Turn<Result>, of: Keyed): Result | null {
  const before = findRequestBefore(turn, of);
  return typeof before === "string" ? { setId: before, replayed: true } : before;
}

function findEntry(turn: Turn<Result>, { id }: ReplaySetRow, runId: string): ReplayEntryRow | undefined {
  return replayEntries.list(turn, turn.self.partition, [id]).find((entry) => entry.runId === runId);
}
