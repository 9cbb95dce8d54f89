import { fork } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import { type Asked, bytes, listTokens, quietReader } from "./support/fair-requests.js";
import type { LoadFigures } from "./support/load.js";
import { measureLoad } from "./support/send-to-child.js";
import { printTable } from "./support/table.js";

const FLOOD_CONNECTIONS = 128;
const TOKENS = 20;
const TASKS = 2_000;
const WARM_UP_MS = 1_000;
const DURATION_MS = 5_000;
const { PRIORITY_LOW } = constants.priority;

/**
 * Measures the read latency of one workspace, in three cases of the same run:
 *
 * - The workspace is alone.
 * - Another workspace sends as many requests as it can.
 * - Another service on this machine gets the same load. This case shows how much of the delay comes from the shared
 *   processors.
 */
export async function run(): Promise<void> {
  for (const transport of ["uws", "node"] as const) {
    const service = await openBenchService(transport);
    const other = await openOtherService(transport);
    try {
      const { quiet, lists, creates } = await arrange(service);
      const alone = await measure(quiet);
      const rows = [];
      for (const [name, request] of [
        ["lists made anew", lists],
        ["creates", creates],
      ] as const) {
        for (const [of, read] of [
          [name, quiet],
          [`${name}, of another service`, other.quiet],
        ] as const) {
          const flooding = measure({ port: service.port, connections: FLOOD_CONNECTIONS, request }, PRIORITY_LOW);
          rows.push({ name: of, beside: await measure(read), flood: await flooding });
        }
      }
      print(transport, alone, rows);
    } finally {
      other.close();
      await service.close();
    }
  }
}

/** Opens a service in a separate process; returns how to read its only workspace. */
async function openOtherService(transport: "uws" | "node"): Promise<{ readonly quiet: Asked; close(): void }> {
  const child = fork(fileURLToPath(new URL("./support/quiet-service.js", import.meta.url)));
  child.send(transport);
  const [quiet] = (await once(child, "message")) as [Asked];
  return { quiet, close: () => void child.send("close") };
}

interface Requests {
  readonly quiet: Asked;
  readonly lists: readonly string[];
  readonly creates: readonly string[];
}

async function arrange(service: BenchService): Promise<Requests> {
  const quiet = await quietReader(service);
  const tokens = await listTokens(service, service.workspaceId, TOKENS);
  const stations = ["work", "review"].map((key) => ({ key, name: key, kind: "work" }));
  await service.create(`/api/resources/teams/${service.teamId}/lines`, { key: "dev", name: "Dev", stations }, "line");
  const path = `/api/teams/${service.teamId}/tasks`;
  const ids: string[] = [];
  for (let n = 0; n < TASKS; n++) {
    ids.push((await service.create(path, { title: `Task ${n}`, line: "dev" }, `task-${n}`)).id);
  }
  const secrets = `/api/resources/workspaces/${service.workspaceId}/secrets`;
  const body = JSON.stringify({ name: "secret-{n}", value: "0123456789abcdef", valueVersion: 1 });
  const creates = tokens.map((token) =>
    bytes(token, [
      `POST ${secrets} HTTP/1.1`,
      "Content-Type: application/json",
      "Idempotency-Key: key-{n}",
      `Content-Length: ${body.length - "{n}".length + 9}`,
    ]).concat(body),
  );
  const lists = tokens.flatMap((token, index) => [
    bytes(token, [`GET ${path}?line=dev&station=work&limit=100 HTTP/1.1`]),
    bytes(token, [`GET ${path}?station=work&limit=100&before=${ids[TASKS / 2 + index]} HTTP/1.1`]),
  ]);
  return { quiet, lists: [...lists, creates[0] ?? ""], creates };
}

async function measure(of: Asked, priority?: number): Promise<LoadFigures> {
  return measureLoad({ ...of, warmUpMs: WARM_UP_MS, durationMs: DURATION_MS, status: 20 }, priority);
}

function print(
  transport: string,
  alone: LoadFigures,
  rows: readonly { readonly name: string; readonly beside: LoadFigures; readonly flood: LoadFigures }[],
): void {
  const cells = (name: string, { p50Ms, p99Ms, perSecond, failed }: LoadFigures) => [
    ...[name, Math.round(perSecond), p50Ms.toFixed(2), p99Ms.toFixed(2)],
    ...[(p99Ms / alone.p99Ms).toFixed(1), failed],
  ];
  printTable({
    title: `A quiet workspace's reads over ${transport}`,
    note:
      `One connection reads its workspace; another workspace floods over ${FLOOD_CONNECTIONS} with ${TOKENS} tokens. ` +
      "The flood's client has the lowest priority. Beside a flood of another service the reader shares the processors " +
      "with it and nothing else: what it takes then is the machine's part.",
    columns: ["beside", "reads/s", "p50 ms", "p99 ms", "p99 of alone", "failed", "flood/s", "failed"],
    rows: [
      [...cells("nothing", alone), 0, 0],
      ...rows.map(({ name, beside, flood }) => [...cells(name, beside), Math.round(flood.perSecond), flood.failed]),
    ],
  });
}
