import { ApiError } from "../../client/entry.js";
import { putAt } from "./at-path.js";
import { isSame } from "./differences.js";
import type { Folder, WantedResource } from "./folder.js";
import type { IssuedTokens } from "./issued-tokens.js";
import type { LiveResource, ResourceApi } from "./live.js";
import type { HiddenValue, Step } from "./make-plan.js";

/** The steps of a plan that are done, the step that failed, and the steps that remain. */
export interface Progress {
  readonly done: readonly Step[];
  /** The step that failed; null if none did. */
  readonly stoppedAt: Step | null;
  readonly error: unknown;
  readonly notDone: readonly Step[];
}

export interface Work {
  readonly folder: Folder;
  readonly api: ResourceApi;
  readonly tokens: IssuedTokens;
  /** Called after each step; `result` is null after a delete. */
  readonly onDone: (step: Step, result: LiveResource | null) => void;
}

/**
 * Carries out steps in order, and stops at the first error, with two exceptions:
 *
 * - If a step fails because something is still in use, it is tried again after the other steps. A later step may end
 *   that use.
 * - If an earlier step failed and will be tried again, an invalid step is tried again too. It may need the result of
 *   the earlier step.
 *
 * Stops when all remaining steps fail again.
 */
export async function carryOut(steps: readonly Step[], work: Work): Promise<Progress> {
  const done: Step[] = [];
  let queue = steps;
  while (queue.length > 0) {
    const waiting: { readonly step: Step; readonly error: unknown }[] = [];
    for (const [index, step] of queue.entries()) {
      let result: LiveResource | null;
      try {
        result = await take(step, work);
      } catch (error) {
        if (mayWait(error, waiting.length > 0)) {
          waiting.push({ step, error });
          continue;
        }
        const left = [...waiting.map((each) => each.step), ...queue.slice(index + 1)];
        return { done, stoppedAt: step, error, notDone: left };
      }
      done.push(step);
      work.onDone(step, result);
    }
    const [first, ...others] = waiting;
    if (first !== undefined && waiting.length === queue.length) {
      return { done, stoppedAt: first.step, error: first.error, notDone: others.map(({ step }) => step) };
    }
    queue = waiting.map(({ step }) => step);
  }
  return { done, stoppedAt: null, error: null, notDone: [] };
}

function mayWait(error: unknown, isOtherWaiting: boolean): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.slug === "in-use" || (error.slug === "invalid" && isOtherWaiting);
}

async function take(step: Step, { folder, api, tokens }: Work): Promise<LiveResource | null> {
  if (step.action === "delete") {
    await api.delete(step.live);
    return null;
  }
  const { resource } = step.wanted;
  // Evaluate the resource again, because the ids of created resources are known now.
  const wanted = folder.evaluate(resource);
  if (step.action === "update") return api.replace(step.live, toBody(wanted, step.hidden, step.live));
  const body = toBody(wanted, step.hidden, null);
  const create = (whole: unknown) => api.create(resource.kind, wanted.holder, whole);
  const made = await tokens.keep(wanted, body, create);
  folder.created(resource, made.id);
  return made;
}

/**
 * Returns the body of a write. A field that does not change is sent as the service has it, because HCL changes the
 * Unicode form of text.
 */
export function toBody(
  { fields, complete }: WantedResource,
  hidden: readonly HiddenValue[],
  live: LiveResource | null,
): Readonly<Record<string, unknown>> {
  const kept = Object.entries(fields).map(([name, value]) => {
    const before = live?.fields[name];
    return [name, before !== undefined && isSame(before, complete[name]) ? before : value];
  });
  const body: Readonly<Record<string, unknown>> = Object.fromEntries(kept);
  return hidden.reduce((all, { path, evaluate }) => putAt(all, path.split("."), evaluate()), body);
}
