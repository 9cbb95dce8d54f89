import type { Reading } from "../../storage/store.js";
import { isOnTeam } from "../access/visibility/visibility.js";
import { findIntegrationConnection } from "../integrations/connection.table.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { toRequestDigest } from "../integrations/requests/request-digest.js";
import { findApprover } from "../integrations/tool-rule.js";
import type { Opener } from "../opener.js";
import { findResource, type ResourceRow } from "../resources/resource.table.js";
import type { FrozenTool } from "../runs/frozen-tools.js";
import type { ToolCallCode, ToolCallRow } from "./tool-call.js";

/** The reason why a call is not made. Nothing was sent. */
export interface CallProblem {
  readonly code: ToolCallCode;
  /** One sentence for the agent and for people. */
  readonly message: string;
}

/** The data of a call's request in the current definition. */
export interface CallRequest {
  readonly action: string;
  readonly method: string;
  /** Digest of the current definition: the action, its request and its connection. */
  readonly digest: string;
}

/** A tool of a team, by the integration that offers it. */
interface ToolOfTeam {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly tool: string;
  /** `<integration>.<tool>` */
  readonly name: string;
}

/**
 * The terms that are fixed when the agent asks for a call: the account that the call uses, and the rule that requires
 * approval.
 */
interface CallTerms {
  /** `team`, or the id of the person who started the task. */
  readonly actsAs: string;
  readonly rule: ToolCallRow["rule"];
}

/**
 * Returns the terms of a call. Returns a problem in two cases:
 *
 * - The team no longer offers the tool.
 * - The tool acts as the person who started the task, and no person started it.
 *
 * The terms name the first of these rules that requires approval:
 *
 * 1. The rule of the person whose account the call uses.
 * 2. The tool's rule, when the run was queued or now.
 * 3. The station's rule.
 */
export function findCallTerms(
  reading: Reading,
  workspaceId: string,
  { teamId, frozen, opener }: { readonly teamId: string; readonly frozen: FrozenTool; readonly opener: Opener | null },
): CallTerms | CallProblem {
  const { integrationId, tool, name } = frozen;
  const fields = findTool(reading, { workspaceId, teamId, integrationId, tool, name });
  if ("code" in fields) return fields;
  const { approval, holder } = fields;
  const starter = opener?.kind === "person" ? opener.userId : null;
  if (holder === "requester" && starter === null) return nobodyStarted(name);
  const actsAs = holder === "requester" && starter !== null ? starter : "team";
  const asks =
    actsAs === "team" ? [] : (findIntegrationConnection(reading, workspaceId, integrationId, actsAs)?.asks ?? []);
  const team = approval || frozen.approval !== null;
  const approver = findApprover({ team, person: asks.includes(tool) });
  if (approver !== "assignee") return { actsAs, rule: approver };
  return { actsAs, rule: approval || frozen.approval === "tool" ? "tool" : "station" };
}

/**
 * Returns the request of a call by its current definition. If the service cannot make the request now, returns the
 * reason.
 */
export function findCallRequest(
  reading: Reading,
  call: ToolOfTeam & Pick<ToolCallRow, "actsAs" | "requestDigest">,
): CallRequest | CallProblem {
  const { workspaceId, teamId, name, actsAs, requestDigest } = call;
  const found = findTool(reading, call);
  if ("code" in found) return found;
  const { action, request, connection, holder } = found;
  if (request === null) return { code: "broken", message: `${name} runs an action that was deleted.` };
  if (holder === "requester" && actsAs === "team") return nobodyStarted(name);
  if (actsAs !== "team" && !isOnTeam(reading, actsAs, workspaceId, teamId)) return notOnTeam(name);
  const digest = toRequestDigest(action, request, { connection });
  if (requestDigest !== undefined && requestDigest !== digest) return changedMeanwhile(name);
  return { action, method: request.method, digest };
}

/** Returns the problem of a call whose request has changed since a person approved it. */
function changedMeanwhile(name: string): CallProblem {
  return { code: "not-allowed", message: `The action of ${name} changed while the call was waiting for approval.` };
}

/**
 * Returns the problem of a call that uses the account of a person who is no longer on the team. `name` is
 * `<integration>.<tool>`.
 */
export function notOnTeam(name: string): CallProblem {
  return { code: "not-connected", message: `The person whose account ${name} uses is no longer on the team.` };
}

interface FoundTool {
  readonly approval: boolean;
  readonly action: string;
  /** The request of the tool's action; null if the action no longer exists. */
  readonly request: IntegrationFields["actions"][string]["request"] | null;
  readonly connection: IntegrationFields["connection"];
  readonly holder: "team" | "requester";
}

function findTool(
  reading: Reading,
  { workspaceId, teamId, integrationId, tool, name }: ToolOfTeam,
): FoundTool | CallProblem {
  const row: ResourceRow<IntegrationFields> | undefined = findResource(
    reading,
    workspaceId,
    "integration",
    integrationId,
  );
  const { tools, actions, connection } = row?.teamId === teamId ? row.fields : nothing;
  const found = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  if (found === undefined) return { code: "not-allowed", message: `The team no longer offers ${name}.` };
  const action = Object.hasOwn(actions, found.action) ? actions[found.action] : undefined;
  return {
    approval: found.approval,
    action: found.action,
    request: action?.request ?? null,
    connection,
    holder: connection?.holder ?? "team",
  };
}

const nothing: Pick<IntegrationFields, "tools" | "actions" | "connection"> = {
  tools: {},
  actions: {},
  connection: null,
};

function nobodyStarted(name: string): CallProblem {
  return {
    code: "not-connected",
    message: `${name} acts as the person who started the task, but no person started it.`,
  };
}
