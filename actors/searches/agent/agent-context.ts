import type { Reading } from "../../../storage/store.js";
import type { StationBody } from "../../lines/station.js";
import { replayCopies } from "../../replays/copies/replay-copy.table.js";
import type { ReplayCopyRow } from "../../replays/replay/replay.js";
import { type ReplayEntry, replayInputs } from "../../replays/replay/replay-input.table.js";
import { listCandidates, searchCandidateInputs } from "../candidates/search-candidate.table.js";
import { listIterations } from "../iterations/search-iteration.table.js";
import {
  type SearchCandidateRow,
  type SearchInputRow,
  type SearchIterationRow,
  type SearchRow,
  toBlock,
} from "../search/search.js";
import { getSearchInput, searches } from "../search/search.table.js";

/** The fields of a candidate that an agent may see. They contain nothing about held-out runs. */
export type ShownCandidate = Pick<
  SearchCandidateRow,
  "candidateId" | "name" | "seed" | "iteration" | "hypothesis" | "changes" | "replayId" | "replayEnded" | "searched"
>;

/**
 * The data of a search that an iteration's agent may see. All files for the agent are made from this data. No field
 * names a held-out run, so the files show only searched runs.
 */
export interface AgentContext {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly search: SearchRow;
  readonly iteration: SearchIterationRow;
  /** The iterations before this one. */
  readonly earlier: readonly SearchIterationRow[];
  /** The seed comes first. */
  readonly candidates: readonly ShownCandidate[];
  /** The task of each searched run. */
  readonly searched: ReadonlyMap<string, string>;
  /** By task id, the places in the set of the task's searched runs. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly live: Pick<SearchInputRow, "config" | "block">;
}

/** A copy of a searched run, with its candidate. */
export interface SeenCopy {
  readonly candidate: ShownCandidate;
  readonly copy: ReplayCopyRow;
}

/** Reads the data that the iteration's agent may see; undefined if the search is gone. */
export function findAgentContext(
  reading: Reading,
  workspaceId: string,
  iteration: SearchIterationRow,
): AgentContext | undefined {
  const search = searches.get(reading, workspaceId, iteration.searchId);
  if (search === undefined) return undefined;
  const { split, config, block } = getSearchInput(reading, workspaceId, search.id);
  const before = listIterations(reading, workspaceId, search.id).filter(({ number }) => number < iteration.number);
  const searched = new Map(split.searched.map(({ runId, taskId }) => [runId, taskId]));
  const entries = replayInputs.get(reading, workspaceId, search.seedReplayId)?.entries ?? [];
  return {
    reading,
    workspaceId,
    search,
    iteration,
    earlier: before,
    live: { config, block },
    searched,
    candidates: listCandidates(reading, workspaceId, search.id).map(toShown),
    places: listPlaces(entries.filter(({ runId }) => searched.has(runId))),
  };
}

function listPlaces(entries: readonly Pick<ReplayEntry, "taskId" | "place">[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const { taskId, place } of entries) places.set(taskId, [...(places.get(taskId) ?? []), place]);
  return places;
}

function toShown(row: SearchCandidateRow): ShownCandidate {
  const { candidateId, name, seed, iteration, hypothesis, changes, replayId, replayEnded, searched } = row;
  return { candidateId, name, seed, iteration, hypothesis, changes, replayId, replayEnded, searched };
}

/** Lists the copies of searched runs in a candidate's replay. */
export function listSeen(context: AgentContext, candidate: ShownCandidate): readonly SeenCopy[] {
  return [...context.places.keys()].flatMap((taskId) => listSeenOfTask(context, candidate, taskId));
}

/** Lists the copies of one task's searched runs in a candidate's replay. */
export function listSeenOfTask(context: AgentContext, candidate: ShownCandidate, taskId: string): readonly SeenCopy[] {
  const { reading, workspaceId, searched, places } = context;
  const { replayId } = candidate;
  if (replayId === null) return [];
  return (places.get(taskId) ?? [])
    .flatMap((place) => replayCopies.list(reading, workspaceId, [replayId, place]))
    .filter(({ originalRunId }) => searched.has(originalRunId))
    .map((copy) => ({ candidate, copy }));
}

/** Finds the named copy. Returns undefined if the copy does not exist or does not repeat a searched run. */
export function findSeen(
  { reading, workspaceId, searched, candidates }: AgentContext,
  name: { readonly candidateId: string; readonly place: number; readonly repeat: number },
): SeenCopy | undefined {
  const candidate = candidates.find(({ candidateId }) => candidateId === name.candidateId);
  if (candidate === undefined || candidate.replayId === null) return undefined;
  const copy = replayCopies.get(reading, workspaceId, candidate.replayId, name.place, name.repeat);
  return copy === undefined || !searched.has(copy.originalRunId) ? undefined : { candidate, copy };
}

/** Returns the station block of a candidate, in the form that a line stores. */
export function readBlock(context: AgentContext, { seed, candidateId }: ShownCandidate): StationBody {
  const { reading, workspaceId, search, live } = context;
  const input = seed ? live : searchCandidateInputs.get(reading, workspaceId, search.id, candidateId);
  if (input === undefined) throw new Error("a candidate without its input");
  return toBlock(input.config, input.block);
}
