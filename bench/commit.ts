import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { openLmdbStore } from "../storage/lmdb-store.js";
import { percentile, type Table } from "./support/table.js";

const IN_FLIGHT = [1, 16, 256];
const ROUNDS = 5;
const ROUND_MS = 600;
const ROWS = 3;
const ROW = { status: "working", title: "x".repeat(60), attempts: 2, startedAtMs: 1_790_000_000_000 };

/** Commits the batch with this number; resolves when the batch is durable. */
type Commit = (batch: number) => Promise<unknown>;

/** Measures durable batches per second, compared with the same batches written through LMDB's binding alone. */
export async function run(): Promise<Table> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder: join(folder, "store") });
  const raw = open<unknown, (string | number)[]>({ path: join(folder, "raw"), noSubdir: false });
  const collectKeys = (batch: number) => Array.from({ length: ROWS }, (_, row) => ["ws_bench", "row", batch, row]);
  const viaStore: Commit = (batch) =>
    store.commit(collectKeys(batch).map((key) => ({ op: "put" as const, key, value: ROW })));
  const viaLmdb: Commit = async (batch) => {
    raw.batch(() => {
      for (const key of collectKeys(batch)) raw.put(key, ROW);
    });
    await raw.flushed;
  };
  try {
    const rows = [];
    for (const inFlight of IN_FLIGHT) rows.push(await compare(inFlight, viaStore, viaLmdb));
    return {
      title: "Commits",
      note: `Batches of ${ROWS} rows a second, each resolved after its fsync; LMDB alone is the lmdb package with its
own defaults, waiting on \`flushed\`. Medians of ${ROUNDS} rounds each, in turns.`,
      columns: ["batches in flight", "store", "LMDB alone", "ratio"],
      rows,
    };
  } finally {
    await store.close();
    await raw.close();
    await rm(folder, { recursive: true });
  }
}

/**
 * Compares the store with LMDB's binding. Their rounds alternate, so that other load affects both equally. The first
 * round of each is not counted.
 */
async function compare(inFlight: number, store: Commit, lmdb: Commit): Promise<(string | number)[]> {
  const figures = { store: [] as number[], lmdb: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const ofStore = await batchesPerSecond(inFlight, store);
    const ofLmdb = await batchesPerSecond(inFlight, lmdb);
    if (round === 0) continue;
    figures.store.push(ofStore);
    figures.lmdb.push(ofLmdb);
  }
  const medians = { store: percentile(figures.store, 0.5), lmdb: percentile(figures.lmdb, 0.5) };
  return [inFlight, Math.round(medians.store), Math.round(medians.lmdb), (medians.store / medians.lmdb).toFixed(2)];
}

let batches = 0;

async function batchesPerSecond(inFlight: number, commit: Commit): Promise<number> {
  const begunMs = performance.now();
  let durable = 0;
  const writer = async (): Promise<void> => {
    while (performance.now() - begunMs < ROUND_MS) {
      await commit(batches++);
      durable += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, writer));
  return durable / ((performance.now() - begunMs) / 1_000);
}
