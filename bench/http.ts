import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type BenchService, openBenchService } from "./support/bench-service.js";
import type { Load, LoadFigures } from "./support/load.js";
import { openBare, openFastify } from "./support/rivals.js";
import { printTable } from "./support/table.js";

const CONNECTIONS = 64;
const WARM_UP_MS = 2_000;
const DURATION_MS = 5_000;
/** Resources in the list that is read. */
const LISTED = 200;

/** One kind of request, as bytes, and its answer. */
interface Exchange {
  readonly title: string;
  readonly what: string;
  readonly request: string;
  readonly status: number;
  readonly answer: string;
}

interface Measured {
  readonly name: string;
  readonly figures: LoadFigures;
}

/**
 * Reads, lists and creates a second over HTTP with a token, compared with a bare uWebSockets.js handler that answers
 * the same number of bytes, and with fastify over a map in memory, in one run. The load comes from another process over
 * loopback.
 */
export async function run(): Promise<void> {
  const uws = await import("uWebSockets.js").then(
    (loaded) => loaded.default,
    () => null,
  );
  if (uws === null) {
    console.log("\nHTTP: skipped, uWebSockets.js has no binary that loads on this machine");
    return;
  }
  const tables = new Map<string, { readonly exchange: Exchange; readonly measured: Measured[] }>();
  const measure = async (name: string, port: number, exchange: Exchange) => {
    const table = tables.get(exchange.title) ?? { exchange, measured: [] };
    tables.set(exchange.title, table);
    table.measured.push({ name, figures: await loadBy(port, exchange) });
  };
  for (const transport of ["uws", "node"] as const) {
    const service = await openBenchService(transport);
    try {
      const { exchanges, listed } = await exchangesOf(service);
      if (transport === "uws") {
        for (const exchange of exchanges) {
          const bare = await openBare(uws, exchange.answer);
          await measure("bare uWebSockets.js", bare.port, exchange);
          await bare.close();
        }
        const rival = await openFastify(service.bearer, listed);
        for (const exchange of exchanges) await measure("fastify over a map", rival.port, exchange);
        await rival.close();
      }
      for (const exchange of exchanges) await measure(`Signalbox over ${transport}`, service.port, exchange);
    } finally {
      await service.close();
    }
  }
  for (const { exchange, measured } of tables.values()) print(exchange, measured);
}

/** A read of one secret, a list of secrets, and a create with an idempotency key. */
async function exchangesOf(
  service: BenchService,
): Promise<{ readonly exchanges: readonly Exchange[]; readonly listed: readonly object[] }> {
  const path = `/api/resources/workspaces/${service.workspaceId}/secrets`;
  const secret = (name: string) => ({ name, value: "0123456789abcdef", valueVersion: 1, hosts: [] });
  for (let n = 0; n < LISTED; n++) await service.create(path, secret(`listed-${n}`), `listed-${n}`);
  const list = await service.get(path);
  const listed = (JSON.parse(list) as { readonly items: readonly { readonly id: string }[] }).items;
  const [one] = listed;
  const body = JSON.stringify(secret("secret-{n}"));
  const head = ["Host: 127.0.0.1", `Authorization: ${service.bearer}`];
  const bytes = (lines: readonly string[]) => `${[...lines, ...head].join("\r\n")}\r\n\r\n`;
  const exchanges: Exchange[] = [
    {
      title: "HTTP reads",
      what: "GET of one secret with a token: authenticated, permitted, read from the store.",
      request: bytes([`GET /api/resources/secrets/${one?.id} HTTP/1.1`]),
      status: 200,
      answer: JSON.stringify(one),
    },
    {
      title: `HTTP lists of ${LISTED}`,
      what: `GET of ${LISTED} secrets in address order, ${Math.round(list.length / 1_024)} KiB.`,
      request: bytes([`GET ${path} HTTP/1.1`]),
      status: 200,
      answer: list,
    },
    {
      title: "HTTP creates",
      what: "POST of a secret under an idempotency key: sealed, one turn, on disk (fsync) before the answer.",
      request: `${bytes([
        `POST ${path} HTTP/1.1`,
        "Content-Type: application/json",
        "Idempotency-Key: key-{n}",
        `Content-Length: ${body.length - "{n}".length + 9}`,
      ])}${body}`,
      status: 201,
      answer: JSON.stringify(one),
    },
  ];
  return { exchanges, listed };
}

async function loadBy(port: number, { request, status }: Exchange): Promise<LoadFigures> {
  const child = fork(fileURLToPath(new URL("./support/load.js", import.meta.url)));
  const times = { warmUpMs: WARM_UP_MS, durationMs: DURATION_MS };
  const load: Load = { port, connections: CONNECTIONS, ...times, request, status };
  child.send(load);
  const [figures] = (await once(child, "message")) as [LoadFigures];
  child.kill();
  return figures;
}

function print({ title, what }: Exchange, measured: readonly Measured[]): void {
  const bare = measured[0]?.figures.perSecond ?? 1;
  printTable({
    title,
    note: `${what} ${CONNECTIONS} connections on loopback, one request under way on each, ${DURATION_MS / 1_000} s.`,
    columns: ["server", "requests/s", "p50 ms", "p99 ms", "ratio to bare", "failed"],
    rows: measured.map(({ name, figures }) => [
      name,
      Math.round(figures.perSecond),
      figures.p50Ms.toFixed(2),
      figures.p99Ms.toFixed(2),
      (figures.perSecond / bare).toFixed(2),
      figures.failed,
    ]),
  });
}
