import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { openLmdbStore } from "../storage/lmdb-store.js";
import { percentile, type Table } from "./support/table.js";

/** More than the processor's caches hold. */
const ROWS = 200_000;
const BATCH = 10_000;
const ROUNDS = 7;
const READS = 100_000;
/** Rows of a list. */
const LIST = 100;
const SMALL = { status: "working", title: "x".repeat(60), attempts: 2, startedAtMs: 1_790_000_000_000 };
/** As large as a hook with its condition and body. */
const LARGE = { ...SMALL, condition: "x".repeat(300), body: "y".repeat(900) };

type KeyOf = (row: number) => (string | number)[];

/** What the checksum of a row costs: the store's reads and writes beside those of the binding's own encoding. */
export async function run(): Promise<Table> {
  const rows = [];
  for (const [size, value] of Object.entries({ "a row of 150 bytes": SMALL, "one of 1.3 KB": LARGE })) {
    rows.push(...(await compareSize(size, value)));
  }
  return {
    title: "Checksums",
    note: `Reads of ${ROWS.toLocaleString("en")} rows by key in random order and in lists of ${LIST}, in microseconds of
the processor for each row; LMDB alone is the lmdb package with the same encoding and no checksums. Medians of ${ROUNDS}
rounds of each, in turns.`,
    columns: ["what", "store", "LMDB alone", "more", "ratio"],
    rows,
  };
}

async function compareSize(size: string, value: object): Promise<(string | number)[][]> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder: join(folder, "store") });
  const raw = open<unknown, (string | number)[]>({
    ...{ path: join(folder, "raw"), noSubdir: false, overlappingSync: false, encoding: "msgpack" },
    sharedStructuresKey: Symbol.for("structures"),
  });
  const keyOf: KeyOf = (row) => ["ws_01ARZ3NDEKTSV4RRFFQ69G5FAV", "row", "thing", `thing_01ARZ3NDEKTSV4RRFF${row}`];
  try {
    for (let begin = 0; begin < ROWS; begin += BATCH) {
      const keys = Array.from({ length: BATCH }, (_, index) => keyOf(begin + index));
      await store.commit(keys.map((key) => ({ op: "put" as const, key, value })));
      await raw.batch(() => {
        for (const key of keys) raw.put(key, value);
      });
    }
    const prefix = keyOf(0).slice(0, 3);
    const list = (row: number) => ({ prefix, after: keyOf(row), limit: LIST });
    const bounds = (row: number) => ({
      start: keyOf(row),
      end: [...prefix, Buffer.from([0xff])] as never,
      limit: LIST,
    });
    return [
      compare(
        `${size}, by key`,
        1,
        (row) => store.reading.get(keyOf(row)),
        (row) => raw.get(keyOf(row)),
      ),
      compare(
        `${size}, in a list`,
        LIST,
        (row) => store.reading.range(list(row)),
        (row) => raw.getRange(bounds(row)).asArray,
      ),
    ];
  } finally {
    await store.close();
    await raw.close();
    await rm(folder, { recursive: true });
  }
}

/** Measures both in turns, so that other load affects both alike. */
function compare(
  what: string,
  rowsOfRead: number,
  store: (row: number) => unknown,
  lmdb: (row: number) => unknown,
): (string | number)[] {
  const figures = { store: [] as number[], lmdb: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const ofStore = usOfRead(store, rowsOfRead);
    const ofLmdb = usOfRead(lmdb, rowsOfRead);
    if (round === 0) continue;
    figures.store.push(ofStore);
    figures.lmdb.push(ofLmdb);
  }
  const [ofStore, ofLmdb] = [percentile(figures.store, 0.5), percentile(figures.lmdb, 0.5)];
  return [what, ofStore.toFixed(2), ofLmdb.toFixed(2), (ofStore - ofLmdb).toFixed(2), (ofStore / ofLmdb).toFixed(2)];
}

/** Microseconds of the processor for one row. */
function usOfRead(read: (row: number) => unknown, rowsOfRead: number): number {
  const begun = process.cpuUsage();
  const reads = READS / rowsOfRead;
  let row = 1;
  for (let count = 0; count < reads; count++) {
    row = (row * 48_271) % 2_147_483_647;
    read(row % (ROWS - LIST));
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / READS;
}
