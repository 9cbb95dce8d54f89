import { type FieldError, invalid, type Refusal } from "../../refusal.js";
import { type Estimate, toEstimate } from "../rules/estimate.js";
import { defaultObjective } from "../rules/objective.js";
import type { SearchTerms } from "../search/search.messages.js";
import type { SearchBasis } from "../search/search-basis.js";
import { refuseBudget, refuseForSet, toObjective } from "./refuse-terms.js";

/**
 * Estimates the most that a search of a set would do and spend. Refuses invalid terms as a start does. The terms do not
 * include the agent, because the agent does not affect the estimate.
 */
export function estimateSearch(
  { entries, health, minGain, lacksModel }: SearchBasis,
  { budget, objective: asked }: Pick<SearchTerms, "budget" | "objective">,
): Estimate | Refusal {
  const objective = toObjective(asked);
  const errors: FieldError[] = refuseBudget(budget);
  if (objective === undefined) errors.push({ path: "objective", message: "must be success or cost" });
  if (errors.length === 0) errors.push(...refuseForSet(entries, budget));
  if (objective === undefined || errors.length > 0) return { refused: "invalid", errors };
  const sources = { entries, budget, health, minGain, lacksModel, objective: objective ?? defaultObjective(health) };
  return toEstimate(sources) ?? invalid("setId", "covers too few tasks");
}
