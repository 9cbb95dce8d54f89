import t from "tap";
import { rowSpace } from "../../../storage/keys.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Key, Store } from "../../../storage/store.js";
import { openWorkplace } from "../../support/workplace.js";

/** Returns a store that records the keys of written rows. The runtime's own rows are left out. */
function notingStore() {
  const inner = createMemoryStore();
  const rows: Key[] = [];
  const store: Store = {
    ...inner,
    commit: async (changes) => {
      await inner.commit(changes);
      rows.push(...changes.map(({ key }) => key).filter(([, space]) => space === rowSpace));
    },
  };
  return { store, rows };
}

t.test(
  "a task opened without hooks writes 18 rows at most until its run is queued, and one for each word of its title",
  async (t) => {
    const { store, rows } = notingStore();
    const place = await openWorkplace(t, { store });
    const listTables = () => rows.map(([, , table]) => String(table)).sort();
    rows.length = 0;
    await place.open();
    await place.until(async () => listTables().includes("queued-run"));
    await place.until(async () => place.service.runtime.stats().mailboxDepth === 0);
    t.ok(rows.length <= 18 + 2, `${rows.length} rows were written: ${listTables().join(", ")}`);
  },
);
