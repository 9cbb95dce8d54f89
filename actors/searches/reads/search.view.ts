import type { Reading } from "../../../storage/store.js";
import type { Money } from "../../money.js";
import { defineView } from "../../view.js";
import { searchFrontier } from "../rules/ranking.js";
import type { SearchInputRow, SearchIterationRow, SearchRow } from "../search/search.js";
import { listEarlierSearches } from "../search/search.queries.js";
import type { WaitsFor } from "../search/search-waiting.js";
import type { CandidateFiguresNow } from "./search-candidate.view.js";
import { searchItemView } from "./search-item.view.js";
import { searchIterationView } from "./search-iteration.view.js";
import { earlierSearchSchema, type SearchCandidateView, type SearchView } from "./search-schemas.js";

/** The data for the view of a search. */
export interface SearchSources {
  readonly search: SearchRow;
  readonly input: SearchInputRow;
  readonly spent: Money;
  readonly waiting: WaitsFor | null;
  readonly iterations: readonly SearchIterationRow[];
  /** Includes the seed. */
  readonly candidates: readonly SearchCandidateView[];
  readonly frontier: readonly string[];
}

/** Returns the ids of the candidates on the frontier, cheapest first. The frontier always includes the seed. */
export function listFrontier(
  { objective, seedCandidateId }: SearchRow,
  candidates: readonly CandidateFiguresNow[],
): readonly string[] {
  const contenders = candidates.map(({ row: { candidateId, seed, replayEnded }, searched, heldOut }) => ({
    candidateId,
    seed,
    replayState: replayEnded,
    searched,
    heldOut,
  }));
  const found = searchFrontier(contenders, objective);
  return found.length === 0 ? [seedCandidateId] : found;
}

const earlierSearchView = defineView<SearchRow>()(earlierSearchSchema, {});

/** Shows the complete search. */
export function searchView(reading: Reading, workspaceId: string, sources: SearchSources): SearchView {
  const { search, input, spent, waiting, iterations, candidates, frontier } = sources;
  const seed = candidates.find((candidate) => candidate.seed);
  if (seed === undefined) throw new Error("a search without its seed");
  return {
    ...searchItemView(search, spent),
    setVersion: search.setVersion,
    waiting,
    split: splitView(input),
    iterations: iterations.map(searchIterationView),
    seed,
    candidates: candidates.filter((candidate) => !candidate.seed),
    frontier,
    onlyOnSeenTasks: candidates.filter(isMarked).length,
    minGain: search.minGain,
    earlierSearches: listEarlierSearches(reading, workspaceId, search).map(earlierSearchView),
    warnings: input.warnings,
  };
}

function isMarked({ onFrontier, onlyOnSeenTasks }: SearchCandidateView): boolean {
  return onFrontier && onlyOnSeenTasks === "marked";
}

function splitView({ split: { searched, heldOut } }: SearchInputRow): SearchView["split"] {
  const toTasks = (runs: readonly { readonly taskId: string }[]) => new Set(runs.map(({ taskId }) => taskId)).size;
  return { searchedTasks: toTasks(searched), heldOutTasks: toTasks(heldOut), searched, heldOut };
}
