import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import t from "tap";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { unpackFixture } from "../fixtures/unpack.js";
import { bringUp, collectEntries, storeWith } from "../support/migrating.js";
import { movingSteps } from "./moving-steps.js";

const migrator = fileURLToPath(new URL("./migrator.js", import.meta.url));
/** For each process, the number of batches that it commits before it is killed. */
const LIVES = [1, 2, 3, 8, 21, 40];

/**
 * Starts a process that migrates the folder. Kills the process when it reports the commit with the number `killAt`.
 * Returns the signal that ended the process; null if the process exited by itself.
 */
async function migrateIn(folder: string, killAt: number): Promise<NodeJS.Signals | null> {
  const child = fork(migrator, [folder]);
  child.on("message", (batch) => {
    if (batch === killAt) child.kill("SIGKILL");
  });
  const [code, signal] = await once(child, "exit");
  if (signal === null && code !== 0) throw new Error(`the migration ended with ${code}`);
  return signal;
}

t.test(
  "processes killed with -9 while they migrate a store bring it to the same rows as one that is not",
  async (t) => {
    const { folder } = unpackFixture(t, "format-1");
    const before = await openLmdbStore({ folder, readOnly: true });
    const whole = await storeWith(before.reading.range({ prefix: [] }));
    await before.close();
    await bringUp(whole, { steps: movingSteps, slice: 1 });
    for (const killAt of LIVES) t.equal(await migrateIn(folder, killAt), "SIGKILL");
    t.equal(await migrateIn(folder, Number.POSITIVE_INFINITY), null);
    const after = await openLmdbStore({ folder, readOnly: true });
    t.same(collectEntries(after), collectEntries(whole));
    t.equal(after.reading.get(["~", "meta", "format"]), 4);
    await after.close();
  },
);
