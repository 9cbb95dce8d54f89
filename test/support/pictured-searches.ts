import { searchBudgets } from "../../actors/replays/budget/search-budget.table.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { measureHeldOutRuns, measureSearchedRuns } from "../../actors/searches/candidates/measure-candidate.js";
import { searchCandidates } from "../../actors/searches/candidates/search-candidate.table.js";
import { type SearchView, searchSchema } from "../../actors/searches/reads/search-schemas.js";
import type { SearchCandidateRow, SearchRow } from "../../actors/searches/search/search.js";
import { searches, searchInputs } from "../../actors/searches/search/search.table.js";
import { SearchMemory } from "../../actors/searches/search/search-memory.js";
import { readSearch } from "../../http/searches/search-reading.js";
import type { Reading } from "../../storage/store.js";
import { type Pictured, picturedReplay, putReplay } from "./pictured-replays.js";
import { candidateRow, searchInput, searchRow, seedRow } from "./search-rows.js";
import { memoryRows } from "./turn.js";
import { workspaceId } from "./work.js";

/** A candidate with its replays in the notation of `pictured-replays.ts`. A missing replay was never requested. */
export interface PicturedCandidate {
  readonly name: string;
  readonly searched?: Pictured;
  readonly heldOut?: Pictured;
  /** The cost per copy in EUR; 0.1 by default. */
  readonly cost?: number;
  /** Whether the candidate's replays ended. If so, their figures are stored. */
  readonly ended?: boolean;
  readonly row?: Partial<SearchCandidateRow>;
}

export interface PicturedSearch {
  readonly search?: Partial<SearchRow>;
  /** The seed's results over all tasks, and the names of the held-out tasks. */
  readonly seed: Pictured;
  readonly heldOut: string;
  readonly isSeedEnded?: boolean;
  readonly candidates?: readonly PicturedCandidate[];
}

/**
 * Writes the rows of a search: candidates `cand_01` and so on, with the replays `rep_<n>` and `held_<n>`; the seed's
 * replay is `rep_0`.
 */
export function picturedSearch({ seed, heldOut, isSeedEnded = true, candidates = [], ...given }: PicturedSearch) {
  const rows = memoryRows();
  const search = searchRow({ proposed: candidates.length, ...given.search });
  const runs = Object.keys(seed).map((taskId) => ({ runId: `run_${taskId}`, taskId }));
  const isHeldOut = ({ taskId }: { readonly taskId: string }) => heldOut.includes(taskId);
  const split = { searched: runs.filter((run) => !isHeldOut(run)), heldOut: runs.filter(isHeldOut) };
  searches.insert(rows, workspaceId, search);
  searchInputs.insert(rows, workspaceId, searchInput({}, { split }));
  const ceiling = search.budget.ceiling;
  searchBudgets.put(rows, workspaceId, search.id, { searchId: search.id, ceiling, counted: "7/2", spent: "5/2" });
  const replay = (
    id: string,
    pictured: Pictured | undefined,
    { name, ended = true, cost = 0.1 }: PicturedCandidate,
  ) => {
    if (pictured === undefined) return null;
    const end: Partial<ReplayRow> = ended ? { state: "finished", endedAt: search.startedAt, judged: true } : {};
    const made = picturedReplay(pictured, { id, search: { searchId: search.id, candidateName: name }, ...end });
    const copies = made.copies.map((copy) =>
      copy.spent === null ? copy : { ...copy, spent: { ...copy.spent, amount: cost } },
    );
    putReplay(rows, { ...made, copies });
    return id;
  };
  replay("rep_0", seed, { name: "seed", ended: isSeedEnded });
  const store = (candidate: SearchCandidateRow, { isEnded }: { readonly isEnded: boolean }) => {
    const of = { search, split, seed: { replayId: "rep_0" }, candidate };
    const figures = isEnded
      ? { searched: measureSearchedRuns(rows, workspaceId, of), heldOut: measureHeldOutRuns(rows, workspaceId, of) }
      : {};
    searchCandidates.insert(rows, workspaceId, { ...candidate, ...figures });
  };
  store(seedRow({ replayEnded: isSeedEnded ? "finished" : null }), { isEnded: isSeedEnded });
  for (const [index, candidate] of candidates.entries()) {
    const { name, ended = true, row } = candidate;
    const n = index + 1;
    const replayId = replay(`rep_${n}`, candidate.searched, candidate);
    const heldOutReplayId = replay(`held_${n}`, candidate.heldOut, candidate);
    const state = ended ? ("finished" as const) : null;
    const ends = {
      replayEnded: replayId === null ? null : state,
      heldOutEnded: heldOutReplayId === null ? null : state,
    };
    const candidateId = `cand_${String(n).padStart(2, "0")}`;
    store(candidateRow({ candidateId, name, replayId, heldOutReplayId, ...ends, ...row }), { isEnded: ended });
  }
  return { rows, search };
}

/** Returns the search in the form in which the API returns it. Checks the result against the API's schema. */
export async function viewPictured(
  { rows, search }: { readonly rows: Reading; readonly search: SearchRow },
  memory = new SearchMemory(),
  pause: () => Promise<void> = async () => undefined,
): Promise<SearchView> {
  const read = { view: rows, latest: rows, memory, pause, signal: new AbortController().signal };
  const { body, json } = await readSearch(read, workspaceId, searches.get(rows, workspaceId, search.id) ?? search);
  searchSchema.parse(JSON.parse(json));
  return body;
}
