import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent } from "undici";
import WebSocket from "ws";
import { CLOSE, OPEN } from "../actors/expressions/templates.js";
import type { Job } from "../actors/runners/job.js";
import { RunnerPeer } from "../test/support/runner-peer.js";
import { openBenchService } from "./support/bench-service.js";
import { percentile, type Table } from "./support/table.js";

/** Number of runs whose agents call tools. Below it, the number of open calls that each run has. */
const RUNS = 8;
const OPEN_CALLS = 8;
const CALLS = 500;
/** Number of calls that are made one after another, with no other call open. */
const CALLS_ALONE = 100;
const ROUNDS = 3;
/** Rounds before the counted ones. They compile the code, as in a long-running service. */
const UNCOUNTED = 2;

/** The duration of each call in milliseconds, and the number of calls per second. */
interface Timed {
  readonly perSecond: number;
  readonly each: readonly number[];
  /** CPU time of this process per call, in microseconds. */
  readonly cpuMicros: number;
}

/** Times of direct requests, and of tool calls. */
interface Round {
  readonly direct: Timed;
  readonly called: Timed;
}

/**
 * Makes the call with number `n`. `lane` is the index of the call among the calls that are open at once. It is less
 * than {@link RUNS} times {@link OPEN_CALLS}.
 */
type Calling = (n: number, lane: number) => Promise<void>;

/**
 * Measures tool calls, from the runner's message to the service's answer. Compares them with the same HTTP requests
 * made directly.
 */
export async function run(): Promise<Table> {
  const receiver = fork(new URL("./support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent({ connections: RUNS * OPEN_CALLS });
  const direct: Calling = async (n) => {
    const answer = await agent.request({
      origin: url,
      path: "/items",
      method: "POST",
      body: JSON.stringify({ text: `item ${n}` }),
      headers: { "content-type": "application/json", accept: "application/json" },
    });
    await answer.body.text();
  };
  const { calling, close } = await openCalls(url);
  const together: Round[] = [];
  const alone: Round[] = [];
  let from = 0;
  const measure = async (read: Pick<Wanted, "calls" | "open">): Promise<Round> => {
    const wanted = { ...read, from };
    from += read.calls;
    return { direct: await time(direct, wanted), called: await time(calling, wanted) };
  };
  // The two sides alternate, so that other load affects both equally.
  for (let round = 0; round < UNCOUNTED + ROUNDS; round++) {
    together.push(await measure({ calls: CALLS, open: RUNS * OPEN_CALLS }));
    alone.push(await measure({ calls: CALLS_ALONE, open: 1 }));
  }
  await close();
  await agent.close();
  receiver.disconnect();
  const row = (name: string, { perSecond, each, cpuMicros }: Timed, least: Timed) => [
    name,
    Math.round(perSecond),
    percentile(each, 0.5).toFixed(1),
    percentile(each, 0.99).toFixed(1),
    Math.round(cpuMicros),
    (perSecond / least.perSecond).toFixed(2),
  ];
  const [many, one] = [toMiddle(together.slice(UNCOUNTED)), toMiddle(alone.slice(UNCOUNTED))];
  return {
    title: "Tool calls",
    note:
      `${CALLS.toLocaleString("en-US")} calls of a tool by ${RUNS} runs, ${OPEN_CALLS} open in each, the middle one of ${ROUNDS} ` +
      `rounds, and ${CALLS_ALONE} one after another; the service with the runner's socket in one process, what is called in ` +
      "another, on loopback. A call is " +
      "stored before it is made and after it was answered, each on disk before anything leaves, and an agent's call is " +
      "never made twice; the same request made directly stores nothing.",
    columns: ["", "calls/s", "p50 ms", "p99 ms", "CPU us a call", "to the least"],
    rows: [
      row("undici alone, the same request", many.direct, many.direct),
      row("Signalbox", many.called, many.direct),
      row("undici alone, one after another", one.direct, one.direct),
      row("Signalbox, one after another", one.called, one.direct),
    ],
  };
}

function toMiddle(rounds: readonly Round[]): Round {
  const sorted = [...rounds].sort((left, right) => left.called.perSecond - right.called.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}

/** Which calls to make, and how many of them are open at once. */
interface Wanted {
  readonly from: number;
  readonly calls: number;
  readonly open: number;
}

async function time(call: Calling, { from, calls, open }: Wanted): Promise<Timed> {
  const each: number[] = [];
  let next = from;
  const beganMs = performance.now();
  const cpuBefore = process.cpuUsage();
  await Promise.all(
    Array.from({ length: open }, async (_, lane) => {
      while (next < from + calls) {
        const n = next;
        next += 1;
        const atMs = performance.now();
        await call(n, lane);
        each.push(performance.now() - atMs);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  const perSecond = (calls / (performance.now() - beganMs)) * 1_000;
  return { perSecond, each, cpuMicros: (user + system) / calls };
}

/** Opens a service whose runs can call a tool that posts to `url`. */
async function openCalls(url: string): Promise<{ readonly calling: Calling; close(): Promise<void> }> {
  const service = await openBenchService("uws", { OUTBOUND_ALLOW: url, LEASE_SECONDS: "600" });
  const team = `/api/resources/teams/${service.teamId}`;
  const body = { text: `${OPEN} inputs.text ${CLOSE}` };
  await service.create(
    `${team}/integrations`,
    {
      integration: "tracker",
      name: "Tracker",
      hosts: [new URL(url).host],
      actions: { add: { request: { url: `${url}/items`, body } } },
      tools: { add: { action: "add", inputs: { text: { required: true } } } },
    },
    "integration",
  );
  const pool = await service.create(
    `/api/resources/workspaces/${service.workspaceId}/runner-pools`,
    { key: "main" },
    "p",
  );
  const station = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: ["tracker.add"] };
  await service.create(`${team}/lines`, { key: "dev", name: "Dev", stations: [station] }, "line");
  const token = pool.headers.get("service-pool-token") ?? "";
  const answers = new Answers();
  const site = { withToken: () => ({ socket: (path: string) => answers.read(openSocket(service.port, path, token)) }) };
  const peer = await RunnerPeer.join(site, token, { slots: RUNS });
  const jobs: Job[] = [];
  for (let n = 0; n < RUNS; n++) {
    await service.post(`/api/teams/${service.teamId}/tasks`, { title: `Task ${n}`, line: "dev" }, 201);
    const job = await peer.job();
    peer.start(job);
    jobs.push(job);
  }
  const calling: Calling = async (n, lane) => {
    const { runId, fence } = jobs[lane % RUNS] ?? { runId: "", fence: 0 };
    const answered = answers.next(`call-${n}`);
    const inputs = JSON.stringify({ text: `item ${n}` });
    peer.say({ type: "run.tool-call", runId, fence, id: `call-${n}`, server: "tracker", tool: "add", inputs });
    const { outcome, text } = await answered;
    if (outcome !== "done") throw new Error(`a call ended ${outcome}: ${text}`);
  };
  return {
    calling,
    close: async () => {
      peer.cut();
      await service.close();
    },
  };
}

interface Answered {
  readonly outcome: string;
  readonly text: string;
}

/** Collects the answers to calls from a socket. */
class Answers {
  readonly #waiting = new Map<string, (answered: Answered) => void>();

  read(socket: WebSocket): WebSocket {
    socket.on("message", (data) => {
      const { message } = JSON.parse(data.toString()) as { readonly message?: Answered & { type: string; id: string } };
      if (message?.type !== "run.tool-answered") return;
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    });
    return socket;
  }

  next(id: string): Promise<Answered> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}

function openSocket(port: number, path: string, token: string): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
}
