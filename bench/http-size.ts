import { monitorEventLoopDelay } from "node:perf_hooks";
import { Pool } from "undici";
import { liveBytes } from "../test/support/live-heap.js";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import { percentile, printTable } from "./support/table.js";

const HOOKS = 10_000;
const LINES = 1_000;
/** For the last export, the large workspace gets this many times as many hooks and lines as before. */
const TIMES = 4;
const AT_ONCE = 64;
/**
 * A measurement makes `REQUESTS` reads or `CREATES` creates, and is repeated `ROUNDS` times. Only the fastest one
 * counts, because other load slows down some measurements.
 */
const REQUESTS = 2_000;
const CREATES = 200;
const ROUNDS = 5;

/** Bytes of an export between two memory samples. */
const LOOK_BYTES = 512 * 1024;

/** A team, with one of the team's hooks and one of its lines. */
interface Team {
  readonly teamId: string;
  readonly hookId: string;
  readonly lineId: string;
}

type Send = (n: number) => { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object };

/**
 * Measures reads and creates in a workspace with 10,000 hooks and 1,000 lines, alternating with an almost empty
 * workspace. The ratio should be near 1. Also measures exports.
 */
export async function run(): Promise<void> {
  const small = await openBenchService("uws", { OUTBOUND_ALLOW: "hooks.example.com" });
  const big = await openBenchService("uws", { OUTBOUND_ALLOW: "hooks.example.com" });
  try {
    const teams = [await fill(small, { hooks: 1, lines: 1 }), await fill(big, { hooks: HOOKS, lines: LINES })] as const;
    const rows: (readonly [string, Send, Send, number])[] = [
      ["read a hook", ...both(teams, ({ hookId }) => get(`/api/resources/hooks/${hookId}`)), REQUESTS],
      ["read a line", ...both(teams, ({ lineId }) => get(`/api/resources/lines/${lineId}`)), REQUESTS],
      ["create a line", ...both(teams, ({ teamId }) => post(`/api/resources/teams/${teamId}/lines`, line)), CREATES],
      ["create a hook", ...both(teams, ({ teamId }) => post(`/api/resources/teams/${teamId}/hooks`, hook)), CREATES],
    ];
    const exports = [
      await exported("one hook, one line", small),
      await exported(`${HOOKS} hooks, ${LINES} lines`, big),
    ];
    const measured: (readonly (string | number)[])[] = [];
    for (const [what, ofSmall, ofBig, requests] of rows) {
      const best = { small: 0, big: 0 };
      for (let round = 0; round < ROUNDS; round++) {
        best.small = Math.max(best.small, await perSecond(small, ofSmall, requests, round));
        best.big = Math.max(best.big, await perSecond(big, ofBig, requests, round));
      }
      measured.push([what, Math.round(best.small), Math.round(best.big), (best.big / best.small).toFixed(2)]);
    }
    printTable({
      title: "HTTP by size of the workspace",
      note: `${HOOKS} hooks and ${LINES} lines beside one of each, ${AT_ONCE} requests at once, the best of ${ROUNDS}.`,
      columns: ["request", "small, a second", "big, a second", "ratio"],
      rows: measured,
    });
    await fill(big, { lines: LINES, hooks: HOOKS }, TIMES);
    exports.push(await exported(`${TIMES * HOOKS} hooks, ${TIMES * LINES} lines`, big));
    printTable({
      title: "Export of a whole workspace",
      note:
        "From the request to the last byte, the most of three. Memory is what is held beyond what was before, at its " +
        "highest, once the rest was collected; the wait is the longest that the event loop kept anything else waiting.",
      columns: ["", "MB of HCL", "seconds", "held MB", "longest wait ms"],
      rows: exports,
    });
  } finally {
    await small.close();
    await big.close();
  }
}

