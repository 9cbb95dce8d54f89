import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { referringTables, tables } from "../../../actors/catalogue.js";
import { type RecountFinding, recountAllBlobs, recountBlobs } from "../../../actors/tables/blob-recount.js";
import { blobSweeperActor } from "../../../actors/tables/blob-sweeper.machine.js";
import { UNUSED_MS } from "../../../actors/tables/blobs.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Key, Store, Writing } from "../../../storage/store.js";
import { Harness, partition } from "../../support/harness.js";
import { desk, papers, startMs, toDigest } from "../../support/papers.js";
import { readProduct } from "../../support/source-code.js";

const options = { referring: [papers], nowMs: startMs };

const toUse = (text: string): Key => [partition, "row", "blob-use", toDigest(text)];
const readBody = (text: string): Key => [partition, "row", "blob", toDigest(text)];
const toUnused = (text: string, sinceMs: number): Key => [partition, "row", "blob-unused", sinceMs, toDigest(text)];

const all = (rows: Writing) => rows.range({ prefix: [] });

/** Returns a store with these rows. */
async function readStore(rows: Writing): Promise<Store> {
  const store = createMemoryStore();
  await store.commit(all(rows).map(({ key, value }): Change => ({ op: "put", key, value })));
  return store;
}

async function recount(store: Store): Promise<RecountFinding[]> {
  const findings: RecountFinding[] = [];
  for await (const finding of recountAllBlobs(store, options)) findings.push(finding);
  return findings;
}

/** Writes two papers. Both papers use `one`, one paper uses `two`, and no paper uses `old` any more. */
function filed(): Writing {
  const { rows, write } = desk();
  write("a", ["one", "old"]);
  write("b", ["one", "two"]);
  write("a", ["one"]);
  return rows;
}

t.test("counts that are right are left, and nothing is written", async (t) => {
  const rows = filed();
  rows.put([partition, "actor", "blob-sweeper", "unused"], { version: 1 });
  const store = await readStore(rows);
  let commits = 0;
  const counting = {
    ...store,
    reading: store.reading,
    commit: async () => {
      commits += 1;
    },
  };
  t.same([await recount(counting), commits], [[], 0]);
});

t.test("one that is too high, too low, or missing is put right, and told with what stood", async (t) => {
  const rows = filed();
  const right = all(rows);
  const since = { unusedSinceMs: null };
  rows.put(toUse("one"), { count: 5, ...since });
  rows.put(toUse("old"), { count: 1, ...since });
  rows.remove(toUnused("old", startMs));
  rows.remove(toUse("two"));
  rows.put(toUse("nothing"), { count: 2, ...since });
  const store = await readStore(rows);
  const found = await recount(store);
  const told = new Map(found.map(({ digest, counted, rows }) => [digest, [counted, rows]]));
  const wanted = { one: [5, 2], two: [null, 1], old: [1, 0], nothing: [2, 0] };
  t.same(told, new Map(Object.entries(wanted).map(([text, counts]) => [toDigest(text), counts])));
  t.ok(found.every(({ workspaceId, isMissing }) => workspaceId === partition && !isMissing));
  const rowsOnly = store.reading.range({ prefix: [partition, "row"] });
  t.same(rowsOnly, right);
  t.same(await recount(store), [], "and a second one finds nothing");
});

t.test("one counted too low is put right before its body goes", async (t) => {
  const { rows, write, remove } = desk();
  for (const id of ["a", "b"]) write(id, ["one"]);
  rows.put(toUse("one"), { count: 1, unusedSinceMs: null });
  remove("a");
  const store = await readStore(rows);
  t.match(await recount(store), [
    { counted: 0, rows: 1 },
    { counted: 1, rows: 1 },
  ]);
  t.same(store.reading.get(toUse("one")), { count: 1, unusedSinceMs: null });
  t.same(store.reading.range({ prefix: [partition, "row", "blob-unused"] }), []);
});

t.test("a body that rows refer to and that is not there is told each time, its count put right", async (t) => {
  const rows = filed();
  rows.remove(readBody("one"));
  rows.remove(toUse("one"));
  const store = await readStore(rows);
  t.match(await recount(store), [{ digest: toDigest("one"), counted: null, rows: 2, isMissing: true }]);
  t.match(await recount(store), [{ digest: toDigest("one"), counted: 2, rows: 2, isMissing: true }]);
});

t.test("whatever became of the rows about bodies, they are made again from the rows that refer", async () => {
  const deed = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    texts: fc.option(fc.array(fc.constantFrom("one", "two", "three"), { maxLength: 3 })),
  });
  const harm = fc.record({ at: fc.nat(20), how: fc.constantFrom("gone", "moved", "more") });
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 12 }), fc.array(harm, { maxLength: 4 }), (deeds, harms) => {
      const { rows, write, remove } = desk();
      for (const { id, texts } of deeds) texts === null ? remove(id) : write(id, texts);
      const right = all(rows);
      for (const { at, how } of harms) spoil(rows, at, how);
      for (const { changes } of recountBlobs(rows, partition, options)) {
        for (const change of changes) {
          if (change.op === "put") rows.put(change.key, change.value);
          else rows.remove(change.key);
        }
      }
      assert.deepEqual(all(rows), right);
    }),
    { numRuns: 200 },
  );
});

/** Corrupts a row about a body. All bodies became unused at `startMs`, so a recount restores exactly this time. */
function spoil(rows: Writing, at: number, how: "gone" | "moved" | "more"): void {
  const about = ["blob-use", "blob-unused"].flatMap((table) => rows.range({ prefix: [partition, "row", table] }));
  const row = about[at % Math.max(1, about.length)];
  if (how === "more") rows.put(toUse("nothing"), { count: at, unusedSinceMs: null });
  if (row === undefined || how === "more") return;
  const isUse = row.key[2] === "blob-use";
  if (how === "gone") rows.remove(row.key);
  else if (isUse) rows.put(row.key, { count: at, unusedSinceMs: null });
  else rows.put([...row.key.slice(0, 3), startMs + 1 + at, ...row.key.slice(4)], true);
}

t.test("what nobody knew to be unused goes a day after the service starts", async (t) => {
  const { rows, write } = desk();
  write("a", ["one"]);
  rows.remove([partition, "row", "paper", "a"]);
  const harness = new Harness({ catalogue: { actors: [blobSweeperActor] } });
  const store = harness.disk.open();
  const filled = store.commit(all(rows).map(({ key, value }): Change => ({ op: "put", key, value })));
  await harness.advance();
  await filled;
  const recounted = recount(store);
  await harness.advance();
  t.match(await recounted, [{ counted: 1, rows: 0 }]);
  await harness.start();
  await harness.advance(UNUSED_MS - 10_000);
  t.ok(harness.durable.get(readBody("one")));
  await harness.advance(20_000);
  t.equal(harness.durable.get(readBody("one")), undefined);
});

t.test("every table that refers to bodies is in the catalogue", async (t) => {
  const declared = readProduct(".")
    .filter(({ path }) => path.startsWith("actors/"))
    .flatMap(({ tree }) => [
      ...tree.text.matchAll(/\bconst \w+ = indexedTable<[^;]*?>\(\s*"([\w-]+)"[^;]*?\bblobs:[^;]*?;/gs),
    ])
    .map(([, name = ""]) => name);
  t.same(
    tables
      .filter(({ hasBodies }) => hasBodies)
      .map(({ name }) => name)
      .sort(),
    declared.sort(),
  );
  t.equal(referringTables.length, declared.length);
});
