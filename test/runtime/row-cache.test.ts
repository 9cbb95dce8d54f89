import t from "tap";
import { RowCache } from "../../runtime/row-cache.js";
import { rowSpace } from "../../storage/keys.js";
import type { Key, Range, Reading } from "../../storage/store.js";

/** A cache over rows that all exist, and the keys that it read of them. */
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
  cache.applied([{ op: "remove", key: [...prefix, "1"] }]);
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
