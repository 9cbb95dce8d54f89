import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { checkKey } from "../storage/key-check.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Store } from "../storage/store.js";
import { SEAL_BYTES, seal } from "../storage/stored-value.js";
import { INSPECTED_EVENTS, inspectHookValues } from "./hooks.js";
import { percentile, type Table } from "./support/table.js";

/** More rows than fit in the processor's caches. */
const ROWS = 200_000;
const BATCH = 10_000;
const ROUNDS = 7;
const READS = 100_000;
/** The number of rows that a list read returns. */
const LIST = 100;
const SMALL = { status: "working", title: "x".repeat(60), attempts: 2, startedAtMs: 1_790_000_000_000 };
/** A value as large as the stored value of a hook that has a condition and a body. */
const LARGE = { ...SMALL, condition: "x".repeat(300), body: "y".repeat(900) };

type KeyOf = (row: number) => (string | number)[];

/**
 * Measures the cost of checksums. For store reads, it compares values with and without checksums. For hook writes, it
 * measures the time that the checksums take.
 */
export async function run(): Promise<Table> {
  const rows = [await sealHooks()];
  for (const [size, value] of Object.entries({ "a row of 150 bytes": SMALL, "one of 1.3 KB": LARGE })) {
    rows.push(...(await compareSize(size, value)));
  }
  return {
    title: "Checksums",
    note: `Reads of ${ROWS.toLocaleString("en")} rows by key in random order and in lists of ${LIST} from random places,
in microseconds of the processor for each row, beside the same reads of a store of an earlier format, whose values have
no checksums. Medians of ${ROUNDS} rounds of each, in turns. Of a hook, the checksums of the values that are written from
its event to its recorded delivery (it reads hardly a value from disk), a median over batches. Last, what zlib's crc32 alone
takes for the same bytes, of as many places in memory.`,
    columns: ["what", "with checksums", "without", "more", "ratio", "crc32 alone"],
    rows,
  };
}

/**
 * Times the checksums of the values that one hook writes. Measures them batch by batch during the writes, so that the
 * processor's caches are as in production.
 */
async function sealHooks(): Promise<(string | number)[]> {
  const packr = new Packr({ structures: [], maxSharedStructures: 512 });
  const usEach: { readonly seal: number[]; readonly crc32: number[] } = { seal: [], crc32: [] };
  let [count, bytes] = [0, 0];
  await inspectHookValues((puts) => {
    const values = puts.map(({ key, value }) => {
      // Read the key first, so that it is in the processor's caches. The store reads it too, before it seals a value.
      checkKey(key);
      const whole = Buffer.concat([Buffer.alloc(SEAL_BYTES), packr.pack(value)]);
      return { key, whole, own: whole.subarray(SEAL_BYTES) };
    });
    const begun = performance.now();
    for (const { key, whole } of values) seal(key, whole);
    const sealed = performance.now();
    for (const { own } of values) crc32(own, 1);
    const ended = performance.now();
    count += values.length;
    bytes += values.reduce((sum, { own }) => sum + own.length, 0);
    if (values.length === 0) return;
    usEach.seal.push(((sealed - begun) * 1_000) / values.length);
    usEach.crc32.push(((ended - sealed) * 1_000) / values.length);
  });
  const perHook = count / INSPECTED_EVENTS;
  const usOfHook = (each: readonly number[]) => (percentile(each, 0.5) * perHook).toFixed(2);
  const what = `a hook: ${perHook.toFixed(1)} values of ${(bytes / count).toFixed(0)} bytes, written`;
  return [what, "", "", usOfHook(usEach.seal), "", usOfHook(usEach.crc32)];
}

/** Returns the median CPU time of `work` over {@link ROUNDS} rounds, in microseconds. An extra first round warms up. */
function medianUs(work: () => void): number {
  const figures = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const begun = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(begun);
    if (round > 0) figures.push(user + system);
  }
  return percentile(figures, 0.5);
}

/** Returns the CPU time of zlib's crc32 for one value of this length, in microseconds. */
function usOfCrc32(length: number): number {
  const bytes = Buffer.alloc(ROWS * 256 + length);
  const views = Array.from({ length: READS }, (_, index) => {
    const begin = (index * 48_271 * 64) % (ROWS * 256);
    return bytes.subarray(begin, begin + length);
  });
  let sum = 0;
  const us = medianUs(() => {
    for (const view of views) sum = crc32(view, sum);
  });
  return us / READS;
}

async function compareSize(size: string, value: object): Promise<(string | number)[][]> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const sealed = await openLmdbStore({ folder: join(folder, "sealed") });
  const raw = open<unknown, (string | number)[]>({
    path: join(folder, "unsealed"),
    noSubdir: false,
    overlappingSync: false,
    encoding: "msgpack",
    sharedStructuresKey: Symbol.for("structures"),
  });
  const toKey: KeyOf = (row) => ["ws_01ARZ3NDEKTSV4RRFFQ69G5FAV", "row", "thing", `thing_01ARZ3NDEKTSV4RRFF${row}`];
  try {
    for (let begin = 0; begin < ROWS; begin += BATCH) {
      const keys = Array.from({ length: BATCH }, (_, index) => toKey(begin + index));
      await sealed.commit(keys.map((key) => ({ op: "put" as const, key, value })));
      await raw.batch(() => {
        for (const key of keys) raw.put(key, value);
      });
    }
    await raw.put(["~", "meta", "format"], 1);
    await raw.close();
    const unsealed = await openLmdbStore({ folder: join(folder, "unsealed") });
    const prefix = toKey(0).slice(0, 3);
    const byKey =
      ({ reading }: Store) =>
      (row: number) =>
        reading.get(toKey(row));
    const inList =
      ({ reading }: Store) =>
      (row: number) =>
        reading.range({ prefix, after: toKey(row), limit: LIST });
    const alone = usOfCrc32(new Packr().pack(value).length).toFixed(2);
    const rows = [
      [...compare(`${size}, by key`, 1, byKey(sealed), byKey(unsealed)), alone],
      [...compare(`${size}, in a list`, LIST, inList(sealed), inList(unsealed)), alone],
    ];
    await unsealed.close();
    return rows;
  } finally {
    await sealed.close();
    await rm(folder, { recursive: true });
  }
}

/** Compares reads with and without checksums. Their rounds alternate, so that other load affects both equally. */
function compare(
  what: string,
  rowsOfRead: number,
  sealed: (row: number) => unknown,
  unsealed: (row: number) => unknown,
): (string | number)[] {
  const figures = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const ofSealed = usOfRead(sealed, rowsOfRead);
    const ofUnsealed = usOfRead(unsealed, rowsOfRead);
    if (round === 0) continue;
    figures.with.push(ofSealed);
    figures.without.push(ofUnsealed);
  }
  const costs = { with: percentile(figures.with, 0.5), without: percentile(figures.without, 0.5) };
  const more = [costs.with - costs.without, costs.with / costs.without];
  return [what, ...[costs.with, costs.without, ...more].map((figure) => figure.toFixed(2))];
}

/** Returns the CPU time per row, in microseconds. */
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
