import { constants } from "node:os";
import { toShare } from "../http/limits/sender-shares.js";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import type { Load, LoadFigures } from "./support/load.js";
import { measureLoad } from "./support/send-to-child.js";
import { percentile, printTable } from "./support/table.js";
import { issueBody, readReceiver, toDeliveryRequest, workedOff } from "./support/webhook-receiver.js";

const ROUNDS = 5;
const FLOOD_CONNECTIONS = 128;
const QUIET_A_SECOND = 50;
/** These times are short, so that the deliveries of a burst stay below an integration's backlog limit. */
const TIMES = { warmUpMs: 200, durationMs: 700 };

/**
 * Measures the latency of deliveries to one workspace during a burst to another workspace. Both senders have the same
 * address, as at a code host. Measurements with and without the burst alternate.
 */
export async function run(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const transport of ["uws", "node"] as const) {
    const service = await openBenchService(transport);
    try {
      const { alone, beside, flood } = await measureIn(service);
      for (const [name, quiet, flooded] of [
        ["nothing", alone, 0],
        ["a flood", beside, Math.round(flood)],
      ] as const) {
        const { p50Ms, p99Ms, failed } = quiet;
        const times = [p50Ms.toFixed(2), p99Ms.toFixed(2), (p99Ms / alone.p99Ms).toFixed(1)];
        rows.push([transport, name, ...times, failed, flooded]);
      }
    } finally {
      await service.close();
    }
  }
  printTable({
    title: "A quiet workspace's deliveries, beside a flood of another's from the same address",
    note:
      `${QUIET_A_SECOND} deliveries of a kilobyte a second; the flood comes over ${FLOOD_CONNECTIONS} connections of the ` +
      `same address, by a client with the lowest priority. Medians of ${ROUNDS} rounds in turns.`,
    columns: ["transport", "beside", "p50 ms", "p99 ms", "p99 of alone", "failed", "flood/s"],
    rows,
  });
}

type Quiet = Pick<LoadFigures, "p50Ms" | "p99Ms" | "failed">;

async function measureIn(service: BenchService): Promise<{
  readonly alone: Quiet;
  readonly beside: Quiet;
  readonly flood: number;
}> {
  const busy = await readReceiver(service, "false");
  const workspaceId = await createInOtherShare(service);
  const teams = `/api/resources/workspaces/${workspaceId}/teams`;
  const team = await service.create(teams, { key: "core", name: "Core" }, "quiet-team");
  const quiet = await readReceiver(service, "false", { workspaceId, teamId: team.id });
  const bodies = Array.from({ length: 100 }, (_, n) => issueBody(n));
  const loadOn = (path: string, connections: number): Load => ({
    port: service.port,
    connections,
    ...TIMES,
    status: 202,
    request: bodies.map((body) => toDeliveryRequest(path, body)),
  });
  const few: Load = { ...loadOn(quiet.path, 1), pacedPerSecond: QUIET_A_SECOND };
  const many = loadOn(busy.path, FLOOD_CONNECTIONS);
  const [alone, beside, floods]: [LoadFigures[], LoadFigures[], LoadFigures[]] = [[], [], []];
  // The first round compiles the code and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    alone.push(await measureLoad(few));
    const [flood, its] = await Promise.all([measureLoad(many, constants.priority.PRIORITY_LOW), measureLoad(few)]);
    floods.push(flood);
    beside.push(its);
    await workedOff(service, busy);
    await workedOff(service, quiet);
  }
  const flood = middle(floods.slice(1).map(({ perSecond }) => perSecond));
  return { alone: medians(alone.slice(1)), beside: medians(beside.slice(1)), flood };
}

/**
 * Creates a workspace. Its deliveries and those of the service's first workspace count in different shares of the
 * sender's limit.
 */
async function createInOtherShare(service: BenchService): Promise<string> {
  for (let n = 0; ; n++) {
    const body = { slug: `quiet-${n}`, name: "Quiet" };
    const { id } = await service.create("/api/resources/workspaces", body, body.slug);
    if (toShare("", id) !== toShare("", service.workspaceId)) return id;
  }
}

function medians(rounds: readonly LoadFigures[]): Quiet {
  const failed = rounds.reduce((sum, round) => sum + round.failed, 0);
  return { p50Ms: middle(rounds.map(({ p50Ms }) => p50Ms)), p99Ms: middle(rounds.map(({ p99Ms }) => p99Ms)), failed };
}

const middle = (values: readonly number[]): number => percentile(values, 0.5);
