import type { Reading } from "../../../storage/store.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import type { IntegrationFields } from "../definition.js";
import type { IntegrationRequestInput } from "./integration-request.js";
import type { RequestFields } from "./render-request.js";

/** The parts of a definition that determine a request and the evaluation of its response. */
export interface FoundRequest {
  readonly integration: ResourceRow<IntegrationFields>;
  readonly request: RequestFields;
  /** The expression `expect.success`; null if there is none. */
  readonly success: string | null;
  /** The expressions of the captures, by name. */
  readonly capture: Readonly<Record<string, string>>;
  /** The expression for a tool's output; null if there is none. */
  readonly output: string | null;
  /** The expressions of a binding's marks, by kind. */
  readonly marks: Readonly<Record<string, string>>;
  /** The expression for the poll's next cursor; null if there is none. */
  readonly cursor: string | null;
}

const none = { success: null, capture: {}, output: null, marks: {}, cursor: null };

/**
 * Finds the request in the current definition. Returns null if the block was removed, if the tool or binding no longer
 * runs the action, or if the workspace is closed.
 */
export function findRequest(
  reading: Reading,
  workspaceId: string,
  { teamId, integrationId, block, after }: IntegrationRequestInput,
): FoundRequest | null {
  if (!isWorkspaceOpen(reading, workspaceId)) return null;
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  if (integration === undefined || integration.teamId !== teamId) return null;
  const { fields } = integration;
  if (block.kind === "action") {
    const request = findOwn(fields.actions, block.name)?.request;
    const follows = findAfter(fields, block.name, after);
    return request === undefined || follows === null
      ? null
      : { ...none, integration, request, success: findSuccess(request), capture: request.capture, ...follows };
  }
  if (block.kind === "poll") {
    const { poll } = fields;
    if (poll === null) return null;
    const { request, cursor } = poll;
    return { ...none, integration, request, success: findSuccess(request), capture: request.capture, cursor };
  }
  const event = fields[block.source]?.events[block.event];
  if (block.kind === "attachment") {
    const fetched = event?.raise.attaches?.fetch;
    return fetched === undefined ? null : { ...none, integration, request: fetched };
  }
  const lookup = event?.lookup ?? null;
  if (lookup === null) return null;
  return {
    ...none,
    integration,
    request: lookup.request,
    success: findSuccess(lookup.request),
    capture: lookup.capture,
  };
}

/**
 * Returns the expressions to evaluate after an action's response; null if the tool or binding was removed or runs
 * another action.
 */
function findAfter(
  { tools, on }: IntegrationFields,
  action: string,
  after: IntegrationRequestInput["after"],
): Partial<Pick<FoundRequest, "output" | "marks">> | null {
  if (after === null) return {};
  if (after.kind === "tool") {
    const tool = findOwn(tools, after.name);
    return tool?.action === action ? { output: tool.output } : null;
  }
  const binding = on[after.index];
  if (binding?.action !== action) return null;
  return { marks: Object.fromEntries(Object.entries(binding.mark).map(([kind, { value }]) => [kind, value])) };
}

function findSuccess({ expect }: { readonly expect: { readonly success: string } | null }): string | null {
  return expect?.success ?? null;
}

function findOwn<Value>(map: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
