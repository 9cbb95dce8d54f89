import type { Reflection, SearchIterationRow } from "../search/search.js";
import type { SearchIterationView } from "./search-schemas.js";

/** Shows an iteration of a search. */
export function searchIterationView(row: SearchIterationRow): SearchIterationView {
  const { number, kind, runId, state, attempts, proposed, agentSpent, reason, wantedAt, startedAt, endedAt } = row;
  return {
    number,
    kind,
    runId,
    state,
    attempts,
    proposed,
    agentSpent,
    reason,
    reflection: kind === "reflect" ? reflectionView(row.reflection) : null,
    wantedAt,
    startedAt,
    endedAt,
  };
}

function reflectionView(reflection: Reflection | null): SearchIterationView["reflection"] {
  if (reflection === null) return { standing: null, tasks: [], causes: [], outcome: null, endedSearch: false };
  const { standing, tasks, causes, outcome } = reflection;
  return { standing, tasks, causes, outcome, endedSearch: outcome !== null && outcome !== "went-on" };
}
