import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { z } from "zod";

/** A tool call's result. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

const configured = z.object({
  mcpServers: z.record(
    z.string(),
    z.object({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()).default({}) }),
  ),
});
const answered = z.object({
  id: z.number().optional(),
  result: z
    .looseObject({
      content: z.array(z.looseObject({ text: z.string().default("") })).default([]),
      isError: z.boolean().default(false),
    })
    .optional(),
  error: z.object({ message: z.string() }).optional(),
});
type Answered = z.output<typeof answered>;

/**
 * The part of the Model Context Protocol that an agent needs to call tools: line-delimited JSON-RPC over a program's
 * pipes.
 */
export class ToolClient {
  readonly #server: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answered) => void>();
  #id = 0;

  private constructor(server: ChildProcess) {
    this.#server = server;
    if (server.stdout === null) return;
    createInterface({ input: server.stdout }).on("line", (line) => this.#take(answered.parse(JSON.parse(line))));
  }

  /** Starts a server from the file that `SIGNALBOX_MCP_CONFIG` names. */
  static async open(name: string): Promise<ToolClient> {
    const { mcpServers } = configured.parse(JSON.parse(readFileSync(process.env.SIGNALBOX_MCP_CONFIG ?? "", "utf8")));
    const server = mcpServers[name];
    if (server === undefined) throw new Error(`there are no tools of ${name}`);
    const env = { ...process.env, ...server.env };
    const client = new ToolClient(spawn(server.command, server.args, { env, stdio: ["pipe", "pipe", "inherit"] }));
    const clientInfo = { name: "demo-agent", version: "1" };
    await client.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    client.#send({ method: "notifications/initialized" });
    return client;
  }

  /**
   * Calls a tool. The result may need a person's approval. The call sends a progress token, so that it can wait as long
   * as necessary.
   */
  async call(name: string, inputs: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    const token = { progressToken: this.#id + 1 };
    const { result, error } = await this.#ask("tools/call", { name, arguments: inputs, _meta: token });
    if (result === undefined) return { text: error?.message ?? "", isError: true };
    return { text: result.content.map(({ text }) => text).join(""), isError: result.isError };
  }

  close(): void {
    this.#server.stdin?.end();
  }

  #ask(method: string, params: object): Promise<Answered> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    this.#server.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(answer: Answered): void {
    const { id = 0 } = answer;
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }
}
