import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Client as LaterClient } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioServerTransport as EarlierLines } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StdioServerTransport as LaterLines } from "@modelcontextprotocol/server/stdio";
import type { Test } from "tap";

/** Options of a call; the client enforces the time limit. */
export interface CallWish {
  readonly timeoutMs?: number;
  readonly progress?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** A real MCP client. Either of the two generations of the library implements it. */
export interface ToolClient {
  readonly listTools: () => Promise<readonly { readonly name: string; readonly inputSchema: object }[]>;
  /** Resolves with the answer's text, with the prefix `error:` if the answer is an error. */
  readonly call: (name: string, inputs: Record<string, unknown>, wish?: CallWish) => Promise<string>;
  readonly capabilities: () => object | undefined;
  readonly close: () => Promise<void>;
}

const INFO = { name: "tester", version: "1" };

/** Connects to a socket, which closes at the end of the test. */
export async function connectTo(t: Test, path: string): Promise<Socket> {
  const socket = connect(path);
  t.teardown(() => socket.destroy());
  socket.on("error", () => undefined);
  // The libraries add a drain listener for each request that is not yet written.
  socket.setMaxListeners(0);
  await once(socket, "connect");
  return socket;
}

/**
 * Connects a client of `@modelcontextprotocol/client`. `mode` selects how the client negotiates the protocol revision.
 */
export async function laterClient(t: Test, path: string, mode: "legacy" | "auto"): Promise<ToolClient> {
  const socket = await connectTo(t, path);
  const client = new LaterClient(INFO, { versionNegotiation: { mode } });
  await client.connect(new LaterLines(socket, socket));
  return {
    listTools: async () => (await client.listTools()).tools,
    call: async (name, inputs, wish = {}) => {
      const result = await client.callTool({ name, arguments: inputs }, toOptions(wish));
      return toText(result);
    },
    capabilities: () => client.getServerCapabilities(),
    close: async () => {
      await client.close();
      socket.destroy();
    },
  };
}

/** Connects a client of `@modelcontextprotocol/sdk`. */
export async function earlierClient(t: Test, path: string): Promise<ToolClient> {
  const socket = await connectTo(t, path);
  const client = new EarlierClient(INFO);
  await client.connect(new EarlierLines(socket, socket));
  return {
    listTools: async () => (await client.listTools()).tools,
    call: async (name, inputs, wish = {}) => {
      const result = await client.callTool({ name, arguments: inputs }, undefined, toOptions(wish));
      return toText(result);
    },
    capabilities: () => client.getServerCapabilities(),
    close: async () => {
      await client.close();
      socket.destroy();
    },
  };
}

function toOptions({ timeoutMs, progress, signal }: CallWish) {
  return {
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(signal && { signal }),
    ...(progress && {
      onprogress: ({ message = "" }: { message?: string | undefined }) => progress(message),
      resetTimeoutOnProgress: true,
    }),
  };
}

function toText({ content, isError }: { readonly [name: string]: unknown }): string {
  const text = Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
  return isError === true ? `error: ${text}` : text;
}
