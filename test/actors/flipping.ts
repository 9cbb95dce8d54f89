import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createExaminations, createKinds, migrations } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { listPageFaults } from "../../storage/data-file.js";
import { toKeyName } from "../../storage/finding.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { migrate } from "../../storage/migrations.js";
import { listPartitions } from "../../storage/partitions.js";
import { type Entry, isDamage, type Key, type Reading, type Store } from "../../storage/store.js";
import { unpackFixture } from "../fixtures/unpack.js";
import { createChance } from "../simulation/chance.js";
import { flipped } from "../support/raw-store.js";
import type { Cleaning } from "../support/service.js";

/** Unpacks a store that a real demo run wrote, and migrates it to this release's format. */
export async function migratedFixture(
  t: Cleaning,
): Promise<{ readonly folder: string; readonly entries: readonly Entry[] }> {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder });
  await migrate(store, { folder, steps: migrations, log: { info: () => undefined }, nowMs: () => 0 });
  const entries = store.reading.range({ prefix: [] });
  await store.close();
  return { folder, entries };
}

/** Numbers of store copies, by what reading the copy showed. Each copy has one flipped bit. */
interface Flips {
  copies: number;
  /** Copies that the store refused to open. */
  refused: number;
  /** Copies in which no read failed and no row was missing. */
  whole: number;
  /** Copies in which at least one read failed. */
  damaged: number;
  /** Copies in which a row was missing, but no read of it failed. */
  lacking: number;
  /**
   * Reads that returned a value that was never written. Each entry names the position of the flipped byte and the row's
   * key.
   */
  wrong: string[];
  /** Byte positions of the flipped bits after which a row is missing, but the doctor finds nothing. */
  unnoticed: number[];
}

/**
 * Makes `copies` copies of the data file `bytes`, which contains `entries`. Flips one bit in each copy, and then reads
 * every row of the copy.
 */
export async function flipBytes(
  folder: string,
  bytes: Buffer,
  entries: readonly Entry[],
  { copies, seed }: { readonly copies: number; readonly seed: number },
): Promise<Flips> {
  const chance = createChance(seed);
  const flips: Flips = { copies, refused: 0, whole: 0, damaged: 0, lacking: 0, wrong: [], unnoticed: [] };
  const written = new Map(entries.map(({ key, value }) => [toKeyName(key), JSON.stringify(value)]));
  for (let copy = 0; copy < copies; copy++) {
    const at = chance.between(0, bytes.length - 1);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "data.mdb"), flipped(bytes, at, 1 << chance.between(0, 7)));
    await readCopy(folder, at, written, flips);
    rmSync(folder, { recursive: true });
  }
  return flips;
}

async function readCopy(folder: string, at: number, written: ReadonlyMap<string, string>, flips: Flips): Promise<void> {
  let store: Store;
  try {
    store = await openLmdbStore({ folder });
  } catch (error) {
    if (!isDamage(error)) throw error;
    flips.refused += 1;
    return;
  }
  try {
    const seen = readAll(store.reading, written);
    for (const key of seen.wrong) flips.wrong.push(`${at}: ${key}`);
    if (seen.damaged > 0) flips.damaged += 1;
    if (seen.lacking > 0) flips.lacking += 1;
    if (seen.damaged + seen.lacking === 0) flips.whole += 1;
    if (seen.lacking > 0 && !findsDamage(folder, store.reading)) flips.unnoticed.push(at);
  } finally {
    await store.close();
  }
}

interface Seen {
  damaged: number;
  lacking: number;
  readonly wrong: string[];
}

/** Reads every row individually and in lists. */
function readAll(reading: Reading, written: ReadonlyMap<string, string>): Seen {
  const seen: Seen = { damaged: 0, lacking: 0, wrong: [] };
  const compare = (name: string, value: unknown) => {
    if (written.get(name) !== JSON.stringify(value)) seen.wrong.push(name);
  };
  const unlessDamaged = (read: () => void) => {
    try {
      read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      seen.damaged += 1;
    }
  };
  for (const name of written.keys()) {
    unlessDamaged(() => {
      const value = reading.get(JSON.parse(name) as Key);
      if (value === undefined) seen.lacking += 1;
      else compare(name, value);
    });
  }
  let listed = 0;
  unlessDamaged(() => {
    const onDamaged = () => {
      seen.damaged += 1;
      listed += 1;
    };
    for (const partition of listPartitions(reading)) {
      for (const { key, value } of reading.range({ prefix: [partition], onDamaged })) {
        listed += 1;
        compare(toKeyName(key), value);
      }
    }
    if (listed < written.size) seen.lacking += 1;
  });
  return seen;
}

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });

function findsDamage(folder: string, reading: Reading): boolean {
  if (listPageFaults(folder).length > 0) return true;
  try {
    return createExaminations(kinds, 0).some((examination) => [...examination(reading)].length > 0);
  } catch (error) {
    return isDamage(error);
  }
}
