import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import type { ToolRequest } from "./await-call.js";
import type { ToolResult } from "./tool-calls.js";

export interface ServedTool {
  /** The tool's name: `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema with `type` `object`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** `inputs` are unchecked, as the client sent them. Never rejects. */
  readonly call: (inputs: unknown, request: ToolRequest) => Promise<ToolResult>;
}

/**
 * Creates an MCP server for one client, with a fixed list of tools. It does not check inputs. It never asks its client
 * for approval, because the person at the agent may not be allowed to approve the calls.
 */
export function createMcpServer(name: string, tools: readonly ServedTool[]): Server {
  const server = new Server({ name, version: "1" }, { capabilities: { tools: {} } });
  const listed = tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema, type: "object" as const },
  }));
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = tools.find((served) => served.name === params.name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)}.`);
    }
    const { signal } = context.mcpReq;
    const { text, note, isError } = await tool.call(params.arguments ?? {}, { signal, progress: toProgress(context) });
    const texts = note === undefined ? [text] : [text, note];
    return { content: texts.map((each) => ({ type: "text" as const, text: each })), isError };
  });
  return server;
}

/** Returns a function that sends progress messages; null for a client that did not ask for progress. */
function toProgress({ mcpReq }: ServerContext): ((text: string) => void) | null {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  let progress = 0;
  return (message) => {
    progress += 1;
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(noop);
  };
}

function noop(): void {
  // Ignore the error: the client has disconnected, and its requests are aborted.
}
