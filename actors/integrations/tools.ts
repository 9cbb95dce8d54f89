import type { Reading } from "../../storage/store.js";
import type { Reference } from "../resources/kind.js";
import { findResourceAt, type ResourceRow } from "../resources/resource.table.js";
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

/** A tool with its definition. */
export interface FoundTool extends OfferedTool {
  readonly integration: ResourceRow<IntegrationFields>;
  /** Its name in the integration. */
  readonly name: string;
  readonly tool: IntegrationFields["tools"][string];
}

/** The tool as an integration of the team offers it, or undefined. */
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

/** The two parts of a tool's name. */
export function parseToolName(tool: string): { readonly integration: string; readonly name: string } {
  const dot = tool.indexOf(".");
  return { integration: tool.slice(0, dot), name: tool.slice(dot + 1) };
}
