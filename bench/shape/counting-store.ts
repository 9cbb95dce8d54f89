import { rowSpace } from "../../storage/keys.js";
import type { Store } from "../../storage/store.js";

/** The numbers of puts and removes in committed batches. `domain` counts the rows of tables. */
export interface RowCount {
  readonly domain: number;
  /** All other rows, such as snapshots, effects and timers. */
  readonly runtime: number;
  readonly batches: number;
  /** Domain rows by table, in order of the tables' names. */
  readonly byTable: Readonly<Record<string, number>>;
}

export interface CountingStore {
  readonly store: Store;
  /** Returns and resets the counts. */
  take(): RowCount;
  /** `underWay` is the number of batches that are being committed. `begun` is the number of all batches so far. */
  readonly state: { readonly underWay: number; readonly begun: number };
}

/** Returns the counts of `whole` minus those of `part`. */
export function without(whole: RowCount, part: RowCount): RowCount {
  const tables = new Set([...Object.keys(whole.byTable), ...Object.keys(part.byTable)]);
  const left = [...tables].map((table) => [table, (whole.byTable[table] ?? 0) - (part.byTable[table] ?? 0)] as const);
  return {
    domain: whole.domain - part.domain,
    runtime: whole.runtime - part.runtime,
    batches: whole.batches - part.batches,
    byTable: Object.fromEntries(left.filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Wraps a store to count committed rows. */
export function countRows(store: Store): CountingStore {
  const state = { underWay: 0, begun: 0 };
  let tables = new Map<string, number>();
  let runtime = 0;
  let batches = 0;
  const commit: Store["commit"] = async (changes) => {
    state.underWay += 1;
    state.begun += 1;
    batches += 1;
    for (const { key } of changes) {
      const table = String(key[2]);
      if (key[1] === rowSpace) tables.set(table, (tables.get(table) ?? 0) + 1);
      else runtime += 1;
    }
    try {
      await store.commit(changes);
    } finally {
      state.underWay -= 1;
    }
  };
  return {
    state,
    store: {
      reading: store.reading,
      commit,
      view: () => store.view(),
      backup: (folder) => store.backup(folder),
      close: () => store.close(),
    },
    take: () => {
      const byTable = Object.fromEntries([...tables].sort(([left], [right]) => (left < right ? -1 : 1)));
      const domain = Object.values(byTable).reduce((sum, count) => sum + count, 0);
      const count: RowCount = { domain, runtime, batches, byTable };
      tables = new Map();
      runtime = 0;
      batches = 0;
      return count;
    },
  };
}
