import { monitorEventLoopDelay } from "node:perf_hooks";
import { Pool } from "undici";
import { type Office, openOffice } from "./support/office.js";
import { percentile, printTable } from "./support/table.js";

const HOOKS = 10_000;
const LINES = 1_000;
const AT_ONCE = 64;
/** Requests of each measurement, and how often it is made; the best of them counts, since others disturb only some. */
const REQUESTS = 2_000;
const CREATES = 200;
const ROUNDS = 5;

/** A team of one size, and what is in it. */
interface Team {
  readonly teamId: string;
  readonly hookId: string;
  readonly lineId: string;
}

type Send = (n: number) => { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object };

/**
 * Reads and creates in a workspace of 10,000 hooks and 1,000 lines beside one with next to nothing, on one service, the
 * two by turns. What is wanted is a ratio near 1.
 */
export async function run(): Promise<void> {
  const small = await openOffice("uws", { OUTBOUND_ALLOW: "hooks.example.com" });
  const big = await openOffice("uws", { OUTBOUND_ALLOW: "hooks.example.com" });
  try {
    const teams = [await fill(small, 1, 1), await fill(big, HOOKS, LINES)] as const;
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
    printTable({
      title: "Export of a whole workspace",
      note:
        "From the request to the last byte, the most of three. Memory is the heap's growth at its highest, the answer " +
        "and the reader's copy of it included; the wait is the longest that the event loop kept anything else waiting.",
      columns: ["", "MB of HCL", "seconds", "heap MB", "longest wait ms"],
      rows: exports,
    });
  } finally {
    await small.close();
    await big.close();
  }
}

async function exported(name: string, office: Office): Promise<readonly (string | number)[]> {
  const most = { seconds: 0, heap: 0, wait: 0, bytes: 0 };
  for (let round = 0; round < 3; round++) {
    const before = process.memoryUsage().heapUsed;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const sampling = setInterval(() => {
      most.heap = Math.max(most.heap, process.memoryUsage().heapUsed - before);
    }, 5);
    delay.enable();
    const begunMs = performance.now();
    const text = await office.get(`/api/resources/workspaces/${office.workspaceId}/export`);
    most.seconds = Math.max(most.seconds, (performance.now() - begunMs) / 1_000);
    delay.disable();
    clearInterval(sampling);
    most.wait = Math.max(most.wait, delay.max / 1e6);
    most.bytes = text.length;
  }
  return [
    name,
    (most.bytes / 1e6).toFixed(2),
    most.seconds.toFixed(2),
    (most.heap / 1e6).toFixed(0),
    most.wait.toFixed(0),
  ];
}

function both(teams: readonly [Team, Team], of: (team: Team) => Send): readonly [Send, Send] {
  return [of(teams[0]), of(teams[1])];
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

async function fill(office: Office, hooks: number, lines: number): Promise<Team> {
  const { teamId } = office;
  const [lineId = ""] = await createMany(office, `/api/resources/teams/${teamId}/lines`, lines, (n) =>
    line(`line-${n}`),
  );
  const [hookId = ""] = await createMany(office, `/api/resources/teams/${teamId}/hooks`, hooks, (n) =>
    hook(`hook-${n}`),
  );
  return { teamId, lineId, hookId };
}

/** The ids of what was created, the middle one first. */
async function createMany(
  office: Office,
  path: string,
  count: number,
  body: (n: number) => object,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < count; n = next++) {
      const made = JSON.parse(await office.create(path, body(n), `${path.split("/").at(-1)}-${n}`)) as { id: string };
      ids[n] = made.id;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return [ids[Math.floor(count / 2)] ?? "", ...ids];
}

async function perSecond(office: Office, send: Send, requests: number, round: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${office.port}`, { connections: AT_ONCE });
  const times: number[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < requests; n = next++) {
      const begunMs = performance.now();
      const { method, path, body } = send(round * requests + n);
      const answer = await pool.request({
        ...{ method, path },
        headers: {
          authorization: office.bearer,
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
  // The median says what a request takes; the slowest are the machine's.
  return (AT_ONCE * 1_000) / percentile(times, 0.5);
}
