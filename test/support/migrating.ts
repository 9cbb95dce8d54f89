import { createMemoryStore } from "../../storage/memory-store.js";
import { type MigrationStep, migrate } from "../../storage/migrations.js";
import type { Change, Entry, Store } from "../../storage/store.js";

/** What a store that was closed by a kill rejects with. */
class Killed extends Error {}

/** A store in memory that holds these entries. */
export async function storeWith(entries: readonly Entry[]): Promise<Store> {
  const store = createMemoryStore();
  await store.commit(entries.map(({ key, value }): Change => ({ op: "put", key, value })));
  return store;
}

/** Everything in a store but what its migrations keep for themselves. */
export function entriesOf({ reading }: Pick<Store, "reading">): readonly Entry[] {
  return reading.range({ prefix: [] }).filter(({ key }) => key[1] !== "meta" || key[2] === "mail-sequence");
}

/** The store as a process sees it that is killed when it commits once more than `commits` times. */
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

/** Brings a store up to date; gives the lines that were told. */
export async function bringUp(store: Store, { steps, slice }: MigratingOptions): Promise<readonly string[]> {
  const told: string[] = [];
  const log = { info: (line: string) => told.push(line) };
  const of = slice === undefined ? {} : { slice };
  await migrate(store, { folder: "/data", steps, log, nowMs: () => 0, ...of });
  return told;
}

/** Brings a store up to date in processes that are each killed after one batch; gives how many there were. */
export async function bringUpThroughKills(store: Store, options: MigratingOptions): Promise<number> {
  for (let kills = 0; ; kills++) {
    try {
      // The mark that a migration is under way is written again by each process.
      await bringUp(killedAfter(store, kills === 0 ? 1 : 2), options);
      return kills;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** What a single step makes of these entries, which are of the format before it. */
export async function stepped(step: MigrationStep, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const before = Array.from({ length: step.to - 2 }, (_, index) => ({ to: index + 2, title: "", walks: [] }));
  const format = { key: ["~", "meta", "format"], value: step.to - 1 };
  const store = await storeWith([...entries, format]);
  await bringUp(store, { steps: [...before, step] });
  return entriesOf(store);
}
