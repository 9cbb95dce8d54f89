import type { Reading } from "../../storage/store.js";
import type { Reference } from "../resources/kind.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { IntegrationFields } from "./definition.js";

/** A field that names a tool, `<integration>.<tool>`, which an integration of the team must offer. */
export function toToolReference(tool: string, path: string, teamKey: string): Reference {
  const address = `${teamKey}/${parseToolName(tool).integration}`;
  return { path, kind: "integration", key: tool, address, missing: `no integration of the team offers ${tool}` };
}

/** How a tool may be used. */
export interface OfferedTool {
  readonly approval: boolean;
  /** Whose connection it uses. */
  readonly holder: "team" | "requester";
}

/** The tool as an integration of the team offers it, or undefined. */
export function findOfferedTool(
  reading: Reading,
  { workspaceId, teamKey }: { readonly workspaceId: string; readonly teamKey: string },
  tool: string,
): OfferedTool | undefined {
  const { integration, name } = parseToolName(tool);
  const fields = findResourceAt<IntegrationFields>(
    reading,
    workspaceId,
    "integration",
    `${teamKey}/${integration}`,
  )?.fields;
  const found = fields !== undefined && Object.hasOwn(fields.tools, name) ? fields.tools[name] : undefined;
  return found && { approval: found.approval, holder: fields?.connection?.holder ?? "team" };
}

/** The two parts of a tool's name. */
export function parseToolName(tool: string): { readonly integration: string; readonly name: string } {
  const dot = tool.indexOf(".");
  return { integration: tool.slice(0, dot), name: tool.slice(dot + 1) };
}
