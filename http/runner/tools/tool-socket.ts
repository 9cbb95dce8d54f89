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

/** Longest path that every system can bind a socket to, in bytes. */
const MAX_PATH_BYTES = 100;
/** Most clients of one socket at once. */
const MAX_CLIENTS = 32;
/** Longest message of a client, in bytes; a longer one ends its connection. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Most bytes that a client has not read while it asks for more. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** What a socket serves. */
export interface ServedTools {
  /** The server's. */
  readonly name: string;
  readonly tools: readonly ServedTool[];
  /** Of all clients of the run. */
  readonly pace: Pace;
}

/**
 * An MCP server on a Unix socket. Only the user of the folder that it lies in can connect. Each client has its own
 * connection, within bounds; what one sends, or does not read, ends that connection alone.
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

  /** `path` is in a folder that nobody else can enter. Rejects when it cannot be bound. */
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

  /** Ends its connections. */
  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }
}

function serveClient(client: Socket, name: string, tools: readonly ServedTool[]): void {
  // Each answer that is not written yet listens for the end of the connection.
  client.setMaxListeners(0);
  client.on("error", () => client.destroy());
  client.on("data", () => {
    if (client.writableLength > MAX_UNREAD_BYTES) client.destroy();
  });
  serveStdio(() => createMcpServer(name, tools), { transport: new SocketTransport(client) });
}

/**
 * Messages in lines, as the stdio transport of MCP has them; its end is the connection's. The library's own transport
 * would round whole numbers beyond 2^53 of inputs, and could not write those of a schema.
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

  /** A line that is no message is dropped, as the library does; a call whose inputs cannot be read exactly is refused. */
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

/** The message with the inputs of a tool's call as `readJson` reads them; null if it cannot. */
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

/** A path that is too long is bound through a short link to its folder, which is gone afterwards. */
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
