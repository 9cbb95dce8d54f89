import { rowSource } from "../../../runtime/directories/directory-source.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import { locationEntry } from "../../resources/resource-location.table.js";
import type { ReplayRow } from "../replay/replay.js";

/** A candidate that the service created itself, with a replay or for a search. */
export interface MadeCandidateRow {
  readonly candidateId: string;
  /**
   * The candidate's replay. Null for a search's candidate, because such a candidate is recorded before its replay
   * exists.
   */
  readonly replayId: string | null;
  /** The team of a search's candidate; absent for other candidates. */
  readonly teamId?: string;
  /** The search of a search's candidate; absent for other candidates, and in rows of earlier releases. */
  readonly searchId?: string;
}

/** The directory kind of the candidates that the service created, which are not resources. */
export const MADE_CANDIDATE = "made-candidate";

/** Key: `[candidate]` */
export const madeCandidates = table<MadeCandidateRow>("made-candidate");

/** The directory entries of the candidates that the service created, by candidate id. */
export const madeCandidateSource = rowSource(madeCandidates, ({ candidateId }, { partition }) => [
  toEntry(partition, candidateId),
]);

function toEntry(workspaceId: string, candidateId: string) {
  return locationEntry(candidateId, { workspaceId, kind: MADE_CANDIDATE });
}

/** Records the candidate of a replay, so that it can be found by id. */
export function recordMade(turn: Turn, { id: replayId, candidate }: ReplayRow): void {
  const { partition } = turn.self;
  madeCandidates.put(turn, partition, candidate.id, { candidateId: candidate.id, replayId });
  turn.direct(toEntry(partition, candidate.id));
}

/** Records a candidate that a search admitted. It stays recorded until {@link removeSearched} removes it. */
export function recordSearched(
  turn: Turn,
  { candidateId, teamId, searchId }: { candidateId: string; teamId: string; searchId: string },
): void {
  const { partition } = turn.self;
  madeCandidates.put(turn, partition, candidateId, { candidateId, replayId: null, teamId, searchId });
  turn.direct(toEntry(partition, candidateId));
}

/** Removes a candidate that a search admitted. */
export function removeSearched(turn: Turn, candidateId: string): void {
  const { partition } = turn.self;
  madeCandidates.remove(turn, partition, candidateId);
  turn.undirect(toEntry(partition, candidateId));
}

/**
 * Removes the candidate that {@link recordMade} recorded for a removed replay, unless a later replay of the candidate
 * is stored.
 */
export function removeMade(turn: Turn, { id, candidate }: ReplayRow): void {
  const { partition } = turn.self;
  if (madeCandidates.get(turn, partition, candidate.id)?.replayId !== id) return;
  madeCandidates.remove(turn, partition, candidate.id);
  turn.undirect(toEntry(partition, candidate.id));
}