async function exported(name: string, service: BenchService): Promise<readonly (string | number)[]> {
  const peak = { seconds: 0, heap: 0, wait: 0, bytes: 0 };
  for (let round = 0; round < 3; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const begunMs = performance.now();
    peak.bytes = await readExport(service, () => undefined);
    peak.seconds = Math.max(peak.seconds, (performance.now() - begunMs) / 1_000);
    delay.disable();
    peak.wait = Math.max(peak.wait, delay.max / 1e6);
  }
  // Measure the memory in a separate export, because each sample forces a garbage collection, which takes time.
  const before = liveBytes();
  await readExport(service, () => {
    peak.heap = Math.max(peak.heap, liveBytes() - before);
  });
  return [
    name,
    (peak.bytes / 1e6).toFixed(2),
    peak.seconds.toFixed(2),
    (peak.heap / 1e6).toFixed(1),
    peak.wait.toFixed(0),
  ];
}

/** Reads an export and drops it; returns its length in bytes. */
async function readExport(service: BenchService, look: () => void): Promise<number> {
  let bytes = 0;
  let looked = 0;
  for await (const chunk of await service.body(`/api/resources/workspaces/${service.workspaceId}/export`)) {
    bytes += chunk.length;
    if (bytes < looked + LOOK_BYTES) continue;
    looked = bytes;
    look();
  }
  return bytes;
}

function both(teams: readonly [Team, Team], read: (team: Team) => Send): readonly [Send, Send] {
  return [read(teams[0]), read(teams[1])];
}

const get =
  (path: string): Send =>
  () => ({ method: "GET", path });
const post =
  (path: string, body: (key: string) => object): Send =>
  (n) => ({ method: "POST", path, body: body(`more-${n}`) });

const line = (key: string) => ({ key, name: "Line", stations: [{ key: "work", name: "Work", kind: "work" }] });
const hook = (key: string) => ({
  key,
  on: "task.moved",
  match: { lines: ["line-0"] },
  steps: [{ name: "tell", request: { url: "https://hooks.example.com/in" } }],
  signing: { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 },
});

/**
 * Creates hooks and lines in the service's team. If `times` is above 1, the team must already have `hooks` hooks and
 * `lines` lines: creates the missing ones up to `times` as many.
 */
async function fill(
  service: BenchService,
  { hooks, lines }: { readonly hooks: number; readonly lines: number },
  times = 1,
): Promise<Team> {
  const { teamId } = service;
  const range = (count: number) => (times === 1 ? { from: 0, to: count } : { from: count, to: times * count });
  const read = `/api/resources/teams/${teamId}`;
  const lineId = await createMany(service, `${read}/lines`, range(lines), (n) => line(`line-${n}`));
  const hookId = await createMany(service, `${read}/hooks`, range(hooks), (n) => hook(`hook-${n}`));
  return { teamId, lineId, hookId };
}

/** Creates resources with these numbers, several at a time. Returns the id of the middle one. */
async function createMany(
  service: BenchService,
  path: string,
  { from, to }: { readonly from: number; readonly to: number },
  body: (n: number) => object,
): Promise<string> {
  const ids: string[] = [];
  let next = from;
  const work = async () => {
    for (let n = next++; n < to; n = next++) {
      ids.push((await service.create(path, body(n), `${path.split("/").at(-1)}-${n}`)).id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids[Math.floor(ids.length / 2)] ?? "";
}

async function perSecond(service: BenchService, send: Send, requests: number, round: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${service.port}`, { connections: AT_ONCE });
  const times: number[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < requests; n = next++) {
      const begunMs = performance.now();
      const { method, path, body } = send(round * requests + n);
      const answer = await pool.request({
        method,
        path,
        headers: {
          authorization: service.bearer,
          ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": `m-${round}-${n}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode} ${text}`);
      times.push(performance.now() - begunMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await pool.close();
  // Use the median time of a request, because other load on the machine causes the slowest requests.
  return (AT_ONCE * 1_000) / percentile(times, 0.5);
}
