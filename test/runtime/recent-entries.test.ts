import t from "tap";
import { createRecentEntries } from "../../runtime/recent-entries.js";

t.test("beyond its limit a cache evicts the least recently used entry", async (t) => {
  const cache = createRecentEntries<true>(2);
  cache.set("a", true);
  cache.set("b", true);
  cache.get("a");
  cache.set("c", true);
  t.same([...cache.keys()].sort(), ["a", "c"]);
  cache.set("c", true);
  t.equal(cache.size, 2, "an entry that is set again counts once");
});
