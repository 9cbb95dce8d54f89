import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { createDirectoryCatalogue, createKinds } from "../../../../actors/catalogue.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { directoryKey } from "../../../../runtime/directories/directory.js";
import { rebuildDirectories } from "../../../../runtime/directories/rebuild-directories.js";
import { openLmdbStore } from "../../../../storage/lmdb-store.js";
import type { Change, Entry, Reading } from "../../../../storage/store.js";
import { openUnpacked } from "../../../fixtures/open.js";
import { unpackFixture } from "../../../fixtures/unpack.js";
import { startTestService } from "../../../support/service.js";
import { type CommandEnd, runSignalbox, runStoreProgram } from "../../../support/signalbox-command.js";

const catalogue = createDirectoryCatalogue(createKinds({ allowList: parseAllowList(""), signsTokens: false }));

const run = (...args: string[]): Promise<CommandEnd> => runStoreProgram("rebuild-directory", ...args);

/** Returns the entries of every directory. */
function listEntries(reading: Reading): Readonly<Record<string, readonly Entry[]>> {
  return Object.fromEntries(
    catalogue.names.map((name) => [name, reading.range({ prefix: directoryKey({ directory: name, id: [] }) })]),
  );
}

t.test("directories are rebuilt after entries were lost or added", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder } = unpacked;
  const store = await openLmdbStore({ folder });
  const before = listEntries(store.reading);
  for (const name of catalogue.names) t.ok((before[name]?.length ?? 0) > 0, `${name} holds entries`);
  const all = Object.values(before).flat();
  const stray = directoryKey({ directory: catalogue.names[0] ?? "", id: ["line_of_nobody"] });
  await store.commit([
    ...all.map(({ key }): Change => ({ op: "remove", key })),
    { op: "put", key: stray, value: { workspaceId: "ws_of_nobody", kind: "line" } },
  ]);
  await store.close();

  // The output must not mention a migration, although an earlier release wrote the store.
  const { code, out } = await runSignalbox("rebuild-directory", "--data", folder);
  t.equal(code, 0);
  t.match(out, new RegExp(`^rebuilt the directory of ${folder}: ${all.length} entries\\n$`));
  const again = await openLmdbStore({ folder });
  t.same(listEntries(again.reading), before);
  await again.close();

  const { ada, manifest } = await openUnpacked(t, unpacked);
  t.equal((await ada.request("GET", `/api/teams/${manifest.teams.core}/hook-occurrences`)).status, 200);
});

t.test("an interrupted rebuild is reported at the next start, and run again", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder });
  const before = listEntries(store.reading);
  let commits = 0;
  const cut = { ...store, reading: store.reading, commit: (changes: readonly Change[]) => commit(changes) };
  const commit = (changes: readonly Change[]) => {
    commits += 1;
    return commits > 3 ? Promise.reject(new Error("killed")) : store.commit(changes);
  };
  await t.rejects(rebuildDirectories(cut, catalogue), /killed/);
  await store.close();
  await t.rejects(startTestService(t, { folder }), /: run signalbox rebuild-directory --data \S+$/);
  t.equal((await run("--data", folder)).code, 0);
  const again = await openLmdbStore({ folder });
  t.same(listEntries(again.reading), before);
  await again.close();
});

t.test("the folder of a service that runs is refused, and one without a store", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder });
  t.match(await run("--data", folder), { code: 1, out: "", err: /another process uses the store/ });
  await store.close();
  const empty = mkdtempSync(join(tmpdir(), "signalbox-empty-"));
  t.teardown(() => rmSync(empty, { recursive: true, force: true }));
  t.match(await run("--data", empty), { code: 1, out: "", err: `${empty} is not a store: it has no data.mdb` });
  t.same(readdirSync(empty), [], "nor is one made there");
});
