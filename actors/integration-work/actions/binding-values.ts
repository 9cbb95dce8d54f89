import type { Reading } from "../../../storage/store.js";
import type { EventTask } from "../../events/catalogue.js";
import type { TaskAsk } from "../../events/task-happening.js";
import { DYN } from "../../expressions/cel-types.js";
import { createBudget, type Names } from "../../expressions/evaluate.js";
import { integrationNames } from "../../expressions/positions.js";
import { evaluateText } from "../../expressions/templates.js";
import { toText, toValue } from "../../expressions/values.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { needsTarget } from "../../integrations/requests/request-names.js";
import { tasks } from "../../tasks/task.table.js";

/** The values that a binding's expressions can use, as plain data. */
export interface BindingValues {
  readonly task: Pick<EventTask, "line" | "station" | "stationKey" | "marks">;
  readonly ask: { readonly body: string; readonly link: string | null; readonly station: string };
  /**
   * The values of the binding's `to`. If `to` has no `channel`, `channel` is the channel of the route that opened the
   * task.
   */
  readonly target: Readonly<Record<string, string>>;
}

/** A binding's `to` and the request of its action. */
export interface BoundRequest extends Pick<IntegrationFields["on"][number], "to"> {
  readonly request: IntegrationFields["actions"][string]["request"] | undefined;
}

/**
 * Returns the values for a binding's request about a task. In `to`, the link of a question is a path without the
 * service's base URL. Returns null if the binding does not apply to the task, in two cases:
 *
 * - A value of `to` is empty.
 * - The binding has no `to` and needs a channel, but no route opened the task.
 */
export function toBindingValues(
  reading: Reading,
  { workspaceId, integrationId }: { readonly workspaceId: string; readonly integrationId: string },
  { to, request }: BoundRequest,
  about: { readonly task: EventTask; readonly ask: TaskAsk | null },
): BindingValues | null {
  const { id, line, station, stationKey, marks } = about.task;
  const task = { line, station, stationKey, marks };
  const ask = { body: about.ask?.body ?? "", link: about.ask === null ? null : `/api/tasks/${id}`, station };
  const target = evaluateTarget(to, { task, ask });
  if (target === null) return null;
  const channel = tasks.get(reading, workspaceId, id)?.channels?.[integrationId];
  if (channel !== undefined) return { task, ask, target: { channel, ...target } };
  const isForRoutes = Object.keys(to).length === 0 && request !== undefined && needsTarget(request, "channel");
  return isForRoutes ? null : { task, ask, target };
}

function evaluateTarget(
  to: Readonly<Record<string, string>>,
  values: Pick<BindingValues, "task" | "ask">,
): Record<string, string> | null {
  const names: Names = {
    task: toValue(values.task, integrationNames.task ?? DYN),
    ask: toValue(values.ask, integrationNames.ask ?? DYN),
  };
  const allowance = createBudget();
  const target: Record<string, string> = {};
  for (const [name, expression] of Object.entries(to)) {
    const outcome = evaluateText(expression, names, allowance);
    const value = "value" in outcome ? toText(outcome.value) : "";
    if (value === "") return null;
    target[name] = value;
  }
  return target;
}
