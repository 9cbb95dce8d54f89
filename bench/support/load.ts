import { connect, type Socket } from "node:net";
import { percentile } from "./table.js";

/** What to send, to whom and for how long. A `{n}` in the request is a number of nine digits, another each time. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly request: string;
  /** The status every answer must have. */
  readonly status: number;
}

export interface LoadFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/**
 * One connection that sends the next request when the last was answered. Answers are only looked at as far as needed
 * to tell where they end, so that the load costs less than what is measured.
 */
class Connection {
  readonly #socket: Socket;
  readonly #load: Load;
  readonly #next: () => number;
  readonly #answered: (ms: number, isWanted: boolean) => void;
  #sentMs = 0;
  #rest = "";

  constructor(load: Load, next: () => number, answered: (ms: number, isWanted: boolean) => void) {
    this.#load = load;
    this.#next = next;
    this.#answered = answered;
    this.#socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("connect", () => this.#send());
    this.#socket.on("data", (chunk: string) => this.#hear(chunk));
  }

  end(): void {
    this.#socket.destroy();
  }

  #send(): void {
    this.#sentMs = performance.now();
    this.#socket.write(this.#load.request.replaceAll("{n}", String(this.#next()).padStart(9, "0")));
  }

  #hear(chunk: string): void {
    const text = this.#rest + chunk;
    const head = text.indexOf("\r\n\r\n");
    const length = head < 0 ? null : Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (length === null || text.length < head + 4 + length) {
      this.#rest = text;
      return;
    }
    this.#rest = "";
    this.#answered(performance.now() - this.#sentMs, text.startsWith(String(this.#load.status), 9));
    this.#send();
  }
}

/** Puts the load on and measures after the warm-up. */
async function measure(load: Load): Promise<LoadFigures> {
  let sent = 0;
  let failed = 0;
  let measuring = false;
  const times: number[] = [];
  const answered = (ms: number, isWanted: boolean) => {
    if (!isWanted) failed += 1;
    else if (measuring) times.push(ms);
  };
  const first = Math.floor(Math.random() * 900_000_000);
  const connections = Array.from(
    { length: load.connections },
    () => new Connection(load, () => first + sent++, answered),
  );
  await new Promise((resolve) => setTimeout(resolve, load.warmUpMs));
  measuring = true;
  const begunMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, load.durationMs));
  const seconds = (performance.now() - begunMs) / 1_000;
  measuring = false;
  for (const connection of connections) connection.end();
  return {
    perSecond: times.length / seconds,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    failed,
  };
}

// As a process of its own it is told its load by the one that measures, and answers with the figures.
if (process.send !== undefined) {
  process.on("message", (load: Load) => {
    measure(load).then((figures) => process.send?.(figures));
  });
}
