import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openStore, openStoreForReading } from "../../../../http/process/open-store.js";
import { openLmdbStore } from "../../../../storage/lmdb-store.js";
import { unpackFixture } from "../../../fixtures/unpack.js";
import { RawStore } from "../../../support/raw-store.js";
import { type CommandEnd, runSignalbox, runStoreProgram } from "../../../support/signalbox-command.js";

const run = (...args: string[]): Promise<CommandEnd> => runStoreProgram("doctor", ...args);

t.test(
  "the doctor finds what is damaged in a store or a backup, and repairs what follows from other rows",
  async (t) => {
    const { folder, manifest } = unpackFixture(t, "format-1");
    t.match(await run("--data", folder), { code: 1, err: /has an older format/ });
    const options = { folder, log: { info: () => undefined }, nowMs: () => 0 };
    const store = await openStore(options);
    t.match(await run("--data", folder), { code: 1, err: /another process uses/ }, "of a stopped service alone");
    const { workspaceId, people } = manifest;
    const index = store.reading.range({ prefix: [workspaceId, "row", "open-task"], limit: 1 })[0]?.key ?? [];
    const backup = join(folder, "backup");
    await store.backup(backup);
    await store.close();
    t.match(await run("--data", backup), { code: 0, out: `${backup} is whole\n` });

    const raw = new RawStore(folder);
    await raw.flip(index);
    const member = [workspaceId, "row", "member", people.bob];
    await raw.flip(member);
    await raw.close();
    const found = await runSignalbox("doctor", "--data", folder);
    t.equal(found.code, 1);
    t.match(found.out, `a damaged row: restore it from a backup\t${workspaceId} row member ${people.bob}\n`);
    t.match(found.out, `a damaged row that can be removed\t${workspaceId} row open-task`);
    t.notMatch(found.out, "bob@", "nothing that is stored is shown");
    const repaired = await run("--data", folder, "--repair");
    t.equal(repaired.code, 1, "what only a backup has is left");
    t.notMatch(repaired.out.split("then checked again:")[1], "open-task");
    const again = await openStoreForReading(folder);
    t.equal(again.reading.get(index), true);
    t.throws(() => again.reading.get(member), { code: "damaged" });
    await again.close();
  },
);

t.test("a folder without a store is no store, and an emptied data file beside its key is not a new one", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  t.match(await run("--data", join(folder, "absent")), { code: 1, err: /is not a store/ });
  writeFileSync(join(folder, "data.mdb"), "");
  t.match(await run("--data", folder), { code: 1, err: /is empty, but the key of a used store is beside it/ });
  const options = { folder, log: { info: () => undefined }, nowMs: () => 0 };
  await t.rejects(openStore(options), { code: "damaged" });
  await t.rejects(openStoreForReading(folder), { code: "damaged" });
  const without = join(folder, "without");
  const store = await openLmdbStore({ folder: without });
  await store.close();
});
