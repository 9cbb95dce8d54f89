import type { Reading } from "../../../storage/store.js";
import type { VisibleTeam } from "../../access/members/team.queries.js";
import type { Caller } from "../../caller.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import {
  findStationById,
  findTeam,
  listReplaySets,
  type TeamStation,
  type Wish,
} from "../../replays/sets/replay-set.queries.js";
import type { StationPlace } from "../../replays/sets/run-refusal.js";
import type { RunRow } from "../../runs/run.js";
import { runs } from "../../runs/run.table.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import { listCandidates } from "../candidates/search-candidate.table.js";
import { findIteration, listIterations } from "../iterations/search-iteration.table.js";
import type { SearchCandidateRow, SearchInputRow, SearchIterationRow, SearchRow } from "./search.js";
import { getSearchInput, searches } from "./search.table.js";

/** A search that a caller may read. */
export interface VisibleSearch extends VisibleTeam {
  readonly search: SearchRow;
}

/**
 * Returns the search. Refuses with `not-found` if the caller cannot read the team's outcomes, or if the search does not
 * exist or belongs to another team. If `wish` is `plan`, also refuses a caller who may not plan.
 */
export function findSearch(
  reading: Reading,
  caller: Caller,
  { wish, teamId, searchId }: { readonly wish: Wish; readonly teamId: string; readonly searchId: string },
): VisibleSearch | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const search = searches.get(reading, team.workspaceId, searchId);
  return search?.teamId === teamId ? { ...team, search } : searchNotFound(searchId);
}

/**
 * Returns a station whose searches can be read: a station in one of the team's lines, or a station that left its line
 * but still has sets. No new search can start at a station that left its line.
 *
 * Refuses with `not-found` if the caller cannot read the team's outcomes or there is no such station. If `wish` is
 * `plan`, also refuses a caller who may not plan.
 */
export function findSearchedStation(
  reading: Reading,
  caller: Caller,
  { wish, teamId, ...place }: StationPlace & { readonly wish: Wish; readonly teamId: string },
): TeamStation | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const station = findStationById(reading, team, place);
  const isThere = !isRefusal(station) || listReplaySets(reading, team, place).length > 0;
  return isThere ? { ...team, ...place } : station;
}

function searchNotFound(searchId: string): Refusal {
  return { refused: "not-found", detail: `Search ${searchId} not found.` };
}

/** Returns a search by id without an access check, for callers that were already checked; undefined if it is gone. */
export function findStoredSearch(reading: Reading, workspaceId: string, searchId: string): SearchRow | undefined {
  return searches.get(reading, workspaceId, searchId);
}

/** Reads a slice of searches, newest first. */
type ReadSearches = (reading: Reading, cursor: Cursor<SearchRow> | null) => Slice<SearchRow>;

interface SearchPage {
  readonly limit: number;
  /**
   * Limits the page to searches older than the search with this id. The page is empty if that search is not in the
   * list.
   */
  readonly before: string | undefined;
}

/** Returns a function that reads the searches of a team. */
export function searchesOfTeam({ workspaceId, teamId }: VisibleTeam, { limit, before }: SearchPage): ReadSearches {
  const page = pageBefore(limit, before);
  return (reading, cursor) => {
    if (before !== undefined && searches.get(reading, workspaceId, before)?.teamId !== teamId) return nothing;
    return searches.page(reading, workspaceId, { teamId }, { ...page, cursor });
  };
}

/** Returns a function that reads the searches of one of the team's stations. */
export function searchesOfStation(
  { workspaceId, teamId, lineId, stationId }: TeamStation,
  { limit, before }: SearchPage,
): ReadSearches {
  const page = pageBefore(limit, before);
  const isOfStation = (search: SearchRow | undefined) =>
    search?.teamId === teamId && search.lineId === lineId && search.stationId === stationId;
  return (reading, cursor) => {
    if (before !== undefined && !isOfStation(searches.get(reading, workspaceId, before))) return nothing;
    return searches.page(reading, workspaceId, { lineId, stationId }, { ...page, cursor, fits: isOfStation });
  };
}

const nothing: Slice<SearchRow> = { rows: [], next: null };

function pageBefore(limit: number, before: string | undefined) {
  return { limit, before: before === undefined ? undefined : [before] };
}

/** The rows of a search besides its own row. */
export interface SearchRows {
  readonly input: SearchInputRow;
  /** The seed first, then the proposed candidates; at most 51. */
  readonly candidates: readonly SearchCandidateRow[];
  readonly iterations: readonly SearchIterationRow[];
}

/** Reads the rows of a search besides its own row. */
export function readSearchRows(reading: Reading, workspaceId: string, searchId: string): SearchRows {
  return {
    input: getSearchInput(reading, workspaceId, searchId),
    candidates: listCandidates(reading, workspaceId, searchId),
    iterations: listIterations(reading, workspaceId, searchId),
  };
}

/** Maximum number of earlier searches that a search lists. */
const MAX_EARLIER = 20;

/** Lists the earlier searches of the same set, newest first, at most {@link MAX_EARLIER}. */
export function listEarlierSearches(reading: Reading, workspaceId: string, { id, setId }: SearchRow) {
  return searches.all(reading, workspaceId, { setId }, { limit: MAX_EARLIER, before: [id] });
}

/** A run of a search's agent, with its iteration. */
export interface VisibleSearchRun extends VisibleSearch {
  readonly run: RunRow;
  readonly iteration: SearchIterationRow;
}

/**
 * Returns the run. Refuses with `not-found` if the caller cannot read the team's outcomes or the run is not an agent
 * run of the team's searches.
 */
export function findSearchRun(
  reading: Reading,
  caller: Caller,
  { teamId, runId }: { readonly teamId: string; readonly runId: string },
): VisibleSearchRun | Refusal {
  const team = findTeam(reading, caller, teamId, "read");
  if (isRefusal(team)) return team;
  const { workspaceId } = team;
  const run = runs.get(reading, workspaceId, runId);
  const iteration = run?.owner.kind === "search" ? findIteration(reading, workspaceId, run.owner.id) : undefined;
  const search = iteration === undefined ? undefined : searches.get(reading, workspaceId, iteration.searchId);
  if (run === undefined || iteration === undefined || search?.teamId !== teamId) return { refused: "not-found" };
  return { ...team, search, iteration, run };
}
