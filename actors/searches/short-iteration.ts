import type { SearchIterationRow } from "./search.js";
import { searchIterationView } from "./search-iteration.view.js";

/** An iteration as streams have it: without what its agent wrote of causes. */
export function shortIteration(row: SearchIterationRow) {
  const view = searchIterationView(row);
  if (view.reflection === null) return view;
  const causes = view.reflection.causes.map(({ evidence: _evidence, suggestion: _suggestion, ...cause }) => cause);
  return { ...view, reflection: { ...view.reflection, causes } };
}
