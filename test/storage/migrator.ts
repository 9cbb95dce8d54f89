import { openLmdbStore } from "../../storage/lmdb-store.js";
import { migrate } from "../../storage/migrations.js";
import { movingSteps } from "./moving-steps.js";

/** Migrates a store with {@link movingSteps}, one entry per slice, and reports each commit to its parent process. */
const [folder = ""] = process.argv.slice(2);
const store = await openLmdbStore({ folder });
let batches = 0;
const telling = {
  reading: store.reading,
  view: () => store.view(),
  close: () => store.close(),
  backup: (to: string) => store.backup(to),
  commit: (changes: Parameters<typeof store.commit>[0]) => {
    batches += 1;
    process.send?.(batches);
    return store.commit(changes);
  },
};
const log = { info: () => undefined };
await migrate(telling, { folder, steps: movingSteps, log, nowMs: Date.now, slice: 1 });
await store.close();
process.disconnect();
