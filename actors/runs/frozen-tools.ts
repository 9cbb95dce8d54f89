import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { readJson, writeJson } from "../exact-json.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { type ToolInputs, toJsonSchema } from "../integrations/tool-inputs.js";
import { parseToolName } from "../integrations/tools.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { StationLocation } from "../lines/run-setup.js";
import { findResourceAt } from "../resources/resource.table.js";
import { getText, holdText } from "../tables/text-blobs.js";
import type { ReplayTerms } from "./replay-terms.js";

/** A tool as defined when the run was queued. Later changes of its definition do not affect the run. */
export interface FrozenTool {
  /** The MCP server that exposes the tool: the key of its integration. */
  readonly server: string;
  /** The tool's key within the integration. */
  readonly tool: string;
  /** `<integration>.<tool>` */
  readonly name: string;
  readonly integrationId: string;
  readonly description: string;
  /** The inputs as defined, with their defaults. */
  readonly inputs: ToolInputs;
  /** JSON Schema of the inputs. */
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * The rule that requires approval for each call: the tool's rule, or else the station's rule. Null if no rule
   * requires approval.
   */
  readonly approval: "tool" | "station" | null;
  /** The HTTP method of the tool's action; null when the action is missing. */
  readonly method: string | null;
}

/** The tools of a run, as stored in its input. */
export interface RunTools {
  /** Digest of the body that holds the tools. */
  readonly digest: string;
  /** The MCP servers that expose the tools, without duplicates. */
  readonly servers: readonly string[];
}

/**
 * Stores the current definitions of a station's tools for a new run. Skips tools that no longer exist. Returns
 * undefined if there are none.
 */
export function freezeTools(
  turn: Turn,
  { workspaceId, teamKey }: StationLocation,
  { tools }: Pick<RunConfig["station"], "tools">,
): RunTools | undefined {
  const frozen = tools.flatMap((entry) => {
    const { integration, name } = parseToolName(entry.tool);
    const row = findResourceAt<IntegrationFields>(turn, workspaceId, "integration", `${teamKey}/${integration}`);
    return row === undefined ? [] : freezeTool(row, name, entry);
  });
  return storeTools(turn, workspaceId, frozen);
}

/**
 * Stores the tools of a run that repeats another run. A tool that the repeated run had keeps its definition from
 * `repeated`, even if the tool has been changed or deleted since. Other tools come from `now`. A tool that `now` lacks
 * too is left out.
 */
export function repeatTools(
  turn: Turn,
  workspaceId: string,
  { tools, repeated, now }: Pick<RunConfig["station"], "tools"> & Readonly<Record<"repeated" | "now", WithTools>>,
): RunTools | undefined {
  const known = [repeated, now].flatMap((had) => readFrozenTools(turn, workspaceId, had));
  const frozen = tools.flatMap(({ tool }) => known.find(({ name }) => name === tool) ?? []);
  return storeTools(turn, workspaceId, frozen);
}

function storeTools(turn: Turn, workspaceId: string, frozen: readonly FrozenTool[]): RunTools | undefined {
  const digest = frozen.length === 0 ? null : holdText(turn, workspaceId, writeJson(frozen));
  return digest === null ? undefined : { digest, servers: [...new Set(frozen.map(({ server }) => server))] };
}

function freezeTool(
  { id: integrationId, fields }: { readonly id: string; readonly fields: IntegrationFields },
  key: string,
  entry: RunConfig["station"]["tools"][number],
): FrozenTool[] {
  const tool = Object.hasOwn(fields.tools, key) ? fields.tools[key] : undefined;
  if (tool === undefined) return [];
  const { description, inputs } = tool;
  const action = Object.hasOwn(fields.actions, tool.action) ? fields.actions[tool.action] : undefined;
  const approval = tool.approval ? "tool" : entry.approval ? "station" : null;
  return [
    {
      server: fields.integration,
      tool: key,
      name: entry.tool,
      integrationId,
      description,
      inputs,
      schema: toJsonSchema(inputs),
      approval,
      method: action?.request.method ?? null,
    },
  ];
}

/** A run input that may have tools. `tools` is absent for none. */
interface WithTools {
  readonly tools?: RunTools;
}

/** Whether the run's agent gets tools. False for a replay that only checks, because it starts no agent. */
export function offersTools({ tools, replay }: WithTools & { readonly replay?: ReplayTerms }): boolean {
  return tools !== undefined && replay?.does !== "check";
}

/**
 * Maximum total size of the JSON texts whose tools are cached, in characters. The cache evicts the oldest entries
 * first.
 */
const MAX_READ_CHARACTERS = 4 * 1024 * 1024;

/** Cache of parsed tools by workspace and digest, because each call of a run reads the same tools. */
const read = new Map<string, { readonly tools: readonly FrozenTool[]; readonly characters: number }>();
let readCharacters = 0;

/**
 * Reads the tools of a run, in the order of its station; empty if it has no tools. The result may be a cached object:
 * do not change it.
 */
export function readFrozenTools(reading: Reading, workspaceId: string, { tools }: WithTools): readonly FrozenTool[] {
  if (tools === undefined) return [];
  const name = `${workspaceId} ${tools.digest}`;
  const known = read.get(name);
  if (known !== undefined) return known.tools;
  const text = getText(reading, workspaceId, tools.digest);
  const made = { tools: readJson(text) as readonly FrozenTool[], characters: text.length };
  read.set(name, made);
  readCharacters += made.characters;
  for (const [oldest, { characters }] of read) {
    if (readCharacters <= MAX_READ_CHARACTERS) break;
    read.delete(oldest);
    readCharacters -= characters;
  }
  return made.tools;
}
