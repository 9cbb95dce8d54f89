import type uWebSockets from "uWebSockets.js";
import { createHmac, timingSafeEqual } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookDefinition } from "@octokit/webhooks-examples";
import { open } from "lmdb";
import { openBenchService } from "./support/bench-service.js";
import type { Burst, BurstFigures } from "./support/burst.js";
import type { Load, LoadFigures } from "./support/load.js";
import type { Rival } from "./support/rivals.js";
import { measureLoad, sendToChild } from "./support/send-to-child.js";
import { percentile, printTable } from "./support/table.js";
import { issueBody, readReceiver, SECRET, toDeliveryRequest, workedOff } from "./support/webhook-receiver.js";

type Uws = Pick<typeof uWebSockets, "App" | "us_socket_local_port">;

const CONNECTIONS = 64;
const ROUNDS = 9;
/** Rounds before the counted ones. They compile the code, as in a long-running service. */
const UNCOUNTED = 6;
/**
 * The times of a load. They are short, so that the number of accepted but unprocessed deliveries stays below an
 * integration's limit.
 */
const TIMES = { warmUpMs: 150, durationMs: 350 };
const AT_ONCE = 1_000;
/** The number of different bodies. Each is created once and sent repeatedly under different keys. */
const BODIES = 1_000;
/**
 * Measures accepted deliveries per second, compared with a bare handler. Also measures how fast the service accepts and
 * processes a thousand deliveries that are sent at once.
 */
export async function run(): Promise<void> {
  const uws = await import("uWebSockets.js").then(
    (loaded) => loaded.default,
    () => null,
  );
  if (uws === null) {
    console.log("\nDeliveries: skipped, uWebSockets.js has no binary that loads on this machine");
    return;
  }
  const short = Array.from({ length: BODIES }, (_, n) => issueBody(n));
  printTaken("of a kilobyte, as a tracker sends", short, await readTaken(uws, short));
  const recorded = listRecorded();
  printTaken("as a code host shows for all its events", recorded, await readTaken(uws, recorded));
  const sent = short.slice(0, AT_ONCE);
  // The first burst compiles the code that opens tasks.
  await readBurst(sent);
  printBurst(await readBurst(sent));
}

/** Lists the code host's sample payloads for all its events. */
function listRecorded(): readonly string[] {
  const definitions: readonly WebhookDefinition[] = createRequire(import.meta.url)("@octokit/webhooks-examples");
  return definitions.flatMap(({ examples }) => examples.map((example) => JSON.stringify(example)));
}

interface Taken {
  readonly bare: TakenFigures;
  readonly own: TakenFigures;
}

/**
 * Sends deliveries with these bodies to the bare handler and to a service. The two sides alternate, so that other load
 * affects both equally.
 */
async function readTaken(uws: Uws, bodies: readonly string[]): Promise<Taken> {
  const bare: TakenFigures[] = [];
  const own: TakenFigures[] = [];
  const rival = await openBareReceiver(uws);
  const service = await openBenchService("uws");
  const integration = await readReceiver(service, "false");
  const toBare = bodies.map((body) => toDeliveryRequest("/", body));
  const toOwn = bodies.map((body) => toDeliveryRequest(integration.path, body));
  for (let round = 0; round < UNCOUNTED + ROUNDS; round++) {
    bare.push(await loadBy({ port: rival.port, request: toBare }));
    own.push(await loadBy({ port: service.port, request: toOwn }));
    await workedOff(service, integration);
  }
  await rival.close();
  await service.close();
  return { bare: median(bare.slice(UNCOUNTED)), own: median(own.slice(UNCOUNTED)) };
}

interface TakenFigures extends LoadFigures {
  /** CPU time of the receiving process per delivery, in microseconds. */
  readonly cpuMicros: number;
}

interface WorkedOff extends BurstFigures {
  readonly perSecond: number;
}

/**
 * Sends a thousand deliveries at once, each of which opens a task. Measures how fast the service accepts and processes
 * them.
 */
