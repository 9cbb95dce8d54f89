import { once } from "node:events";
import { Agent } from "undici";
import WebSocket from "ws";
import { type SocketTopic, type SocketWorld, TITLE, toTitle } from "./socket-world.js";
import { percentile } from "./table.js";

/** Sockets opened concurrently. */
const AT_ONCE = 100;
/** Number of the writer's connections. */
const WRITERS = 64;
/** How long to wait for the last messages, in milliseconds. */
const LATE_MS = 30_000;

/**
 * A command to the readers' process: open the sockets, write changes, or close. The first command must open the
 * sockets.
 */
export type ReadersOrder = { readonly open: SocketWorld } | Writes | { readonly ask: "close" };

/**
 * The changes to write. If `isHeard` is true, they go to all topics with readers in rotation. Otherwise they all go to
 * the topic without readers.
 */
interface Writes {
  readonly changes: number;
  readonly perSecond: number;
  readonly isHeard: boolean;
}

/**
 * The arrivals of the messages that some changes caused. `p50Ms` and `p99Ms` are percentiles of the time from the
 * answer to a write until a reader has the message of its change, in milliseconds.
 */
export interface Arrivals {
  readonly messages: number;
  readonly missing: number;
  /** Rejected writes. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The same percentiles, but of the time from the moment when a write was due. */
  readonly fromRequest: { readonly p50Ms: number; readonly p99Ms: number };
  /** From the first write until the last message, in seconds. */
  readonly seconds: number;
}

const DIGITS = toTitle(0).length - toTitle(0).indexOf("0");
const MARK = Buffer.from(toTitle(0).slice(0, -DIGITS));

/**
 * All readers of a service's topics. This class also writes the changes, so that the same clock measures the answer to
 * a write and the arrival of its messages.
 */
class Readers {
  readonly #world: SocketWorld;
  readonly #sockets: WebSocket[] = [];
  readonly #agent = new Agent({ connections: WRITERS, pipelining: 1 });
  #written = 0;
  #topics: readonly SocketTopic[] = [];
  /**
   * The number of the first change in this run. The two lists below have one entry per change, in order: the time of
   * the answer to its write, and the times at which readers got its message.
   */
  #first = 0;
  #answeredMs: number[] = [];
  #arrivedMs: number[][] = [];
  /**
   * The message of the first change in the latest run with readers, with the title of change 0 in place of its own
   * title. A bare server sends this text.
   */
  text = "";

  constructor(world: SocketWorld) {
    this.#world = world;
  }

  async open(): Promise<void> {
    const wanted = this.#world.topics.flatMap(({ name, readers }) => readers.map((bearer) => ({ name, bearer })));
    for (let from = 0; from < wanted.length; from += AT_ONCE) {
      await Promise.all(wanted.slice(from, from + AT_ONCE).map(({ name, bearer }) => this.#openOne(name, bearer)));
    }
  }

  async #openOne(topic: string, bearer: string): Promise<void> {
    const { port, path } = this.#world;
    const headers = { authorization: bearer };
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, perMessageDeflate: false });
    await once(socket, "open");
    socket.send(JSON.stringify({ subscribe: topic }));
    await once(socket, "message");
    socket.on("message", (data: Buffer) => this.#arrived(data));
    socket.on("close", (code) => {
      throw new Error(`a socket was closed with ${code}`);
    });
    this.#sockets.push(socket);
  }

  #arrived(data: Buffer): void {
    const at = data.indexOf(MARK);
    if (at < 0) return;
    const nowMs = performance.now();
    const change = Number(data.toString("latin1", at + MARK.length, at + MARK.length + DIGITS));
    this.#arrivedMs[change - this.#first]?.push(nowMs);
    if (change === this.#first) this.text = data.toString().replace(toTitle(change), toTitle(0));
  }

  /** Writes changes at a steady rate, without waiting for earlier answers. */
  async write({ changes, perSecond, isHeard }: Writes): Promise<Arrivals> {
    const { topics, silent } = this.#world;
    this.#topics = isHeard ? topics : [silent];
    this.#first = this.#written;
    this.#answeredMs = [];
    this.#arrivedMs = Array.from({ length: changes }, () => []);
    const begunMs = performance.now();
    const answers: Promise<boolean>[] = [];
    while (answers.length < changes) {
      const due = Math.min(changes, Math.ceil(((performance.now() - begunMs) / 1_000) * perSecond));
      while (answers.length < due) answers.push(this.#write(this.#written++));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const failed = (await Promise.all(answers)).filter((isMade) => !isMade).length;
    const wanted = this.#wanted(changes);
    const count = () => this.#arrivedMs.reduce((sum, { length }) => sum + length, 0);
    const untilMs = performance.now() + LATE_MS;
    while (count() < wanted && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 10));
    return { ...this.#figures(begunMs, perSecond), missing: wanted - count(), failed };
  }

  #wanted(changes: number): number {
    let wanted = 0;
    for (let n = 0; n < changes; n++) wanted += this.#toTopic(this.#first + n).readers.length;
    return wanted;
  }

  #toTopic(change: number) {
    const topic = this.#topics[change % this.#topics.length];
    if (topic === undefined) throw new Error("there are no topics");
    return topic;
  }

  #figures(begunMs: number, perSecond: number): Omit<Arrivals, "missing" | "failed"> {
    const since = (begun: (n: number) => number) =>
      percentiles(this.#arrivedMs.flatMap((arrived, n) => arrived.map((ms) => ms - begun(n))));
    const lastMs = this.#arrivedMs.reduce((latest, arrived) => Math.max(latest, arrived.at(-1) ?? 0), begunMs);
    return {
      messages: this.#arrivedMs.reduce((sum, { length }) => sum + length, 0),
      ...since((n) => this.#answeredMs[n] ?? 0),
      fromRequest: since((n) => begunMs + (n * 1_000) / perSecond),
      seconds: (lastMs - begunMs) / 1_000,
    };
  }

  async #write(change: number): Promise<boolean> {
    const { write } = this.#toTopic(change);
    const headers = { "content-type": "application/json", "idempotency-key": toTitle(change), ...write.headers };
    const origin = `http://127.0.0.1:${this.#world.port}`;
    const content = write.body.replace(TITLE, toTitle(change));
    const request = { origin, path: write.path, method: "POST", headers, body: content } as const;
    const { statusCode, body } = await this.#agent.request(request);
    this.#answeredMs[change - this.#first] = performance.now();
    await body.dump();
    return statusCode >= 200 && statusCode < 300;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.removeAllListeners("close").terminate();
    await this.#agent.destroy();
  }
}

function percentiles(times: readonly number[]): { readonly p50Ms: number; readonly p99Ms: number } {
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

let readers: Readers | null = null;

// Entry point of the child process: answers `true` once all sockets are open, then the arrivals of each run of changes.
process.on("message", async (order: ReadersOrder) => {
  if ("open" in order) {
    readers = new Readers(order.open);
    await readers.open();
    process.send?.(true);
  } else if ("changes" in order && readers !== null) {
    const arrivals = await readers.write(order);
    process.send?.({ ...arrivals, text: readers.text });
  } else {
    await readers?.close();
    process.disconnect();
  }
});
process.on("disconnect", () => process.exit());
