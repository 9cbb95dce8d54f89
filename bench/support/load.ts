import { connect, type Socket } from "node:net";
import { percentile } from "./table.js";

/**
 * The requests, their target and their duration. If there are several requests, they are sent in rotation. `{n}` in a
 * request is replaced by a nine-digit number, which differs for each request.
 */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly request: string | readonly string[];
  /** The expected status of every answer, or its first digits. */
  readonly status: number;
  /**
   * Requests per second at an even rate, below the server's capacity. Without this rate, each connection sends the next
   * request as soon as it has an answer.
   */
  readonly pacedPerSecond?: number;
}

export interface LoadFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  /** Number of answers with the expected status, including the warm-up. */
  readonly answered: number;
}

/** Receives the events of a connection. */
interface Listener {
  /** Returns the number of the next request. */
  next(): number;
  answered(ms: number, isWanted: boolean): void;
  /** Called when the connection has no request in flight and can send the next one. */
  free(connection: Connection): void;
}

/**
 * One connection, with at most one request in flight. It parses an answer only as far as needed to find the answer's
 * end, so that the load costs less CPU time than the measured server.
 */
class Connection {
  readonly #socket: Socket;
  readonly #load: Load;
  readonly #listener: Listener;
  #sentMs = 0;
  #rest = "";

  constructor(load: Load, listener: Listener) {
    this.#load = load;
    this.#listener = listener;
    this.#socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("connect", () => listener.free(this));
    this.#socket.on("data", (chunk: string) => this.#handle(chunk));
  }

  end(): void {
    this.#socket.destroy();
  }

  send(): void {
    this.#sentMs = performance.now();
    const [number, { request }] = [this.#listener.next(), this.#load];
    const text = typeof request === "string" ? request : (request[number % request.length] ?? "");
    this.#socket.write(text.replaceAll("{n}", String(number).padStart(9, "0")));
  }

  #handle(chunk: string): void {
    const text = this.#rest + chunk;
    const head = text.indexOf("\r\n\r\n");
    const length = head < 0 ? null : Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (length === null || text.length < head + 4 + length) {
      this.#rest = text;
      return;
    }
    this.#rest = "";
    this.#listener.answered(performance.now() - this.#sentMs, text.startsWith(String(this.#load.status), 9));
    this.#listener.free(this);
  }
}

/** Time between two checks for due requests, in milliseconds. */
const PACE_MS = 1;

/**
 * Sends requests at an even rate over free connections. `free` reports a connection that is free; `end` stops sending.
 */
function pace(perSecond: number): { readonly free: (connection: Connection) => void; readonly end: () => void } {
  const free: Connection[] = [];
  let due = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Limit the due requests to the free connections: a request that a slow server delayed is dropped, not sent later.
    due = Math.min(due + ((nowMs - lastMs) * perSecond) / 1_000, free.length);
    lastMs = nowMs;
    for (; due >= 1; due -= 1) free.shift()?.send();
  }, PACE_MS);
  return { free: (connection) => void free.push(connection), end: () => clearInterval(timer) };
}

/** Generates the load, and measures after the warm-up. */
async function measure(load: Load): Promise<LoadFigures> {
  let sent = 0;
  let failed = 0;
  let wanted = 0;
  let measuring = false;
  const times: number[] = [];
  const answered = (ms: number, isWanted: boolean) => {
    if (isWanted) wanted += 1;
    else failed += 1;
    if (isWanted && measuring) times.push(ms);
  };
  const first = Math.floor(Math.random() * 900_000_000);
  const paced = load.pacedPerSecond === undefined ? null : pace(load.pacedPerSecond);
  const free = paced?.free ?? ((connection: Connection) => connection.send());
  const listener: Listener = { next: () => first + sent++, answered, free };
  const connections = Array.from({ length: load.connections }, () => new Connection(load, listener));
  await new Promise((resolve) => setTimeout(resolve, load.warmUpMs));
  measuring = true;
  const begunMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, load.durationMs));
  const seconds = (performance.now() - begunMs) / 1_000;
  measuring = false;
  paced?.end();
  for (const connection of connections) connection.end();
  return {
    perSecond: times.length / seconds,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    failed,
    answered: wanted,
  };
}

// Entry point of the child process: receives the load as a message from the measuring process, and answers with the
// figures.
if (process.send !== undefined) {
  process.on("message", (load: Load) => {
    measure(load).then((figures) => process.send?.(figures));
  });
}