async function readBurst(bodies: readonly string[]): Promise<WorkedOff> {
  const service = await openBenchService("uws");
  const integration = await readReceiver(service, "true");
  const requests = bodies.map((body, n) => toDeliveryRequest(integration.path, body).replaceAll("{n}", String(n)));
  const burst: Burst = { port: service.port, requests, status: 202 };
  const begunMs = performance.now();
  const figures = (await sendToChild("./burst.js", burst)) as BurstFigures;
  await workedOff(service, integration);
  const perSecond = AT_ONCE / ((performance.now() - begunMs) / 1_000);
  await service.close();
  return { ...figures, perSecond };
}

/**
 * Opens the minimal receiver. It verifies the same HMAC as Signalbox, and flushes one row with the body before it
 * answers.
 */
async function openBareReceiver(uws: Uws): Promise<Rival> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = open({ path: join(folder, "data.mdb"), encoding: "binary" });
  const app = uws.App();
  let taken = 0;
  app.post("/*", (response, request) => {
    const signature = Buffer.from(request.getHeader("x-signature"), "hex");
    const chunks: Buffer[] = [];
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!isLast) return;
      const body = Buffer.concat(chunks);
      if (!timingSafeEqual(createHmac("sha256", SECRET).update(body).digest(), signature))
        throw new Error("not signed");
      taken += 1;
      const flushed = store.put(["delivery", taken], body).then(() => store.flushed);
      flushed.then(() => {
        if (!isGone) response.cork(() => response.writeStatus("202 Accepted").end());
      });
    });
  });
  const port = await new Promise<number>((resolve) => {
    app.listen("127.0.0.1", 0, (socket) => resolve(socket === false ? 0 : uws.us_socket_local_port(socket)));
  });
  const close = async () => {
    app.close();
    await store.close();
    await rm(folder, { recursive: true });
  };
  return { port, close };
}

async function loadBy(read: Pick<Load, "port" | "request">): Promise<TakenFigures> {
  const load: Load = { connections: CONNECTIONS, ...TIMES, status: 202, ...read };
  const sent = measureLoad(load);
  // Read the CPU time now: `measureLoad` has already sent the requests to the load's process, so the receiver's CPU
  // time does not include serializing them.
  const begun = process.cpuUsage();
  const figures = await sent;
  const { user, system } = process.cpuUsage(begun);
  return { ...figures, cpuMicros: (user + system) / figures.answered };
}

function median(runs: readonly TakenFigures[]): TakenFigures {
  const read = (figure: keyof TakenFigures) =>
    percentile(
      runs.map((run) => run[figure]),
      0.5,
    );
  const failed = Math.max(...runs.map((run) => run.failed));
  const times = { p50Ms: read("p50Ms"), p99Ms: read("p99Ms"), cpuMicros: read("cpuMicros") };
  return { perSecond: read("perSecond"), ...times, failed, answered: read("answered") };
}

function printTaken(what: string, bodies: readonly string[], { bare, own }: Taken): void {
  const row = (name: string, { perSecond, p50Ms, p99Ms, cpuMicros, failed }: TakenFigures) => [
    ...[name, Math.round(perSecond), p50Ms.toFixed(2), p99Ms.toFixed(2), Math.round(cpuMicros)],
    ...[(perSecond / bare.perSecond).toFixed(2), failed],
  ];
  const lengths = bodies.map((body) => Buffer.byteLength(body));
  printTable({
    title: `Deliveries of webhooks, ${what}`,
    note: `POST of a signed delivery with a key; ${bodies.length} bodies, median ${percentile(lengths, 0.5)} bytes. ${CONNECTIONS} connections, median of ${ROUNDS} rounds in turns. Bare: uWebSockets.js, the same HMAC, one row in LMDB flushed before the answer. What Signalbox takes is evaluated meanwhile.`,
    columns: ["server", "taken/s", "p50 ms", "p99 ms", "CPU us each", "ratio to bare", "failed"],
    rows: [row("bare", bare), row("Signalbox", own)],
  });
}

function printBurst({ p50Ms, p99Ms, failed, perSecond }: WorkedOff): void {
  printTable({
    title: `${AT_ONCE} deliveries at once`,
    note: "Each on a connection of its own, and each opens a task.",
    columns: ["p50 ms", "p99 ms", "worked off/s", "failed"],
    rows: [[p50Ms.toFixed(0), p99Ms.toFixed(0), Math.round(perSecond), failed]],
  });
}
