import t from "tap";
import { RowCache } from "../../runtime/row-cache.js";
import { rowSpace } from "../../storage/keys.js";
import type { Key, Reading } from "../../storage/store.js";

/** A cache over rows that all exist, and the keys that it read of them. */
function arrange() {
  const read: Key[] = [];
  const durable: Reading = {
    get: <Value>(key: Key) => {
      read.push(key);
      return { id: String(key[3]) } as Value;
    },
    range: () => [],
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
