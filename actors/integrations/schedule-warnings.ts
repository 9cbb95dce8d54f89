import { listExpressions } from "../expressions/positions.js";
import { readsName } from "../expressions/reads-name.js";
import { pathText } from "../refusal.js";
import type { Warning } from "../resources/kind.js";
import type { IntegrationFields } from "./definition.js";
import { integrationLanguage } from "./integration-expressions.js";

/** The names that actions see when tools or bindings run them, but not when schedules do. */
const UNSEEN = ["task", "ask", "target", "inputs"];

/** Warns of schedules that cannot send their action's request. */
export function scheduleWarnings(fields: IntegrationFields): readonly Warning[] {
  const scheduled = Object.keys(fields.actions).filter((name) => fields.actions[name]?.schedule !== null);
  if (scheduled.length === 0) return [];
  return [...actingWarnings(fields, scheduled), ...unseenWarnings(fields, scheduled)];
}

/** A schedule acts as no user, so it cannot use a user's connection. */
function actingWarnings({ connection }: IntegrationFields, scheduled: readonly string[]): readonly Warning[] {
  if (connection?.holder !== "requester") return [];
  const message = "has no account: the integration acts as people, and a schedule acts as no person";
  return scheduled.map((name) => warning(["actions", name, "schedule"], message));
}

function unseenWarnings(fields: IntegrationFields, scheduled: readonly string[]): readonly Warning[] {
  return listExpressions(integrationLanguage, { ...fields }).flatMap(({ path, text }) => {
    const [block, action, part] = path;
    if (block !== "actions" || part !== "request" || !scheduled.includes(String(action))) return [];
    return UNSEEN.filter((name) => readsName(text, name)).map((name) =>
      warning(path, `has no value when the action's schedule sends the request: ${name} is not available there`),
    );
  });
}

function warning(path: readonly (string | number)[], message: string): Warning {
  return { path: pathText(path), message, severity: "warning" };
}
