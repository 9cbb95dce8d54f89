import { z } from "zod";
import { ApiError } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toBody } from "./carry-out.js";
import type { DryRunChange, ResourceApi, StepProblem } from "./live.js";
import type { Plan, Step } from "./make-plan.js";
import { refusalLines, type WriteRefusal } from "./refusal-lines.js";
import { Faults, Refused } from "./refused.js";
import { unknownId } from "./scope.js";

/**
 * Asks the service which steps of a plan it would refuse. Changes nothing. Throws a {@link CommandError} that lists the
 * refusals with their places in the folder. If the service cannot check the plan (an older release, or a plan beyond
 * the limits of a request), prints a note instead.
 */
export async function refuseUnwritable(
  { terminal }: { readonly terminal: Pick<Context["terminal"], "note"> },
  { steps, target }: Pick<Plan, "steps" | "target">,
  api: ResourceApi,
): Promise<void> {
  if (steps.length === 0) return;
  let problems: readonly StepProblem[];
  try {
    problems = await api.dryRun(target.id, steps.map(toChange));
  } catch (error) {
    const why = uncheckedBecause(error);
    if (why === null) throw error;
    terminal.note(`the service did not check the plan, so an apply may stop midway: ${why}`);
    return;
  }
  const faults = new Faults();
  for (const { step, refusal } of withoutConsequences(steps, problems)) {
    faults.try(() => {
      throw new Refused(stepLines(step, refusal).join("\n"));
    });
  }
  faults.end();
}

/**
 * Describes the refusal of a step with places in the folder, one line for each error. A delete has no place, so its
 * line names the resource.
 */
export function stepLines(step: Step, refusal: WriteRefusal): readonly string[] {
  if (step.action !== "delete") return refusalLines(step.wanted.resource, refusal);
  const { kind, address } = step.live;
  return [`cannot delete the ${kind.name} ${address}: ${refusal.detail}`];
}

function toChange(step: Step): DryRunChange {
  if (step.action === "delete") {
    const { kind, id, version } = step.live;
    return { action: "delete", kind: kind.name, id, version };
  }
  const { wanted, hidden } = step;
  const { kind, name } = wanted.resource;
  if (step.action === "update") {
    const { id, version } = step.live;
    return { action: "update", kind: kind.name, id, version, body: toBody(wanted, hidden, step.live) };
  }
  const teamId = kind.heldBy === "team" ? wanted.holder : null;
  return { action: "create", kind: kind.name, id: unknownId(name), teamId, body: toBody(wanted, hidden, null) };
}

/** Returns why the service cannot check a plan; null for other errors. */
function uncheckedBecause(error: unknown): string | null {
  if (error instanceof SyntaxError || error instanceof z.ZodError) return "its response is not valid";
  if (!(error instanceof ApiError)) return null;
  if (error.status === 404 || error.status === 405) return "its release cannot do that";
  return error.status === 413 || error.slug === "bad-request" || error.slug === "invalid" ? error.message : null;
}

/** Leaves out errors about a missing resource if the service also refuses the step that creates this resource. */
function withoutConsequences(steps: readonly Step[], problems: readonly StepProblem[]) {
  const refused = problems.flatMap(({ change }) => {
    const step = steps[change];
    return step?.action === "create" ? [`there is no ${step.wanted.resource.kind.name} ${step.wanted.address}`] : [];
  });
  return problems.flatMap(({ change, detail, errors }) => {
    const step = steps[change];
    const own = errors.filter(({ message }) => !refused.includes(message));
    return step === undefined || (errors.length > 0 && own.length === 0)
      ? []
      : [{ step, refusal: { detail, errors: own } }];
  });
}
