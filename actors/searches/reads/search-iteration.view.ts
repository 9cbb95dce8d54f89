import { defineView } from "../../view.js";
import type { Reflection, SearchIterationRow } from "../search/search.js";
import { type SearchIterationView, searchIterationSchema } from "./search-schemas.js";

/** Shows an iteration of a search. */
export const searchIterationView = defineView<SearchIterationRow>()(searchIterationSchema, {
  reflection: ({ kind, reflection }) => (kind === "reflect" ? reflectionView(reflection) : null),
});

function reflectionView(reflection: Reflection | null): SearchIterationView["reflection"] {
  if (reflection === null) return { standing: null, tasks: [], causes: [], outcome: null, endedSearch: false };
  const { standing, tasks, causes, outcome } = reflection;
  return { standing, tasks, causes, outcome, endedSearch: outcome !== null && outcome !== "went-on" };
}
