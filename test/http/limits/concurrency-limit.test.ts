import t from "tap";
import { ConcurrencyLimit } from "../../../http/limits/concurrency-limit.js";

t.test("who has as many as it may leaves room for others, and gets one more when one ends", async (t) => {
  const limit = new ConcurrencyLimit({ each: 2, workspace: 5, all: 5 });
  const flood = Array.from({ length: 100 }, () => limit.begin("flood", "ws_1"));
  t.equal(flood.filter((end) => end !== null).length, 2);
  t.not(limit.begin("quiet", "ws_1"), null);
  flood[0]?.();
  t.not(limit.begin("flood", "ws_1"), null);
  t.equal(limit.begin("flood", "ws_1"), null);
});

t.test("everybody together has a bound", async (t) => {
  const limit = new ConcurrencyLimit({ each: 2, workspace: 3, all: 3 });
  const begun = ["a", "b", "c", "d"].map((who) => limit.begin(who, `ws_${who}`));
  t.same(
    begun.map((end) => end !== null),
    [true, true, true, false],
  );
  begun[1]?.();
  t.not(limit.begin("d", "ws_d"), null);
});

t.test("many callers of one workspace leave room for other workspaces", async (t) => {
  const limit = new ConcurrencyLimit({ each: 2, workspace: 3, all: 5 });
  const flood = Array.from({ length: 100 }, (_, n) => limit.begin(`tok_${n}`, "ws_1"));
  t.equal(flood.filter((end) => end !== null).length, 3);
  t.not(limit.begin("tok_other", "ws_2"), null);
  t.not(limit.begin("tok_0", "ws_2"), null, "the same caller in another workspace");
  t.equal(limit.begin("tok_last", "ws_1"), null);
  flood[0]?.();
  t.not(limit.begin("tok_last", "ws_1"), null);
});
