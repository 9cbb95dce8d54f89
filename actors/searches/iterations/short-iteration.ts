import { searchIterationView } from "../reads/search-iteration.view.js";
import type { SearchIterationRow } from "../search/search.js";

/** Shows an iteration for streams, without the texts that its agent wrote about causes. */
export function shortIteration(row: SearchIterationRow) {
  const view = searchIterationView(row);
  if (view.reflection === null) return view;
  const causes = view.reflection.causes.map(({ evidence: _evidence, suggestion: _suggestion, ...cause }) => cause);
  return { ...view, reflection: { ...view.reflection, causes } };
}
