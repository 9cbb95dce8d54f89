import type { Reading } from "../../storage/store.js";
import type { Reference } from "../resources/kind.js";
import { findResourceAt, type ResourceRow } from "../resources/resource.table.js";
import type { IntegrationFields } from "./definition.js";

/**
 * Returns the reference of a field that names a tool, `<integration>.<tool>`. An integration of the team must offer the
 * tool.
 */
export function toToolReference(tool: string, path: string, teamKey: string): Reference {
  const address = `${teamKey}/${parseToolName(tool).integration}`;
  return { path, kind: "integration", key: tool, address, missing: `no integration of the team offers ${tool}` };
}

/** The rules for using a tool. */
export interface OfferedTool {
  readonly approval: boolean;
  /** Whose connection the tool uses. */
  readonly holder: "team" | "requester";
}

/** A tool with its definition. */
export interface FoundTool extends OfferedTool {
  readonly integration: ResourceRow<IntegrationFields>;
  /** The tool's name in the integration. */
  readonly name: string;
  readonly tool: IntegrationFields["tools"][string];
}

/** Finds a tool that an integration of the team offers, or undefined. */
export function findOfferedTool(
  reading: Reading,
  { workspaceId, teamKey }: { readonly workspaceId: string; readonly teamKey: string },
  called: string,
): FoundTool | undefined {
  const { integration: key, name } = parseToolName(called);
  const integration = findResourceAt<IntegrationFields>(reading, workspaceId, "integration", `${teamKey}/${key}`);
  const tools = integration?.fields.tools ?? {};
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (integration === undefined || tool === undefined) return undefined;
  const { approval } = tool;
  return { integration, name, tool, approval, holder: integration.fields.connection?.holder ?? "team" };
}

/** Splits a tool's name into its two parts. */
export function parseToolName(tool: string): { readonly integration: string; readonly name: string } {
  const dot = tool.indexOf(".");
  return { integration: tool.slice(0, dot), name: tool.slice(dot + 1) };
}
