import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Exchange, HttpScene } from "./support/http-scene.js";
import type { ServerMessage, ServerOpened, ServerUsage, ServerWanted } from "./support/http-server-process.js";
import type { Load, LoadFigures } from "./support/load.js";
import { percentile, printTable } from "./support/table.js";

const ROUNDS = 5;
const WARM_UP_MS = 2_000;
/**
 * Two kinds of rounds: with a fixed pace, and at full speed. For each kind, these are the duration and the number of
 * connections.
 */
const PACED_MS = 1_000;
const FULL_MS = 500;
const PACED_CONNECTIONS = 32;
const FULL_CONNECTIONS = 64;
const WRITE_EVERY_MS = 100;

const servers = ["bare", "fastify", "uws", "node"] as const;
type ServerName = (typeof servers)[number];

const titles: Readonly<Record<ServerName, string>> = {
  bare: "bare uWebSockets.js",
  fastify: "fastify over a map",
  uws: "Signalbox over uws",
  node: "Signalbox over node",
};

interface Server {
  readonly name: ServerName;
  readonly child: ChildProcess;
  readonly opened: ServerOpened;
}

interface Round {
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly failed: number;
}

/**
 * Measures reads, lists and creates over HTTP with a token. In the same run, it measures a bare uWebSockets.js handler
 * that answers the same bytes, and fastify over an in-memory map. Each server and the load generator have separate
 * processes, connected over loopback.
 *
 * Parts of names select the rows and the servers: `HTTP_ROWS=reads,lists HTTP_SERVERS=bare,uws npm run bench -- http`.
 * The server `uws` is always measured.
 */
export async function run(): Promise<void> {
  const hasUws = await import("uWebSockets.js").then(
    () => true,
    () => false,
  );
  if (!hasUws) {
    console.log("\nHTTP: skipped, uWebSockets.js has no binary that loads on this machine");
    return;
  }
  const running: Server[] = [];
  const load = fork(fileURLToPath(new URL("./support/load.js", import.meta.url)));
  try {
    const wanted = servers.filter((name) => name === "uws" || isChosen(process.env.HTTP_SERVERS, name));
    const own = await openServer({ server: "uws" });
    running.push(own);
    for (const name of wanted) if (name !== "uws") running.push(await openServer(toWanted(name, own.opened.scene)));
    running.sort((left, right) => servers.indexOf(left.name) - servers.indexOf(right.name));
    for (const [index, exchange] of own.opened.scene.exchanges.entries()) {
      if (isChosen(process.env.HTTP_ROWS, exchange.title))
        print(exchange, running, await measureAll(running, index, load));
    }
  } finally {
    load.kill();
    for (const { child } of running) child.disconnect();
  }
}

function isChosen(parts: string | undefined, name: string): boolean {
  return parts === undefined || parts.split(",").some((part) => name.includes(part));
}

function toWanted(server: ServerName, scene: HttpScene): ServerWanted {
  return server === "bare" || server === "fastify" ? { server, scene } : { server };
}

async function openServer(wanted: ServerWanted): Promise<Server> {
  const child = fork(fileURLToPath(new URL("./support/http-server-process.js", import.meta.url)));
  return { name: wanted.server, child, opened: await ask<ServerOpened>(child, wanted) };
}

async function ask<Answer>(child: ChildProcess, message: ServerMessage | Load): Promise<Answer> {
  child.send(message);
  const [answer] = (await once(child, "message")) as [Answer];
  return answer;
}

/**
 * Measures the rounds of each server. The servers alternate, so that other work on the machine disturbs all of them
 * equally.
 */
async function measureAll(running: readonly Server[], index: number, load: ChildProcess): Promise<Round[][]> {
  const rounds: Round[][] = running.map(() => []);
  for (const server of running) await ask(load, toLoad(server, index, { warmUpMs: WARM_UP_MS, durationMs: 1 }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, server] of running.entries()) rounds[at]?.push(await measureOne(server, index, load));
  }
  return rounds;
}

