import t from "tap";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { Overlay } from "../../../runtime/turns/overlay.js";
import { rowSpace } from "../../../storage/keys.js";
import type { Change, Key, Range, Reading } from "../../../storage/store.js";

/**
 * Creates a cache on a store in which every row exists. `read` records the keys that the cache reads from the store.
 */
function arrange() {
  const read: Key[] = [];
  const durable: Reading = {
    get: <Value>(key: Key) => {
      read.push(key);
      return { id: String(key[3]) } as Value;
    },
    range: <Value>({ prefix, limit = 300 }: Range) => {
      read.push(prefix);
      const value = { text: "x".repeat(prefix.includes("long") ? 400 : 20) } as Value;
      return Array.from({ length: Math.min(limit, 300) }, (_, n) => ({ key: [...prefix, String(n)], value }));
    },
  };
  return { cache: new RowCache(durable, { tables: ["tokens", "lines"], freezes: false }), read };
}

t.test("a workspace that reads more rows than are held drops rows of its own", async (t) => {
  const { cache, read } = arrange();
  const quiet: Key = ["ws_quiet", rowSpace, "tokens", "1"];
  const flood = (n: number): Key => ["ws_flood", rowSpace, "tokens", String(n)];
  cache.get(quiet);
  for (let n = 0; n < 10_000; n++) cache.get(flood(n));
  read.length = 0;
  t.same(cache.get(quiet), { id: "1" });
  t.same(read, [], "the quiet one's row is still held");
  cache.get(flood(0));
  t.same(read, [flood(0)]);
});

t.test("the beginning of a range serves what asks for no more of it", async (t) => {
  const { cache, read } = arrange();
  const prefix: Key = ["ws_1", rowSpace, "tokens", "kind"];
  const count = (limit?: number) => cache.range({ prefix, ...(limit === undefined ? {} : { limit }) }).length;
  t.same([count(200), count(200), count(10)], [200, 200, 10]);
  t.equal(read.length, 1);
  t.same([count(201), count(201), read.length], [201, 201, 2], "there may be more");
  t.same([count(301), count(), count(1_000), read.length], [300, 300, 300, 3], "these are all");
  cache.applied([{ op: "remove", key: [...prefix, "1"] }], "here");
  t.same([count(10), read.length], [10, 4], "one of them changed");
});

t.test("ranges have a bound in bytes, one by one and together", async (t) => {
  const { cache, read } = arrange();
  const ask = (workspace: string, kind: string, limit: number) =>
    void cache.range({ prefix: [workspace, rowSpace, "tokens", kind], limit });
  for (const _ of [1, 2]) ask("ws_1", "long", 300);
  t.equal(read.length, 2, "too long to be held");
  ask("ws_1", "small", 1);
  ask("ws_2", "small", 1);
  for (let n = 0; n < 40; n++) ask("ws_1", `kind-${n}`, 200);
  read.length = 0;
  ask("ws_2", "small", 1);
  t.same(read, [], "another workspace's are held");
  ask("ws_1", "kind-39", 200);
  t.same(read, [], "and the latest");
  ask("ws_1", "small", 1);
  t.equal(read.length, 1);
});

/** Commits a batch of these changes. With `isUnderWay`, the commit does not finish. */
function commit(cache: RowCache, changes: readonly Change[], isUnderWay = false): void {
  const batch = new Overlay();
  for (const change of changes) batch.set(change);
  cache.committing(batch);
  if (isUnderWay) return;
  cache.flushed();
  cache.applied(changes, "here");
}

t.test("what the last batch wrote is read without the store, of any table", async (t) => {
  const { cache, read } = arrange();
  const task: Key = ["ws_1", rowSpace, "tasks", "1"];
  const gone: Key = ["ws_1", rowSpace, "tasks", "2"];
  const record: Key = ["ws_1", "cell", "task", "1"];
  const body: Key = ["ws_1", rowSpace, "bodies", "1"];
  const value = { state: "done" };
  commit(cache, [
    { op: "put", key: task, value },
    { op: "remove", key: gone },
    { op: "put", key: record, value },
    { op: "put", key: body, value: Buffer.from("x") },
  ]);
  t.same([cache.get(task), cache.get(gone), read.length], [value, undefined, 0]);
  cache.get(record);
  cache.get(body);
  t.same(read, [record, body], "records of actors and bodies are not held");
});

t.test("a row is held until another batch may have written it, or is durable", async (t) => {
  const { cache, read } = arrange();
  const task: Key = ["ws_1", rowSpace, "tasks", "1"];
  const other: Key = ["ws_1", rowSpace, "tasks", "2"];
  const put = (key: Key): Change => ({ op: "put", key, value: { id: "written" } });
  const isHeld = (key: Key) => {
    read.length = 0;
    cache.get(key);
    return read.length === 0;
  };
  commit(cache, [put(task), put(other)]);
  commit(cache, [put(other)], true);
  t.same([isHeld(task), isHeld(other)], [true, false], "a batch under way is durable or not");
  cache.flushed();
  t.same([isHeld(task), isHeld(other)], [false, true], "only the last batch is held");
  cache.applied([put(other)], "elsewhere");
  t.notOk(isHeld(other), "another node wrote it");
});
