import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findStationOf, findTeam, listReplaySets, type TeamStation, type Wish } from "../replays/replay-set.queries.js";
import type { StationPlace } from "../replays/run-refusal.js";
import type { RunRow } from "../runs/run.js";
import { runs } from "../runs/run.table.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { SearchCandidateRow, SearchInputRow, SearchIterationRow, SearchRow } from "./search.js";
import { getSearchInput, searches } from "./search.table.js";
import { listCandidates } from "./search-candidate.table.js";
import { findIteration, listIterations } from "./search-iteration.table.js";

/** A search that a caller may read. */
export interface VisibleSearch extends VisibleTeam {
  readonly search: SearchRow;
}

/** The search; refused `not-found` unless the caller reads the team's outcomes and the search is the team's. */
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
 * A station, to be searched: one of a line of the team, or one that left its line and has sets, over which no search
 * starts any more. Refused `not-found` unless the caller reads the team's outcomes and there is such a one.
 */
export function findSearchedStation(
  reading: Reading,
  caller: Caller,
  { wish, teamId, ...place }: StationPlace & { readonly wish: Wish; readonly teamId: string },
): TeamStation | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const station = findStationOf(reading, team, place);
  const isThere = !isRefusal(station) || listReplaySets(reading, team, place).length > 0;
  return isThere ? { ...team, ...place } : station;
}

function searchNotFound(searchId: string): Refusal {
  return { refused: "not-found", detail: `Search ${searchId} not found.` };
}

/** A search by its id, for who may read it already; undefined when it is gone. */
export function findStoredSearch(reading: Reading, workspaceId: string, searchId: string): SearchRow | undefined {
  return searches.get(reading, workspaceId, searchId);
}

/** Reads a slice of searches, newest first. */
type ReadSearches = (reading: Reading, cursor: Cursor<SearchRow> | null) => Slice<SearchRow>;

interface SearchPage {
  readonly limit: number;
  /** Those older than this one; none when the list does not hold it. */
  readonly before: string | undefined;
}

/** The searches of a team. */
export function searchesOfTeam({ workspaceId, teamId }: VisibleTeam, { limit, before }: SearchPage): ReadSearches {
  const page = pageBefore(limit, before);
  return (reading, cursor) => {
    if (before !== undefined && searches.get(reading, workspaceId, before)?.teamId !== teamId) return nothing;
    return searches.page(reading, workspaceId, { teamId }, { ...page, cursor });
  };
}

/** The searches of a station of the team. */
export function searchesOfStation(
  { workspaceId, teamId, lineId, stationId }: TeamStation,
  { limit, before }: SearchPage,
): ReadSearches {
  const page = pageBefore(limit, before);
  const isOf = (search: SearchRow | undefined) =>
    search?.teamId === teamId && search.lineId === lineId && search.stationId === stationId;
  return (reading, cursor) => {
    if (before !== undefined && !isOf(searches.get(reading, workspaceId, before))) return nothing;
    return searches.page(reading, workspaceId, { lineId, stationId }, { ...page, cursor, fits: isOf });
  };
}

const nothing: Slice<SearchRow> = { rows: [], next: null };

function pageBefore(limit: number, before: string | undefined) {
  return { limit, before: before === undefined ? undefined : [before] };
}

/** The rows of a search besides its own. */
export interface SearchRows {
  readonly input: SearchInputRow;
  /** With the seed, which is the first: at most 51. */
  readonly candidates: readonly SearchCandidateRow[];
  readonly iterations: readonly SearchIterationRow[];
}

export function readSearchRows(reading: Reading, workspaceId: string, searchId: string): SearchRows {
  return {
    input: getSearchInput(reading, workspaceId, searchId),
    candidates: listCandidates(reading, workspaceId, searchId),
    iterations: listIterations(reading, workspaceId, searchId),
  };
}

/** Most earlier searches that a search names. */
const MAX_EARLIER = 20;

/** The searches of the same set that started before, newest first. */
export function listEarlierSearches(reading: Reading, workspaceId: string, { id, setId }: SearchRow) {
  return searches.all(reading, workspaceId, { setId }, { limit: MAX_EARLIER, before: [id] });
}

/** A run of a search's agent, with its iteration. */
export interface VisibleSearchRun extends VisibleSearch {
  readonly run: RunRow;
  readonly iteration: SearchIterationRow;
}

/** The run; refused `not-found` unless the caller reads the team's outcomes and it is of an agent of the team's searches. */
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
