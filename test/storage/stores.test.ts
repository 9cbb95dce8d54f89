import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { createMemoryStore } from "../../storage/memory-store.js";
import type { Store } from "../../storage/store.js";
import { storeContract } from "./store-contract.js";

t.test("the store in memory", async (t) => {
  storeContract(t, async () => createMemoryStore(), null);

  t.test("has no folder to copy", async (t) => {
    await t.rejects(createMemoryStore().backup("anywhere"), { code: "failed" });
  });
});

t.test("the store over LMDB", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "signalbox-stores-"));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folders = new WeakMap<Store, string>();
  const openIn = async (folder: string) => {
    const store = await openLmdbStore({ folder });
    folders.set(store, folder);
    return store;
  };
  let count = 0;
  storeContract(
    t,
    () => openIn(join(root, `store-${count++}`)),
    async (store) => {
      await store.close();
      return openIn(folders.get(store) ?? "");
    },
  );
});
