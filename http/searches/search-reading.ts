import { writeJson } from "../../actors/exact-json.js";
import { listFrontier, searchView } from "../../actors/searches/reads/search.view.js";
import { type CandidateFiguresNow, searchCandidateView } from "../../actors/searches/reads/search-candidate.view.js";
import { readSpent, searchItemView } from "../../actors/searches/reads/search-item.view.js";
import type { SearchItemView, SearchView } from "../../actors/searches/reads/search-schemas.js";
import type { SearchRow } from "../../actors/searches/search/search.js";
import { readSearchRows, type SearchRows } from "../../actors/searches/search/search.queries.js";
import type { SearchMemory } from "../../actors/searches/search/search-memory.js";
import { whatSearchWaitsFor } from "../../actors/searches/search/search-waiting.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toJsonList } from "../wire/bounded-list.js";
import { inPieces } from "../wire/page-reading.js";
import type { RouteRequest } from "../wire/route.js";

/** Number of candidates to assemble between pauses, and number to encode as JSON: about 0.1 ms of work each. */
const CANDIDATES_AT_ONCE = 3;
const TEXTS_AT_ONCE = 10;

/** The sources of one response. All rows of `view` are from one moment, although other work runs between the reads. */
export interface SearchRead extends Pick<RouteRequest, "pause" | "signal"> {
  readonly view: Runtime["reading"];
  /** The current rows, which may be newer than those of `view`. */
  readonly latest: Runtime["reading"];
  readonly memory: SearchMemory;
}

/** Reads a search in the form used in lists. */
export function readSearchItem(reading: Runtime["reading"], workspaceId: string, row: SearchRow): SearchItemView {
  return searchItemView(row, readSpent(reading, workspaceId, row));
}

/** Reads a search, as an object and as JSON. */
export async function readSearch(
  read: SearchRead,
  workspaceId: string,
  search: SearchRow,
): Promise<{ readonly body: SearchView; readonly json: string }> {
  const { view, latest } = read;
  const rows = readSearchRows(view, workspaceId, search.id);
  await read.pause();
  const figures = await readFigures(read, workspaceId, search, rows);
  const frontier = listFrontier(search, figures);
  await read.pause();
  const { currency } = search.budget.ceiling;
  const toView = (now: CandidateFiguresNow) => {
    const onFrontier = frontier.includes(now.row.candidateId);
    return searchCandidateView(view, workspaceId, { now, currency, onFrontier });
  };
  const candidates = await inPieces(figures, read, toView, CANDIDATES_AT_ONCE);
  const { input, iterations } = rows;
  const waiting = whatSearchWaitsFor(latest, workspaceId, search, iterations);
  const spent = readSpent(view, workspaceId, search);
  await read.pause();
  const body = searchView(view, workspaceId, { search, input, spent, waiting, iterations, candidates, frontier });
  const { candidates: listed, ...rest } = body;
  return {
    body,
    json: `${writeJson(rest).slice(0, -1)},"candidates":${await toJsonList(listed, read, TEXTS_AT_ONCE)}}`,
  };
}

/** Reads the figures of all candidates. Other work runs after each candidate whose figures may have to be computed. */
async function readFigures(
  { view, memory, pause, signal }: SearchRead,
  workspaceId: string,
  search: SearchRow,
  { input: { split }, candidates }: SearchRows,
): Promise<readonly CandidateFiguresNow[]> {
  const seed = { replayId: search.seedReplayId };
  const figures: CandidateFiguresNow[] = [];
  for (const candidate of candidates) {
    figures.push(memory.getFigures(view, workspaceId, { search, split, seed, candidate }));
    const areStored = candidate.searched !== null && (candidate.heldOut !== null || candidate.heldOutReplayId === null);
    if (areStored) continue;
    await pause();
    signal.throwIfAborted();
  }
  return figures;
}
