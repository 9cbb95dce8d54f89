import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Packr } from "msgpackr";
import { rowSpace } from "../storage/keys.js";
import type { Change } from "../storage/store.js";
import { CreatingService, secretNamed, type Used } from "./support/creating.js";
import type { Load, LoadFigures } from "./support/load.js";
import type { RowsOrder, RowsWritten } from "./support/rows-alone.js";
import { percentile, printTable } from "./support/table.js";

const CONNECTIONS = 64;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const WARM_UP_MS = 300;

/** The figures of one round. `micros` and `rows` are per create. */
interface Round {
  /** CPU time in microseconds. */
  readonly micros: number;
  readonly perSecond: number;
  readonly rows: number;
  /** Creates per batch. */
  readonly inBatch: number;
}

/** One way to measure creates: over HTTP, without HTTP, or only the rows of a create. */
interface Way {
  readonly name: string;
  readonly rounds: Round[];
  measure(): Promise<Round>;
}

/**
 * Measures the CPU time that a durable create costs the process that handles it. The create is a secret with an
 * idempotency key. It is measured in three ways: over HTTP, through the workspace's actor without HTTP, and by writing
 * only its rows. If `folder` is given, the service built in this folder is measured too.
 */
export async function run(folder?: string): Promise<void> {
  const before = folder === undefined ? null : await CreatingService.open(folder);
  const now = await CreatingService.open(null);
  const alone = fork(new URL("./support/rows-alone.js", import.meta.url));
  await once(alone, "message");
  try {
    const rows = await now.show();
    const ways = [...(before === null ? [] : listWays(before, ", before")), ...listWays(now, "")];
    const asked = ways.at(-1);
    ways.push({
      name: "its rows by LMDB alone",
      rounds: [],
      measure: () => writeAlone(alone, rows, asked?.rounds.at(-1)?.inBatch ?? 1),
    });
    for (const way of ways) await way.measure();
    for (let round = 0; round < ROUNDS; round++) for (const way of ways) way.rounds.push(await way.measure());
    printRounds(ways);
    printRows("Rows of a create", rows);
    if (before !== null) printRows("Rows of a create, before", await before.show());
  } finally {
    alone.send("close");
    await before?.close();
    await now.close();
  }
}

function listWays(service: CreatingService, suffix: string): Way[] {
  return [
    { name: `over HTTP${suffix}`, rounds: [], measure: () => createOverHttp(service) },
    {
      name: `asked of the workspace${suffix}`,
      rounds: [],
      measure: async () => toRound(await readAsk(service), ROUND_MS),
    },
  ];
}

function readAsk(service: CreatingService): Promise<Used> {
  return service.ask(ROUND_MS, CONNECTIONS);
}

/** Creates secrets over HTTP. Another process generates the load over loopback. The CPU time includes the warm-up. */
async function createOverHttp(service: CreatingService): Promise<Round> {
  const { port, bearer, path } = service.opened;
  const body = JSON.stringify(secretNamed("secret-{n}"));
  const head = [
    ...[`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: ${bearer}`, "Content-Type: application/json"],
    ...["Idempotency-Key: key-{n}", `Content-Length: ${body.length - "{n}".length + 9}`],
  ];
  const child = fork(new URL("./support/load.js", import.meta.url));
  const load: Load = {
    port,
    connections: CONNECTIONS,
    warmUpMs: WARM_UP_MS,
    durationMs: ROUND_MS,
    status: 201,
    request: `${head.join("\r\n")}\r\n\r\n${body}`,
  };
  await service.use();
  child.send(load);
  const [figures] = (await once(child, "message")) as [LoadFigures];
  const used = await service.use();
  child.kill();
  if (figures.failed > 0) throw new Error(`${figures.failed} creates failed`);
  return { ...toRound({ ...used, creates: figures.answered }, ROUND_MS), perSecond: figures.perSecond };
}

async function writeAlone(child: ChildProcess, changes: readonly Change[], inBatch: number): Promise<Round> {
  const perBatch = Math.max(1, Math.round(inBatch));
  const order: RowsOrder = { changes, perBatch, durationMs: ROUND_MS };
  child.send(order);
  const [{ micros, creates }] = (await once(child, "message")) as [RowsWritten];
  const batches = creates / perBatch;
  return toRound({ micros, creates, batches, rows: creates * changes.length }, ROUND_MS);
}

function toRound({ micros, creates, batches, rows }: Used, durationMs: number): Round {
  return {
    micros: micros / creates,
    perSecond: (1_000 * creates) / durationMs,
    rows: rows / creates,
    inBatch: creates / batches,
  };
}

function printRounds(ways: readonly Way[]): void {
  const median = (way: Way, of: keyof Round) =>
    percentile(
      way.rounds.map((round) => round[of]),
      0.5,
    );
  const alone = ways.at(-1);
  printTable({
    title: "A durable create",
    note:
      `A secret created under an idempotency key, ${CONNECTIONS} at once, on disk (fsync) before its answer: processor ` +
      `time of the process that makes it, for each. Medians of ${ROUNDS} rounds of ${ROUND_MS / 1_000} s, in turns. The ` +
      "last line encodes and flushes the rows of a lone create, as many creates to a batch as the line above it.",
    columns: ["", "us a create", "of the rows alone", "rows", "creates a batch", "creates/s"],
    rows: ways.map((way) => [
      way.name,
      median(way, "micros").toFixed(1),
      alone === undefined ? "" : (median(way, "micros") / median(alone, "micros")).toFixed(2),
      ...[median(way, "rows").toFixed(1), median(way, "inBatch").toFixed(1), Math.round(median(way, "perSecond"))],
    ]),
  });
}

/**
 * Prints the rows that a create writes if no other create is in its batch, with their sizes in bytes without the
 * checksum.
 */
function printRows(title: string, changes: readonly Change[]): void {
  const packr = new Packr({ structures: [], maxSharedStructures: 512 });
  const toBytes = (value: unknown): number => {
    packr.pack(value);
    return packr.pack(value).length;
  };
  const rows = changes.map((change): (string | number)[] => {
    const [partition, space, table] = change.key;
    const name = space === rowSpace ? `${partition === "~" ? "~ " : ""}${table}` : String(space);
    const key = change.key.join(" ").length;
    return [name, change.op, key, change.op === "put" ? toBytes(change.value) : 0];
  });
  printTable({
    title,
    note: "Of one that is alone in its batch.",
    columns: ["table", "", "bytes of the key", "of the value"],
    rows,
  });
}
