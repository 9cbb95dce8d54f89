import t, { type Test } from "tap";
import { resourceAddresses } from "../../../actors/resources/resource.table.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import { isStored } from "../../../runtime/messages/offline-send.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { type Key, type Range, type Store, StoreError } from "../../../storage/store.js";
import { startTestService } from "../../support/service.js";

const settings = { SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") };
const BEGUN: Key = ["~", "meta", "begun"];

/** Wraps a store: counts a service's reads, and reports the rows below a key as damaged. */
function countReads(store: Store, damaged: Key = []) {
  let reads = 0;
  const counted: Store = {
    reading: {
      get: (key) => {
        reads += 1;
        return store.reading.get(key);
      },
      range: <Value>(range: Range) => {
        reads += 1;
        if (damaged.length > 0 && damaged.every((part, at) => range.prefix[at] === part))
          throw new StoreError("damaged", "a test damaged it");
        return store.reading.range<Value>(range);
      },
    },
    view: () => store.view(),
    commit: (changes) => store.commit(changes),
    backup: (folder) => store.backup(folder),
    close: () => store.close(),
  };
  return { counted, reads: () => reads };
}

/** Returns the store of a stopped service with this many workspaces. */
async function left(t: Test, workspaces: number) {
  const store = createMemoryStore();
  const service = await startTestService(t, { settings, store });
  const ada = await service.signIn("ada@example.com");
  const ids: string[] = [];
  for (let n = 0; n < workspaces; n++) {
    const { id } = await ada.create("/api/resources/workspaces", { slug: `space-${n}`, name: `Space ${n}` });
    await ada.create(`/api/resources/workspaces/${id}/teams`, { key: "core", name: "Core" });
    ids.push(id);
  }
  await service.stop();
  return { store, ids };
}

/** Returns the number of store reads from a service's start until shortly after it listens. */
async function readsOfStart(t: Test, store: Store): Promise<number> {
  const { counted, reads } = countReads(store);
  const service = await startTestService(t, { settings, store: counted });
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  await service.stop();
  return reads();
}

t.test("a start reads as much of a store with many workspaces as of one with few", async (t) => {
  const [few, many] = [await left(t, 2), await left(t, 12)];
  t.equal(await readsOfStart(t, many.store), await readsOfStart(t, few.store));
});

t.test("what an earlier release did not begin is begun at the first start, in each workspace", async (t) => {
  const { store, ids } = await left(t, 3);
  const begun = () => ids.map((id) => isStored(store.reading, retentionRef(id)));
  t.same(begun(), [true, true, true]);
  const removed = ids.map((id): Key => [id, "actor", "retention", "all"]);
  await store.commit([...removed, BEGUN].map((key) => ({ op: "remove", key })));
  await readsOfStart(t, store);
  t.same(begun(), [true, true, true]);
  t.equal(store.reading.get(BEGUN), store.reading.get(["~", "meta", "format"]));
  await store.commit([{ op: "put", key: BEGUN, value: 1 }, ...removed.map((key) => ({ op: "remove", key }) as const)]);
  await readsOfStart(t, store);
  t.same(begun(), [true, true, true], "and once more when the store has a newer format");
});

t.test("where a workspace is damaged, the next start looks at all of them again", async (t) => {
  const { store, ids } = await left(t, 2);
  const [first = ""] = ids;
  await store.commit([{ op: "remove", key: BEGUN }]);
  const damaged = resourceAddresses.key(first);
  const service = await startTestService(t, { settings, store: countReads(store, damaged).counted });
  t.equal(store.reading.get(BEGUN), undefined);
  await service.stop();
  await readsOfStart(t, store);
  t.equal(store.reading.get(BEGUN), store.reading.get(["~", "meta", "format"]));
});
