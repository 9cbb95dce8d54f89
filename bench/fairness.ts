import { fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import type { Load, LoadFigures } from "./support/load.js";
import { printTable } from "./support/table.js";

const FLOOD_CONNECTIONS = 128;
const TOKENS = 20;
const TASKS = 2_000;
const WARM_UP_MS = 1_000;
const DURATION_MS = 5_000;
const { PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority;

/** How long reads of one workspace take, alone and while another workspace asks for as much as it can, in one run. */
export async function run(): Promise<void> {
  for (const transport of ["uws", "node"] as const) {
    const service = await openBenchService(transport);
    try {
      const { read, lists, creates } = await arrange(service);
      const quiet = () => measure({ port: service.port, connections: 1, request: read });
      const alone = await quiet();
      const rows = [];
      for (const [name, request] of [
        ["lists made anew", lists],
        ["creates", creates],
      ] as const) {
        const flooding = measure({ port: service.port, connections: FLOOD_CONNECTIONS, request }, PRIORITY_LOW);
        rows.push({ name, beside: await quiet(), flood: await flooding });
      }
      print(transport, alone, rows);
    } finally {
      await service.close();
    }
  }
}

interface Requests {
  readonly read: string;
  readonly lists: readonly string[];
  readonly creates: readonly string[];
}

async function arrange(service: BenchService): Promise<Requests> {
  const quiet = await service.create("/api/resources/workspaces", { slug: "quiet", name: "Quiet" }, "quiet");
  const [reader = ""] = await tokensOf(service, quiet.id, 1);
  const tokens = await tokensOf(service, service.workspaceId, TOKENS);
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
  const read = bytes(reader, [`GET /api/resources/workspaces/${quiet.id} HTTP/1.1`]);
  return { read, lists: [...lists, creates[0] ?? ""], creates };
}

async function tokensOf(service: BenchService, workspaceId: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = { name: `fair-${n}`, scopes: ["configure", "secrets"] };
    const made = await service.create(`/api/resources/workspaces/${workspaceId}/tokens`, body, `${workspaceId}-${n}`);
    tokens.push(made.headers.get("service-workspace-token") ?? "");
  }
  return tokens;
}

function bytes(token: string, lines: readonly string[]): string {
  return `${[...lines, "Host: 127.0.0.1", `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`;
}

/** Clients would be on machines of their own: the flood's takes processor time only where nobody else wants it. */
async function measure(
  of: Pick<Load, "port" | "connections" | "request">,
  priority = PRIORITY_NORMAL,
): Promise<LoadFigures> {
  const child = fork(fileURLToPath(new URL("./support/load.js", import.meta.url)));
  if (child.pid !== undefined) setPriority(child.pid, priority);
  const load: Load = { ...of, warmUpMs: WARM_UP_MS, durationMs: DURATION_MS, status: 20 };
  child.send(load);
  const [figures] = (await once(child, "message")) as [LoadFigures];
  child.kill();
  return figures;
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
      "The flood's client has the lowest priority, so that the figures are the service's and not those of clients who " +
      "wait for its processor.",
    columns: ["beside", "reads/s", "p50 ms", "p99 ms", "p99 of alone", "failed", "flood/s", "failed"],
    rows: [
      [...cells("nothing", alone), 0, 0],
      ...rows.map(({ name, beside, flood }) => [...cells(name, beside), Math.round(flood.perSecond), flood.failed]),
    ],
  });
}
