import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { Client as LaterClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioServerTransport as Lines } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Test } from "tap";
import { signalbox } from "../../../support/signalbox-command.js";
import { until } from "../../../support/until.js";

export interface Called {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** A real MCP client of the command `signalbox mcp`. */
export interface Assistant {
  readonly tools: () => Promise<readonly ListedTool[]>;
  readonly call: (name: string, inputs?: Record<string, unknown>) => Promise<Called>;
  readonly instructions: () => string;
  /** What the process has written to standard error. */
  readonly log: () => string;
}

interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean } | undefined;
}

const INFO = { name: "tester", version: "1" };

function toEnv(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home };
}

/** Starts the command with the client of `@modelcontextprotocol/client`, as an assistant does. */
export async function startAssistant(t: Test, home: string, ...args: readonly string[]): Promise<Assistant> {
  const client = new LaterClient(INFO, { versionNegotiation: { mode: "auto" } });
  const command = { command: process.execPath, args: [signalbox, "mcp", ...args], env: toEnv(home), cwd: home };
  const transport = new StdioClientTransport({ ...command, stderr: "pipe" });
  let log = "";
  transport.stderr?.on("data", (part: Buffer) => {
    log += part.toString();
  });
  await client.connect(transport);
  t.teardown(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, inputs = {}) => toCalled(await client.callTool({ name, arguments: inputs })),
    instructions: () => client.getInstructions() ?? "",
    log: () => log,
  };
}

/** A process of the command, to whose input the test writes directly. */
export interface McpProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** All of standard output so far. */
  readonly out: () => string;
  readonly log: () => string;
  /** Resolves when the log matches. */
  readonly logged: (pattern: RegExp) => Promise<unknown>;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Connects the client of `@modelcontextprotocol/sdk`. */
  readonly connect: () => Promise<Assistant>;
}

export function startProcess(t: Test, home: string, ...args: readonly string[]): McpProcess {
  const options = { env: toEnv(home), cwd: home };
  const child = spawn(process.execPath, [signalbox, "mcp", ...args], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  t.teardown(() => child.kill("SIGKILL"));
  let out = "";
  let log = "";
  child.stdout.on("data", (part: Buffer) => {
    out += part.toString();
  });
  child.stderr.on("data", (part: Buffer) => {
    log += part.toString();
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    out: () => out,
    log: () => log,
    logged: (pattern) => until(`${pattern} is in the log`, () => pattern.test(log)),
    ended,
    connect: async () => {
      const client = new EarlierClient(INFO);
      await client.connect(new Lines(child.stdout, child.stdin));
      return {
        tools: async () => (await client.listTools()).tools,
        call: async (name, inputs = {}) => toCalled(await client.callTool({ name, arguments: inputs })),
        instructions: () => client.getInstructions() ?? "",
        log: () => log,
      };
    },
  };
}

function toCalled({ content, structuredContent, isError }: { readonly [name: string]: unknown }): Called {
  const text = Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
  return { text, data: { ...(structuredContent as object) }, isError: isError === true };
}
