import t from "tap";
import { createMemoryStore } from "../../storage/memory-store.js";
import { type MigrationStep, migrate } from "../../storage/migrations.js";
import type { Store } from "../../storage/store.js";

const FORMAT = ["~", "meta", "format"];

/** Two steps: every row of `old` goes to `middle`, doubled, and from there to `new`, as text. */
const steps: readonly MigrationStep[] = [
  (reading) =>
    reading.range<number>({ prefix: ["old"] }).flatMap(({ key: [, id = ""], value }) => [
      { op: "remove", key: ["old", id] },
      { op: "put", key: ["middle", id], value: value * 2 },
    ]),
  (reading) =>
    reading.range<number>({ prefix: ["middle"] }).flatMap(({ key: [, id = ""], value }) => [
      { op: "remove", key: ["middle", id] },
      { op: "put", key: ["new", id], value: `${value}` },
    ]),
];
const options = { folder: "/data", readOnly: false, steps };

async function storeOf(format: number, rows: Readonly<Record<string, number>>, space: string): Promise<Store> {
  const store = createMemoryStore();
  await store.commit([
    { op: "put", key: FORMAT, value: format },
    ...Object.entries(rows).map(([id, value]) => ({ op: "put" as const, key: [space, id], value })),
  ]);
  return store;
}

const rowsOf = (store: Store) => store.reading.range({ prefix: [] }).filter(({ key }) => key.join() !== FORMAT.join());

t.test("a new store is marked with the newest format, and no step is taken", async (t) => {
  const store = createMemoryStore();
  await migrate(store, { ...options, steps: [...steps, () => t.fail("no step is taken")] as MigrationStep[] });
  t.equal(store.reading.get(FORMAT), 4);
});

t.test("an old store is brought through every step that it lacks, in order", async (t) => {
  const oldest = await storeOf(1, { a: 1, b: 2 }, "old");
  await migrate(oldest, options);
  t.equal(oldest.reading.get(FORMAT), 3);
  t.same(rowsOf(oldest), [
    { key: ["new", "a"], value: "2" },
    { key: ["new", "b"], value: "4" },
  ]);
  const between = await storeOf(2, { a: 1 }, "middle");
  await migrate(between, options);
  t.equal(between.reading.get(FORMAT), 3);
  t.same(rowsOf(between), [{ key: ["new", "a"], value: "1" }]);
});

t.test("a store of this format is left as it is", async (t) => {
  const store = await storeOf(3, { a: 1 }, "old");
  await migrate(store, options);
  t.same(rowsOf(store), [{ key: ["old", "a"], value: 1 }]);
});

t.test("a step that fails leaves the store at the format before it, ready to be taken again", async (t) => {
  const store = await storeOf(1, { a: 1 }, "old");
  const [first] = steps;
  const failing: MigrationStep = () => {
    throw new Error("no room");
  };
  await t.rejects(migrate(store, { ...options, steps: first === undefined ? [] : [first, failing] }), /no room/);
  t.equal(store.reading.get(FORMAT), 2);
  t.same(rowsOf(store), [{ key: ["middle", "a"], value: 2 }]);
  await migrate(store, options);
  t.same(rowsOf(store), [{ key: ["new", "a"], value: "2" }]);
});

t.test("who opens an old store for reading leaves it old; a newer one is refused to readers too", async (t) => {
  const old = await storeOf(1, { a: 1 }, "old");
  await migrate(old, { ...options, readOnly: true });
  t.equal(old.reading.get(FORMAT), 1);
  const newer = await storeOf(4, {}, "new");
  for (const readOnly of [true, false]) {
    await t.rejects(migrate(newer, { ...options, readOnly }), {
      code: "newer-format",
      message: "the store in /data has format 4, this release reads up to 3: use a newer release",
    });
  }
});
