import { ApiError } from "../../client/entry.js";
import { confirm } from "../command/ask.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { toLine } from "../command/printable.js";
import { carryOut, type Progress } from "./carry-out.js";
import { stepLines } from "./dry-run.js";
import { IssuedTokens } from "./issued-tokens.js";
import type { Step } from "./make-plan.js";
import { type PlanOptions, planFolder } from "./plan-folder.js";
import { planLines, stepText, toShown } from "./plan-text.js";
import type { Secrets } from "./secrets.js";

interface ApplyOptions extends PlanOptions {
  readonly yes?: true;
}

/** Changes the service so that it has what the folder describes. First shows the plan and asks for confirmation. */
export async function apply(context: Context, options: ApplyOptions, given: string | undefined): Promise<void> {
  const { terminal, signal } = context;
  const { plan, folder, api, secrets } = await planFolder(context, options, given);
  const { steps, target } = plan;
  if (!context.isJson) for (const line of planLines(terminal, plan, secrets)) terminal.print(line);
  if (steps.length > 0) {
    const isGiven = options.yes === true;
    const slug = secrets.hide(target.slug);
    const isConfirmed = await confirm(terminal, `Apply this to the workspace ${slug}?`, { isGiven, signal });
    if (!isConfirmed) throw new CommandError("nothing was changed");
  }
  const tokens = new IssuedTokens(
    { ...terminal, note: (line) => terminal.note(secrets.hide(line)) },
    context.login.url,
  );
  const done = { create: "created", update: "changed", delete: "deleted" } as const;
  const progress = await carryOut(steps, {
    folder,
    api,
    tokens,
    onDone: (step, result) => {
      const { action, kind, address } = toShown(step, secrets);
      if (!context.isJson) terminal.print(toLine(`${done[action]} ${kind} ${address}`));
      for (const { path, message } of result?.warnings ?? []) {
        terminal.note(toLine(secrets.hide(`warning: ${kind} ${address}: ${path} ${message}`)));
      }
    },
  });
  if (context.isJson) context.show(toJson(progress, tokens, secrets), () => []);
  if (progress.stoppedAt === null) return;
  terminal.note(`stopped: ${stepText(progress.stoppedAt, secrets)}`);
  terminal.note(`done: ${progress.done.length} of ${steps.length}`);
  for (const step of progress.notDone) terminal.note(`not done: ${stepText(step, secrets)}`);
  const error = toError(progress.stoppedAt, progress.error);
  await secrets.guard(() => Promise.reject(error));
}

/**
 * Returns the error to report for a step. If the service refused the change, the error names the places in the folder,
 * or says that the resource changed since the plan. Other errors are returned unchanged.
 */
function toError(step: Step, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.problem === null || error.status === 401 || error.status >= 500)
    return error;
  const { slug, problem } = error;
  if (step.action !== "create" && (slug === "moved-on" || slug === "not-found")) {
    const { kind, address } = step.live;
    const message = `the ${kind.name} ${address} changed since the plan: run plan again`;
    return new CommandError(message, exitCodes.failed, { cause: error });
  }
  const { detail, errors = [] } = problem;
  return new CommandError(stepLines(step, { detail, errors }).join("\n"), exitCodes.failed, { cause: error });
}

function toJson({ done, stoppedAt, notDone }: Progress, { issued }: IssuedTokens, secrets: Secrets) {
  const show = (step: Progress["done"][number]) => toShown(step, secrets);
  return {
    done: done.map(show),
    stoppedAt: stoppedAt === null ? null : show(stoppedAt),
    notDone: notDone.map(show),
    tokens: issued,
  };
}
