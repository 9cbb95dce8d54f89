import t from "tap";
import { ConcurrencyLimit } from "../../../http/limits/concurrency-limit.js";

t.test("who has as many as it may leaves room for others, and gets one more when one ends", async (t) => {
  const limit = new ConcurrencyLimit({ each: 2, all: 5 });
  const flood = Array.from({ length: 100 }, () => limit.begin("flood"));
  t.equal(flood.filter((end) => end !== null).length, 2);
  t.not(limit.begin("quiet"), null);
  flood[0]?.();
  t.not(limit.begin("flood"), null);
  t.equal(limit.begin("flood"), null);
});

t.test("everybody together has a bound", async (t) => {
  const limit = new ConcurrencyLimit({ each: 2, all: 3 });
  const begun = ["a", "b", "c", "d"].map((who) => limit.begin(who));
  t.same(
    begun.map((end) => end !== null),
    [true, true, true, false],
  );
  begun[1]?.();
  t.not(limit.begin("d"), null);
});