async function measureOne(server: Server, index: number, load: ChildProcess): Promise<Round> {
  const exchange = server.opened.scene.exchanges[index];
  const writer = exchange === undefined ? null : await beginWriting(server, exchange, index);
  const before = await ask<ServerUsage>(server.child, "cpu");
  const paced = await ask<LoadFigures>(load, {
    ...toLoad(server, index, { warmUpMs: 0, durationMs: PACED_MS }),
    connections: PACED_CONNECTIONS,
    pacedPerSecond: exchange?.pacedPerSecond ?? 0,
  });
  const after = await ask<ServerUsage>(server.child, "cpu");
  const full = await ask<LoadFigures>(load, toLoad(server, index, { warmUpMs: 0, durationMs: FULL_MS }));
  await writer?.end();
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / (paced.answered + paced.failed),
    perSecond: full.perSecond,
    failed: paced.failed + full.failed,
  };
}

function toLoad(
  { opened }: Server,
  index: number,
  times: { readonly warmUpMs: number; readonly durationMs: number },
): Load {
  const { request = "", status = 0 } = opened.scene.exchanges[index] ?? {};
  return { port: opened.ports[index] ?? 0, connections: FULL_CONNECTIONS, ...times, request, status };
}

/**
 * Replaces the resource `written` of the exchange repeatedly, until `end` is called. Returns null if the exchange has
 * no such resource, or if the server is not Signalbox.
 */
async function beginWriting(
  { name, opened }: Server,
  { written }: Exchange,
  index: number,
): Promise<{ end(): Promise<void> } | null> {
  if (written === undefined || name === "bare" || name === "fastify") return null;
  const url = `http://127.0.0.1:${opened.ports[index]}${written.path}`;
  const headers = { authorization: opened.scene.bearer, "content-type": "application/json" };
  let version = (await fetch(url, { headers })).headers.get("etag") ?? "";
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      const body = JSON.stringify({ ...written.body, valueVersion: Number(version.replaceAll('"', "")) + 1 });
      const answer = await fetch(url, { method: "PUT", headers: { ...headers, "if-match": version }, body });
      if (answer.status !== 200)
        throw new Error(`PUT ${written.path} answered ${answer.status} ${await answer.text()}`);
      version = answer.headers.get("etag") ?? "";
      await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS));
    }
  };
  const writing = write();
  return {
    end: () => {
      isOver = true;
      return writing;
    },
  };
}

function print(
  { title, what, pacedPerSecond, written }: Exchange,
  running: readonly Server[],
  rounds: Round[][],
): void {
  const median = (of: readonly Round[] = [], value: (round: Round) => number) => percentile(of.map(value), 0.5);
  const micros = rounds.map((of) => median(of, ({ cpuMicros }) => cpuMicros));
  const ratioTo = (name: ServerName, own: number): string => {
    const reference = micros[running.findIndex((server) => server.name === name)];
    return reference === undefined ? "-" : (reference / own).toFixed(2);
  };
  const beside =
    written === undefined ? "" : ` Another client replaces one of them every ${WRITE_EVERY_MS} ms (not of rivals).`;
  printTable({
    title,
    note:
      `${what}.${beside} CPU, user and system, of the server's process alone, at ${pacedPerSecond} requests a second ` +
      `over ${PACED_CONNECTIONS} connections, which saturates nobody but node:http; ratios are the reference's CPU by the server's own. ` +
      `Requests a second over ${FULL_CONNECTIONS} connections without a pace. Medians of ${ROUNDS} rounds in turns.`,
    columns: ["server", "CPU us a request", "ratio to bare", "ratio to fastify", "requests/s", "failed"],
    rows: running.map(({ name }, at) => [
      titles[name],
      (micros[at] ?? 0).toFixed(1),
      ratioTo("bare", micros[at] ?? 0),
      ratioTo("fastify", micros[at] ?? 0),
      Math.round(median(rounds[at], ({ perSecond }) => perSecond)),
      (rounds[at] ?? []).reduce((sum, { failed }) => sum + failed, 0),
    ]),
  });
}
