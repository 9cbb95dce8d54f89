import t from "tap";
import { CoverTrace, coveredVersion, durableVersion } from "../../../runtime/rows/covered-reading.js";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { Overlay } from "../../../runtime/turns/overlay.js";
import { rowSpace } from "../../../storage/keys.js";
import type { Change, Key, Reading } from "../../../storage/store.js";

const durable: Reading = { get: () => undefined, range: () => [] };
const toCache = () => new RowCache(durable, { tables: ["lines"], freezes: false });
const line: Key = ["ws_1", rowSpace, "lines", "1"];
const put = (key: Key): Change => ({ op: "put", key, value: {} });

function toBatch(...changes: Change[]): Overlay {
  const batch = new Overlay();
  for (const change of changes) batch.set(change);
  return batch;
}

t.test(
  "a partition's version changes with its own covered rows, and is unknown while some are committed",
  async (t) => {
    const cache = toCache();
    const versions = () => ["ws_1", "ws_2"].map((partition) => coveredVersion(cache, partition));
    const before = versions();
    t.same(versions(), before);
    cache.committing(toBatch(put(line)));
    t.same(versions(), [null, before[1]], "it may be durable or not");
    cache.flushed();
    cache.applied([put(line)], "here");
    const after = versions();
    t.not(after[0], before[0]);
    t.equal(after[1], before[1]);
    const task = put(["ws_1", rowSpace, "tasks", "1"]);
    cache.committing(toBatch(task));
    t.same(versions(), after, "rows of other tables change nothing");
    cache.flushed();
    cache.applied([task], "here");
    t.same(versions(), after);
    t.equal(coveredVersion(durable, "ws_1"), null, "another reading knows none");
  },
);

t.test(
  "while a batch is being committed, durable rows have the version of before until it may be durable",
  async (t) => {
    const rows = new Map<Key | undefined, unknown>([[line, { name: "before" }]]);
    const other: Key = ["ws_1", rowSpace, "lines", "2"];
    const reading: Reading = { ...durable, get: <Value>(key: Key) => rows.get(key) as Value | undefined };
    const cache = new RowCache(reading, { tables: ["lines"], freezes: false });
    const before = durableVersion(cache, "ws_1");
    t.type(before, "number");
    t.equal(before, coveredVersion(cache, "ws_1"));
    const changes: Change[] = [
      { op: "put", key: line, value: { name: "after" } },
      { op: "remove", key: other },
    ];
    cache.committing(toBatch(...changes));
    t.equal(durableVersion(cache, "ws_1"), before, "one of its rows is not as it writes them");
    t.equal(coveredVersion(cache, "ws_1"), null, "who sees what is not durable knows none");
    rows.set(line, { name: "after" });
    t.equal(durableVersion(cache, "ws_1"), null, "all are");
    cache.flushed();
    cache.applied(changes, "here");
    t.not(durableVersion(cache, "ws_1"), before);
    t.equal(durableVersion(cache, "ws_1"), coveredVersion(cache, "ws_1"));
    t.equal(durableVersion(durable, "ws_1"), null, "another reading knows none");
  },
);

t.test("a row that cannot be read does not say whether a batch is durable", async (t) => {
  const damaged = () => {
    throw new Error("canary");
  };
  const cache = new RowCache({ ...durable, get: damaged }, { tables: ["lines"], freezes: false });
  cache.committing(toBatch(put(line)));
  t.equal(durableVersion(cache, "ws_1"), null);
});

t.test("a group's version changes with its own rows alone", async (t) => {
  const cache = new RowCache(durable, { tables: ["things"], freezes: false });
  const findVersion = (group: string) => coveredVersion(cache, "ws_1", group);
  const thing = (partition: string, ...id: string[]) => put([partition, rowSpace, "things", ...id]);
  const before = findVersion("token");
  cache.applied([thing("ws_1", "secret", "1"), thing("ws_2", "token", "1"), thing("ws_1", "token")], "here");
  t.equal(findVersion("token"), before, "neither another group's, nor another partition's, nor a row in no group");
  cache.applied([thing("ws_1", "token", "1")], "here");
  t.not(findVersion("token"), before);
  cache.committing(toBatch(thing("ws_1", "token", "1")));
  t.equal(findVersion("token"), null);
  cache.flushed();
  const seen = new Set([before, findVersion("token")]);
  for (let n = 0; n < 20_000; n++) {
    if (n % 4_000 === 0) {
      cache.applied([thing("ws_1", "token", "1")], "here");
      t.notOk(seen.has(findVersion("token")), "however many groups there are, none gets a version back that it had");
      seen.add(findVersion("token"));
    }
    cache.applied([thing("ws_1", `kind-${n}`, "1")], "here");
  }
});

t.test("however many partitions change, none gets a version back that it had", async (t) => {
  const cache = toCache();
  const seen = new Set<number | null>();
  for (let n = 0; n < 20_000; n++) {
    if (n % 4_000 === 0) {
      cache.applied([put(line)], "here");
      t.notOk(seen.has(coveredVersion(cache, "ws_1")));
      seen.add(coveredVersion(cache, "ws_1"));
    }
    cache.applied([put([`ws_${n + 2}`, rowSpace, "lines", "1"])], "here");
  }
});

t.test("a trace notices what is read beside covered rows of its partition", async (t) => {
  const traced = (read: (reading: Reading) => void, reading: Reading = toCache()) => {
    const trace = new CoverTrace(reading, "ws_1");
    read(trace);
    return trace.isCovered;
  };
  const toLines = (partition: string) => ({ prefix: [partition, rowSpace, "lines"] });
  t.ok(traced((reading) => [reading.get(line), reading.range(toLines("ws_1"))]));
  t.notOk(traced((reading) => reading.get(["ws_1", rowSpace, "tasks", "1"])));
  t.notOk(traced((reading) => reading.range({ prefix: ["ws_1", rowSpace] })));
  t.notOk(traced((reading) => reading.range(toLines("ws_2"))));
  t.notOk(traced((reading) => [reading.get(["ws_2", rowSpace, "lines", "1"]), reading.get(line)]));
  t.notOk(
    traced((reading) => reading.get(line), durable),
    "nobody knows when its rows change",
  );
});
