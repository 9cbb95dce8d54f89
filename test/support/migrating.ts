import { createMemoryStore } from "../../storage/memory-store.js";
import { type MigrationStep, migrate } from "../../storage/migrations.js";
import type { Change, Entry, Store } from "../../storage/store.js";

/** The error of a store after a simulated kill. */
class Killed extends Error {}

/** Returns an in-memory store with these entries. */
export async function storeWith(entries: readonly Entry[]): Promise<Store> {
  const store = createMemoryStore();
  await store.commit(entries.map(({ key, value }): Change => ({ op: "put", key, value })));
  return store;
}

/** Returns all entries of a store except those of its migrations. */
export function collectEntries({ reading }: Pick<Store, "reading">): readonly Entry[] {
  return reading.range({ prefix: [] }).filter(({ key }) => key[1] !== "meta" || key[2] === "mail-sequence");
}

/** Returns a store that simulates a kill at the commit after `commits` commits. */
export function killedAfter(store: Store, commits: number): Store {
  let left = commits;
  return {
    ...store,
    commit: async (changes) => {
      if (left <= 0) throw new Killed("killed");
      left -= 1;
      await store.commit(changes);
    },
  };
}

export interface MigratingOptions {
  readonly steps: readonly MigrationStep[];
  readonly slice?: number;
}

/** Migrates a store; returns the progress lines. */
export async function bringUp(store: Store, { steps, slice }: MigratingOptions): Promise<readonly string[]> {
  const told: string[] = [];
  const log = { info: (line: string) => told.push(line) };
  const of = slice === undefined ? {} : { slice };
  await migrate(store, { folder: "/data", steps, log, nowMs: () => 0, ...of });
  return told;
}

/** Migrates a store in processes that are each killed after one batch; returns the number of kills. */
export async function bringUpThroughKills(store: Store, options: MigratingOptions): Promise<number> {
  for (let kills = 0; ; kills++) {
    try {
      // The first commit of each later process marks the migration as in progress again. So the first batch of a later
      // process is its second commit.
      await bringUp(killedAfter(store, kills === 0 ? 1 : 2), options);
      return kills;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** Returns the result of one step for entries in the format before the step. */
export async function stepped(step: MigrationStep, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const before = Array.from({ length: step.to - 2 }, (_, index) => ({ to: index + 2, title: "", walks: [] }));
  const format = { key: ["~", "meta", "format"], value: step.to - 1 };
  const store = await storeWith([...entries, format]);
  await bringUp(store, { steps: [...before, step] });
  return collectEntries(store);
}
