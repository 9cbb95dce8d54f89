import type { Context } from "../command/context.js";
import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import { type PlanOptions, planFolder } from "./plan-folder.js";
import { planJson, planLines } from "./plan-text.js";

/** Shows what an apply of the folder would change. */
export async function plan(context: Context, options: PlanOptions, folder: string | undefined): Promise<ExitCode> {
  const { plan, secrets } = await planFolder(context, options, folder);
  context.show(planJson(plan, secrets), () => planLines(context.terminal, plan, secrets));
  return plan.steps.length === 0 ? exitCodes.done : exitCodes["would-change"];
}
