import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { MAX_DEPTH, MAX_DIGITS, mayRound, readJson, writeJson } from "../../../actors/exact-json.js";
import { createMcpServer, type ServedTool } from "./mcp-server.js";
import type { Pace } from "./pace.js";

/** Maximum length of a socket path that every system accepts, in bytes. */
const MAX_PATH_BYTES = 100;
/** Maximum number of concurrent clients of one socket. */
const MAX_CLIENTS = 32;
/** Maximum size of a client's message, in bytes. A longer message ends the client's connection. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Maximum number of bytes that a client may leave unread while it sends more. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

export interface ServedTools {
  readonly name: string;
  readonly tools: readonly ServedTool[];
  /** The rate limit of all clients of the run. */
  readonly pace: Pace;
}

/**
 * An MCP server on a Unix socket. Only the owner of the socket's folder can connect. Each client has its own connection
 * with limits; a client that exceeds a limit loses only its own connection.
 */
export class ToolSocket {
  readonly path: string;
  readonly #server: Server;
  readonly #clients: ReadonlySet<Socket>;

  private constructor(path: string, server: Server, clients: ReadonlySet<Socket>) {
    this.path = path;
    this.#server = server;
    this.#clients = clients;
  }

  /** `path` must be in a folder that no other user can enter. Rejects if the socket cannot be bound. */
  static async open(path: string, { name, tools, pace }: ServedTools): Promise<ToolSocket> {
    const clients = new Set<Socket>();
    const server = createServer((client) => {
      clients.add(client);
      client.once("close", () => clients.delete(client));
      pace.add(client);
      serveClient(client, name, tools);
    });
    server.maxConnections = MAX_CLIENTS;
    await bind(server, path);
    await chmod(path, 0o600);
    return new ToolSocket(path, server, clients);
  }

  /** Closes the server and its connections. */
  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }
}

function serveClient(client: Socket, name: string, tools: readonly ServedTool[]): void {
  // Allow any number of listeners, because each pending write listens for the end of the connection.
  client.setMaxListeners(0);
  client.on("error", () => client.destroy());
  client.on("data", () => {
    if (client.writableLength > MAX_UNREAD_BYTES) client.destroy();
  });
  serveStdio(() => createMcpServer(name, tools), { transport: new SocketTransport(client) });
}

/**
 * Sends one MCP message per line, like the stdio transport, and ends when the connection ends. The library's own
 * transport would round integers beyond 2^53 in inputs, and could not write such integers in a schema.
 */
class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #client: Socket;
  readonly #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isClosed = false;

  constructor(client: Socket) {
    this.#client = client;
  }

  async start(): Promise<void> {
    this.#client.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#client.once("end", () => void this.close());
    this.#client.once("close", () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("the connection is closed");
    await new Promise<void>((resolve, reject) => {
      this.#client.write(`${writeJson(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.destroy();
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1 && !this.#isClosed; end = chunk.indexOf(NEWLINE, from)) {
      this.#unread.push(chunk.subarray(from, end));
      this.#unreadBytes += end - from;
      from = end + 1;
      if (this.#unreadBytes > MAX_MESSAGE_BYTES) return void this.close();
      this.#read(Buffer.concat(this.#unread.splice(0)).toString("utf8"));
      this.#unreadBytes = 0;
    }
    this.#unread.push(chunk.subarray(from));
    this.#unreadBytes += chunk.length - from;
    if (this.#unreadBytes > MAX_MESSAGE_BYTES) void this.close();
  }

  /**
   * Drops a line that is no message, as the library does. Rejects a tool call if it cannot read the call's inputs
   * exactly.
   */
  #read(line: string): void {
    try {
      const message = parseJSONRPCMessage(JSON.parse(line));
      const exact = withExactInputs(message, line);
      if (exact !== null) this.onmessage?.(exact);
      else if ("id" in message && message.id !== undefined) this.#refuse(message.id);
    } catch (error) {
      this.#failed(error);
    }
  }

  #refuse(id: string | number): void {
    const error = { code: ProtocolErrorCode.InvalidParams, message: `The inputs cannot be read: ${TOO_LARGE}.` };
    this.send({ jsonrpc: "2.0", id, error }).catch((failure: unknown) => this.#failed(failure));
  }

  #failed(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}

const NEWLINE = "\n".charCodeAt(0);

const TOO_LARGE = `with whole numbers beyond 2^53 they may nest ${MAX_DEPTH} levels deep, with ${MAX_DIGITS} digits in each`;

/**
 * Returns the message, but with a tool call's inputs as `readJson` reads them. Returns null if `readJson` cannot read
 * them.
 */
function withExactInputs(message: JSONRPCMessage, line: string): JSONRPCMessage | null {
  if (!mayRound(line) || !("params" in message)) return message;
  try {
    const exact = findArguments(readJson(line));
    return exact === undefined ? message : { ...message, params: { ...message.params, arguments: exact } };
  } catch {
    return null;
  }
}

function findArguments(value: unknown): unknown {
  const params = typeof value === "object" && value !== null && "params" in value ? value.params : undefined;
  return typeof params === "object" && params !== null && "arguments" in params ? params.arguments : undefined;
}

/** Binds the socket. If the path is too long, binds it through a short temporary symlink to the path's folder. */
async function bind(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return listen(server, path);
  const [temporary = "/tmp"] = [tmpdir(), "/tmp"].sort((one, other) => one.length - other.length);
  const folder = await mkdtemp(join(temporary, "signalbox-"));
  try {
    const link = join(folder, "at");
    await symlink(dirname(path), link);
    await listen(server, join(link, basename(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, "listening");
}
