import type { Outcome } from "./outcome.js";
import { type PlanLinesOptions, planLines } from "./plan-lines.js";
import type { PlannedLine } from "./planned-line.js";
import { type CheckRunOptions, runChecks } from "./run-checks.js";

export interface CheckPlanOptions extends CheckRunOptions, PlanLinesOptions {}

/**
 * Starts the checks of a plan and waits for them. Returns their outcomes, and an outcome for each part that could not
 * be checked.
 */
export async function checkPlan(lines: readonly PlannedLine[], options: CheckPlanOptions): Promise<readonly Outcome[]> {
  const planned = await planLines(lines, options);
  const ran = await runChecks(
    planned.flatMap((each) => (each.what === "check" ? [{ title: each.title, check: each.check }] : [])),
    options,
  );
  const others = planned.flatMap((each): Outcome[] => {
    if (each.what === "check") return [];
    const { title, what, why } = each;
    return [what === "not-asked" ? { title, what, why, check: null } : { title, what, why }];
  });
  return [...ran, ...others];
}
