import type { Reading } from "../../storage/store.js";
import { isOnTeam } from "../access/visibility.js";
import { findIntegrationConnection } from "../integrations/connection.table.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { toRequestDigest } from "../integrations/requests/request-digest.js";
import { findApprover } from "../integrations/tool-rule.js";
import { findResource, type ResourceRow } from "../resources/resource.table.js";
import type { Opener } from "../run-facts/opener.js";
import type { FrozenTool } from "../runs/frozen-tools.js";
import type { ToolCallCode, ToolCallRow } from "./tool-call.js";

/** Why a call is not made: nothing was sent. */
export interface CallProblem {
  readonly code: ToolCallCode;
  /** One sentence for the agent and for people. */
  readonly message: string;
}

/** What the request of a call is made from. */
export interface CallRequest {
  readonly action: string;
  readonly method: string;
  /** Of the action and its request as they are defined. */
  readonly digest: string;
}

/** A tool of a run, in its team. */
interface ToolOfTeam {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly tool: string;
  /** `<integration>.<tool>` */
  readonly name: string;
}

/** As whom a call is made, and whose rule asks for its approval: fixed when it is asked for. */
interface CallTerms {
  /** `team`, or the id of the person who started the task. */
  readonly actsAs: string;
  readonly rule: ToolCallRow["rule"];
}

/**
 * The terms of a call. The strictest rule wins: of the person whose account it uses, of the tool as it was when the run
 * was queued or as it is now, of the station. A tool of a `requester` integration has none where no person started the
 * task.
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

/** What the request of a call is made from, as its definition is now; or why it is not made any more. */
export function findCallRequest(
  reading: Reading,
  call: ToolOfTeam & Pick<ToolCallRow, "actsAs" | "requestDigest">,
): CallRequest | CallProblem {
  const { workspaceId, teamId, name, actsAs, requestDigest } = call;
  const found = findTool(reading, call);
  if ("code" in found) return found;
  const { action, request, connection, holder } = found;
  if (request === null) return { code: "broken", message: `${name} runs an action that is gone.` };
  if (holder === "requester" && actsAs === "team") return nobodyStarted(name);
  if (actsAs !== "team" && !isOnTeam(reading, actsAs, workspaceId, teamId)) return notOnTeam(name);
  const digest = toRequestDigest(action, request, { connection });
  if (requestDigest !== undefined && requestDigest !== digest) return changedMeanwhile(name);
  return { action, method: request.method, digest };
}

/** What a person approved is not what would be sent. */
function changedMeanwhile(name: string): CallProblem {
  return { code: "not-allowed", message: `What ${name} does was changed while its approval was waited for.` };
}

/** The person whose account a call uses is no longer on the team. `name` is `<integration>.<tool>`. */
export function notOnTeam(name: string): CallProblem {
  return { code: "not-connected", message: `The person as whom ${name} acts is not on the team any more.` };
}

interface FoundTool {
  readonly approval: boolean;
  readonly action: string;
  /** Null when the action is gone. */
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
  if (found === undefined) return { code: "not-allowed", message: `The team does not offer ${name} any more.` };
  const action = Object.hasOwn(actions, found.action) ? actions[found.action] : undefined;
  return {
    ...{ approval: found.approval, action: found.action, request: action?.request ?? null, connection },
    holder: connection?.holder ?? "team",
  };
}

const nothing: Pick<IntegrationFields, "tools" | "actions" | "connection"> = {
  tools: {},
  actions: {},
  connection: null,
};

function nobodyStarted(name: string): CallProblem {
  return { code: "not-connected", message: `${name} acts as the person who started the task, and no person did.` };
}
