import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "undici";
import { DATA_FILE } from "../../storage/data-file.js";
import type { Seed } from "./seed.js";
import type { Command, Started } from "./serve.js";

const AT_ONCE = 16;
const READ_BYTES = 1 << 20;

export interface Sent {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly status: number;
}

/** A service on a filled store in a separate process, with its clients in this process. */
export class Served {
  readonly seed: Seed;
  readonly started: Started;
  readonly #child: ChildProcess;
  readonly #pool: Pool;
  /** The number of requests so far. It makes the key of each request unique. */
  #sent = 0;

  private constructor(child: ChildProcess, seed: Seed, started: Started) {
    this.#child = child;
    this.seed = seed;
    this.started = started;
    this.#pool = new Pool(`http://127.0.0.1:${started.port}`, { connections: AT_ONCE });
  }

  static async start(folder: string, seed: Seed): Promise<Served> {
    const child = fork(new URL("./serve.js", import.meta.url));
    const started = (await tell(child, { type: "start", folder, receiver: seed.receiver })) as Started;
    return new Served(child, seed, started);
  }

  get port(): number {
    return this.started.port;
  }

  tell(command: Command): Promise<unknown> {
    return tell(this.#child, command);
  }

  /** Sends this many requests, some of them concurrently, and returns the last answer. */
  async send(count: number, request: (n: number) => Sent): Promise<string> {
    let next = 0;
    let last = "";
    const client = async () => {
      for (let n = next++; n < count; n = next++) last = await this.#exchange(request(n));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    return last;
  }

  /**
   * Returns the CPU time of the service's process until `work` is done and the service is idle again, in microseconds.
   */
  async measure(work: () => Promise<unknown>): Promise<number> {
    await this.tell({ type: "settle" });
    const before = Number(await this.tell({ type: "cpu" }));
    await work();
    await this.tell({ type: "settle" });
    return Number(await this.tell({ type: "cpu" })) - before;
  }

  async stop(): Promise<void> {
    await this.#pool.close();
    await this.tell({ type: "stop" });
    await this.#end("SIGTERM");
  }

  /** Kills the process, as in a crash. */
  async kill(): Promise<void> {
    await this.#pool.close();
    await this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.kill(signal);
    await exit;
  }

  async #exchange({ method, path, body, status }: Sent): Promise<string> {
    this.#sent += 1;
    const key = { "content-type": "application/json", "idempotency-key": `${process.pid}-${this.port}-${this.#sent}` };
    const answer = await this.#pool.request({
      method,
      path,
      headers: { cookie: this.seed.cookie, ...(body === undefined ? {} : key) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== status) throw new Error(`${method} ${path} answered ${answer.statusCode} ${text}`);
    return text;
  }
}

/** Reads a store's file, so that the service's reads do not wait for the disk. */
export function warm(folder: string): void {
  const file = openSync(join(folder, DATA_FILE), "r");
  const bytes = Buffer.alloc(READ_BYTES);
  while (readSync(file, bytes) > 0);
  closeSync(file);
}

async function tell(child: ChildProcess, command: Command): Promise<unknown> {
  child.send(command);
  const [{ answer, failure }] = (await once(child, "message")) as [{ answer?: unknown; failure?: string }];
  if (failure !== undefined) throw new Error(failure);
  return answer;
}
