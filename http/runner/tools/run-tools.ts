import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inputsSchema } from "../../../actors/runners/call-inputs.js";
import type { Job, OfferedTool } from "../../../actors/runners/job.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RunFolder } from "../checkout/run-folder.js";
import { maskedWithin } from "../harness/mask.js";
import { awaitCall } from "./await-call.js";
import type { ServedTool } from "./mcp-server.js";
import { Pace } from "./pace.js";
import { BRIDGE_FLAG } from "./pipe-to-socket.js";
import type { ToolCalls } from "./tool-calls.js";
import type { ToolSocket } from "./tool-socket.js";

/** The MCP server with the service's own tools. */
export const OWN_SERVER = "signalbox";

/** Defined by the build of the one-file runner (`one-file.ts`). */
declare const IS_ONE_FILE: true | undefined;

/** The arguments of node for the program that pipes standard input and output to a socket. */
const BRIDGE: readonly string[] =
  typeof IS_ONE_FILE === "undefined"
    ? [fileURLToPath(new URL("./bridge.js", import.meta.url))]
    : [fileURLToPath(import.meta.url), BRIDGE_FLAG];

export interface RunToolsOptions {
  readonly folder: Pick<RunFolder, "tools" | "toolsConfig">;
  readonly calls: ToolCalls;
  /** The service's own tools. */
  readonly own: readonly ServedTool[];
  readonly clock: Clock;
  readonly mask: (text: string) => string;
  /** Back-pressure: resolves when more may be sent, or when `signal` is aborted. */
  readonly room: (signal: AbortSignal) => Promise<void>;
}

/**
 * The tools of a run while its agent works: MCP servers on sockets, and the file that describes how to start each
 * server.
 */
export class RunTools {
  readonly #sockets: readonly ToolSocket[];

  private constructor(sockets: readonly ToolSocket[]) {
    this.#sockets = sockets;
  }

  /**
   * Opens a socket for each server, and writes the file: `{ "mcpServers": { "<server>": { "command", "args", … } } }`.
   */
  static async open(job: Pick<Job, "tools">, options: RunToolsOptions): Promise<RunTools> {
    const { folder } = options;
    await mkdir(folder.tools, { mode: 0o700 });
    const sockets: ToolSocket[] = [];
    const pace = new Pace(options.clock);
    const mcpServers: Record<string, object> = {};
    for (const [name, tools] of toServers(job.tools ?? [], options)) {
      // Load the MCP library with the first run that has tools: it takes a quarter of a runner's start time.
      const { ToolSocket } = await import("./tool-socket.js");
      const socket = await ToolSocket.open(join(folder.tools, `${sockets.length}`), {
        name,
        tools,
        pace,
      });
      sockets.push(socket);
      mcpServers[name] = { type: "stdio", command: process.execPath, args: [...BRIDGE, socket.path], env: {} };
    }
    await writeFile(folder.toolsConfig, JSON.stringify({ mcpServers }, null, 2), { mode: 0o600 });
    return new RunTools(sockets);
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }
}

function toServers(offered: readonly OfferedTool[], options: RunToolsOptions): Map<string, ServedTool[]> {
  const servers = new Map<string, ServedTool[]>();
  if (options.own.length > 0) servers.set(OWN_SERVER, [...options.own]);
  for (const tool of offered) {
    const served = servers.get(tool.server) ?? [];
    servers.set(tool.server, served);
    served.push(toServed(tool, options));
  }
  return servers;
}

/** Converts a tool of the job to an MCP tool. The service makes the calls of this tool. */
function toServed({ server, name, description, schema }: OfferedTool, options: RunToolsOptions): ServedTool {
  const { calls, clock, mask, room } = options;
  return {
    name,
    description,
    schema,
    call: async (given, request) => {
      const parsed = inputsSchema.safeParse(given);
      if (!parsed.success) {
        return { text: `The inputs ${parsed.error.issues[0]?.message ?? "cannot be sent"}.`, isError: true };
      }
      await room(request.signal);
      const inputs = inputsSchema.parse(maskedWithin(parsed.data, mask));
      return awaitCall(calls, { server, tool: name, inputs }, { ...request, clock });
    },
  };
}
