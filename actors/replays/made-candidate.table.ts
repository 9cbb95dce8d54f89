import { rowSource } from "../../runtime/directory-source.js";
import type { Turn } from "../../runtime/turn.js";
import { table } from "../../storage/table.js";
import { locationEntry } from "../resources/resource-location.table.js";
import type { ReplayRow } from "./replay.js";

/** A candidate that nobody proposed: the service made it with a replay of it. */
interface MadeCandidateRow {
  readonly candidateId: string;
  /** Null for one of a search, which is there before its replay is. */
  readonly replayId: string | null;
  /** The team of a search's candidate; absent for others. */
  readonly teamId?: string;
}

/** How the directory names these candidates: they are no resources. */
export const MADE_CANDIDATE = "made-candidate";

/** `[candidate]` */
export const madeCandidates = table<MadeCandidateRow>("made-candidate");

/** The directory entries of these candidates, by their ids. */
export const madeCandidateSource = rowSource(madeCandidates, ({ candidateId }, { partition }) => [
  entryOf(partition, candidateId),
]);

function entryOf(workspaceId: string, candidateId: string) {
  return locationEntry(candidateId, { workspaceId, kind: MADE_CANDIDATE });
}

/** Records the candidate of a replay, by which it is found. */
export function recordMade(turn: Turn, { id: replayId, candidate }: ReplayRow): void {
  const { partition } = turn.self;
  madeCandidates.put(turn, partition, candidate.id, { candidateId: candidate.id, replayId });
  turn.direct(entryOf(partition, candidate.id));
}

/** Records a candidate that a search admitted, as long as the search has it. */
export function recordSearched(turn: Turn, { candidateId, teamId }: { candidateId: string; teamId: string }): void {
  const { partition } = turn.self;
  madeCandidates.put(turn, partition, candidateId, { candidateId, replayId: null, teamId });
  turn.direct(entryOf(partition, candidateId));
}

export function removeSearched(turn: Turn, candidateId: string): void {
  const { partition } = turn.self;
  madeCandidates.remove(turn, partition, candidateId);
  turn.undirect(entryOf(partition, candidateId));
}

/** Removes the candidate of a replay that is removed, unless a later replay of it is stored. */
export function removeMade(turn: Turn, { id, candidate }: ReplayRow): void {
  const { partition } = turn.self;
  if (madeCandidates.get(turn, partition, candidate.id)?.replayId !== id) return;
  madeCandidates.remove(turn, partition, candidate.id);
  turn.undirect(entryOf(partition, candidate.id));
}
