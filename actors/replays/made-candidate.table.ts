import { rowSource } from "../../runtime/directory-source.js";
import type { Turn } from "../../runtime/turn.js";
import { table } from "../../storage/table.js";
import { locationEntry } from "../resources/resource-location.table.js";
import type { ReplayRow } from "./replay.js";

/** A candidate that nobody proposed: the service made it with a replay of it. */
interface MadeCandidateRow {
  readonly candidateId: string;
  readonly replayId: string;
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

/** Removes the candidate of a replay that is removed, unless a later replay of it is stored. */
export function removeMade(turn: Turn, { id, candidate }: ReplayRow): void {
  const { partition } = turn.self;
  if (madeCandidates.get(turn, partition, candidate.id)?.replayId !== id) return;
  madeCandidates.remove(turn, partition, candidate.id);
  turn.undirect(entryOf(partition, candidate.id));
}
