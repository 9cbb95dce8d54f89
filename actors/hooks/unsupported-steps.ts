import type { Reading } from "../../storage/store.js";
import { workEvents } from "../events/catalogue.js";
import { findOfferedTool, type OfferedTool } from "../integrations/tools.js";
import { pathText } from "../refusal.js";
import type { Warning } from "../resources/kind.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import type { HookFailureCode } from "./delivery/failure-codes.js";
import type { HookFields, HookStep } from "./hook.js";

/** Why a step fails for every event. */
export interface UnsupportedStep {
  readonly code: HookFailureCode;
  readonly reason: string;
}

/**
 * Returns why a step never runs; null if it can run. A step never runs if its tool does not exist, or if hooks may not
 * call its tool.
 */
export function whyUnsupported(
  reading: Reading,
  { workspaceId, teamId }: Pick<ResourceRow, "workspaceId" | "teamId">,
  { call }: HookStep,
): UnsupportedStep | null {
  if (call === null) return null;
  const teamKey = getTeamKey(reading, workspaceId, teamId);
  const reason = whyNotCalled(findOfferedTool(reading, { workspaceId, teamKey }, call), call);
  return reason === null ? null : { code: "not-allowed", reason };
}

function whyNotCalled(tool: OfferedTool | undefined, name: string): string | null {
  if (tool === undefined) return `no integration of the team offers ${name}`;
  if (tool.approval) return `the tool ${name} needs approval, and nobody approves the calls of a hook`;
  return tool.holder === "requester"
    ? `the tool ${name} acts as the person who started a task, and a hook acts as no person`
    : null;
}

/** Returns a warning for each part of a hook that is valid but has no effect. */
export function hookWarnings(
  { on, steps }: HookFields,
  reading: Reading,
  row: Pick<ResourceRow, "workspaceId" | "teamId">,
): readonly Warning[] {
  const never = workEvents[on].served ? [] : [warning("on", "is not emitted yet: the hook never fires")];
  const unsupported = steps.flatMap((step, index) => {
    const why = whyUnsupported(reading, row, step);
    return why === null ? [] : [warning(`steps[${index}].call`, `the step fails with ${why.code}: ${why.reason}`)];
  });
  const replaced = steps.flatMap(({ request }, index) =>
    Object.keys(request?.headers ?? {})
      .filter((name) => name.toLowerCase() === "user-agent")
      .map((name) => warning(pathText(["steps", index, "request", "headers", name]), "is always set by the service")),
  );
  return [...never, ...unsupported, ...replaced];
}

function warning(path: string, message: string): Warning {
  return { path, message, severity: "warning" };
}
