import t from "tap";
import { ChangeFeed, feedKey, listStoredEntries } from "../../../runtime/feeds/feed.js";
import { topic } from "../../../runtime/feeds/topic.js";
import type { FeedEntry } from "../../../runtime/runtime.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change } from "../../../storage/store.js";
import { Harness, partition } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";

const writer = probe("writer", {
  write: (_context, { topics }, turn) => {
    for (const topic of topics as string[]) turn.publishChange({ name: topic }, { topic, at: turn.now });
  },
});

/** An actor that publishes one change per row key. For an empty key, it publishes a change of another topic. */
const putter = probe("putter", {
  put: (_context, { puts }, turn) => {
    for (const [row, data] of puts as [string, unknown][]) {
      if (row === "") turn.publishChange(topic<unknown>("other")("1"), data);
      else turn.publishRow([partition, "row", "thing", row], null, () => [{ topic: `thing/${row}`, data }]);
    }
  },
});

async function started(feedEntries = 100, feedBytes = 1_000_000) {
  const harness = new Harness({ catalogue: { actors: [writer] }, limits: { feedEntries, feedBytes } });
  await harness.start();
  const write = (...topics: string[]) => harness.ask(harness.to("writer"), { type: "write", topics } as Note);
  return { harness, write };
}

function seqs(entries: readonly FeedEntry[] | "too-old"): readonly number[] | "too-old" {
  return entries === "too-old" ? entries : entries.map(({ seq }) => seq);
}

t.test("a partition's numbers rise without a gap, across crashes", async (t) => {
  const { harness, write } = await started();
  await write("task/1", "task/2");
  harness.crash();
  await harness.start();
  await write("task/1");
  t.same(seqs(listStoredEntries(harness.durable, partition)), [1, 2, 3]);
  t.equal(harness.runtime.feed.lastSeq(partition), 3);
  t.equal(harness.runtime.feed.lastSeq("ws_other"), 0);
});

t.test("what a row is now is said once a turn, where it was put last", async (t) => {
  const harness = new Harness({ catalogue: { actors: [putter] } });
  await harness.start();
  const put = (...puts: [string, unknown][]) => harness.ask(harness.to("putter"), { type: "put", puts } as Note);
  await put(["a", 1], ["", "first"], ["b", 2], ["a", 3], ["", "last"]);
  await put(["a", 4]);
  const told = listStoredEntries(harness.durable, partition).map(({ seq, topic, data }) => [seq, topic, data]);
  t.same(told, [
    [1, "other/1", "first"],
    [2, "thing/b", 2],
    [3, "thing/a", 3],
    [4, "other/1", "last"],
    [5, "thing/a", 4],
  ]);
});

t.test("entries are heard by topic, in order, after their flush and until it is ended", async (t) => {
  const { harness, write } = await started();
  const heard: number[] = [];
  const hear = ({ seq }: FeedEntry): void => void heard.push(seq);
  const end = harness.runtime.feed.listen(partition, "task/1", hear);
  const endSecond = harness.runtime.feed.listen(partition, "task/1", hear);
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  const written = write("task/1", "task/2", "task/1").catch(() => undefined);
  await harness.advance();
  t.same(heard, []);
  release();
  await harness.advance();
  await written;
  t.same(heard, [1, 1, 3, 3]);
  endSecond();
  await write("task/1");
  end();
  end();
  await write("task/1");
  t.same(heard, [1, 1, 3, 3, 4]);
});

t.test("a reader resumes after what it saw last, or is told that this is too old", async (t) => {
  const { harness, write } = await started(4);
  const { feed } = harness.runtime;
  t.same(feed.since(partition, "task/1", 0), [], "an empty feed has nothing to miss");
  await write("task/1", "task/2", "task/1");
  t.same(seqs(feed.since(partition, "task/1", 0)), [1, 3]);
  t.same(seqs(feed.since(partition, "task/1", 1)), [3]);
  t.same(seqs(feed.since(partition, "task/1", 3)), []);
  t.equal(feed.since(partition, "task/1", 4), "too-old", "ahead of what is there");
  for (const topic of ["task/2", "task/2", "task/2"]) await write(topic);
  t.same(
    seqs(listStoredEntries(harness.durable, partition)),
    [1, 2, 3, 4, 5, 6],
    "entry 3 is kept, with those in its row",
  );
  await write("task/2");
  t.same(seqs(listStoredEntries(harness.durable, partition)), [4, 5, 6, 7], "older ones are not kept");
  t.equal(feed.since(partition, "task/2", 2), "too-old");
  t.same(seqs(feed.since(partition, "task/2", 3)), [4, 5, 6, 7]);
  await write(...Array<string>(100).fill("task/3"));
  t.same(seqs(feed.since(partition, "task/3", 103)), [104, 105, 106, 107]);
  t.equal(feed.since(partition, "task/3", 6), "too-old");
  t.ok(listStoredEntries(harness.durable, partition).length <= 4 + 32, "a row more than what is kept at most");
});

t.test("a process goes on trimming the rows of the one before it", async (t) => {
  const { harness, write } = await started(50);
  for (let n = 0; n < 60; n++) await write("task/1");
  harness.crash();
  await harness.start();
  for (let n = 60; n < 170; n++) await write("task/1");
  t.same(
    seqs(listStoredEntries(harness.durable, partition)),
    Array.from({ length: 50 }, (_, n) => n + 121),
  );
});

t.test("where a feed stands is remembered for a bounded number of partitions only", async (t) => {
  const store = createMemoryStore();
  const feed = new ChangeFeed(store.reading, { entries: 10, bytes: 1_000 });
  const changes: Change[] = [];
  const entries = Array.from({ length: 10_001 }, (_, n) => feed.append(`ws_${n}`, "a/1", n, 1));
  feed.write(entries, changes);
  await store.commit(changes);
  feed.trimMemory(0);
  feed.trimMemory(1);
  t.equal(feed.append("ws_5", "a/1", 5, 2).entry.seq, 2, "and is read again");
});

t.test("a feed is bounded by bytes too, across crashes, and its last entry stays", async (t) => {
  const { harness, write } = await started(100, 2_000);
  const kept = () => listStoredEntries(harness.durable, partition);
  const weight = () => kept().reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
  for (let n = 0; n < 60; n++) {
    await write(`task/${"x".repeat(100)}`);
    if (n % 20 !== 10) continue;
    harness.crash();
    await harness.start();
  }
  t.ok(weight() > 1_000 && weight() <= 3_000, `${weight()} characters are kept`);
  t.equal(kept().at(-1)?.seq, 60);
  await write(`task/${"x".repeat(5_000)}`);
  t.same(seqs(kept()), [61], "one that is more than all stays alone");
  await write("task/1");
  t.same(seqs(kept()), [62]);
  t.equal(harness.runtime.feed.since(partition, "task/1", 60), "too-old");
});

t.test("rows of an earlier release, which have no weight, go with the next that are written", async (t) => {
  const store = createMemoryStore();
  const row = (seq: number) => [{ seq, topic: "a/1", data: "x".repeat(1_000) }];
  const rows = Array.from(
    { length: 50 },
    (_, n): Change => ({ op: "put", key: feedKey("ws_1", n + 1), value: row(n + 1) }),
  );
  await store.commit(rows);
  const feed = new ChangeFeed(store.reading, { entries: 100, bytes: 1_000_000 });
  for (let batch = 1; batch <= 3; batch++) {
    const changes: Change[] = [];
    feed.write([feed.append("ws_1", "a/1", batch, batch)], changes);
    await store.commit(changes);
  }
  t.same(seqs(listStoredEntries(store.reading, "ws_1")), [51, 52, 53]);
});

t.test("the bytes of a feed's texts count, not their characters", async (t) => {
  const harness = new Harness({ catalogue: { actors: [putter] }, limits: { feedBytes: 20_000 } });
  await harness.start();
  for (let n = 0; n < 30; n++) {
    await harness.ask(harness.to("putter"), { type: "put", puts: [["", "\u6f22".repeat(600)]] } as Note);
  }
  const kept = listStoredEntries(harness.durable, partition);
  t.ok(Buffer.byteLength(JSON.stringify(kept)) < 22_000);
  t.equal(kept.at(-1)?.seq, 30);
});

t.test("the size of measured feeds follows what is written and trimmed", async (t) => {
  const { harness, write } = await started(4);
  await write("task/1", "task/2");
  t.equal(harness.runtime.stats().feedBytes, 0, "nothing is measured unasked");
  harness.runtime.feed.measure(partition);
  const first = harness.runtime.stats().feedBytes;
  t.ok(first > 0);
  await write("task/3", "task/4");
  t.equal(harness.runtime.stats().feedBytes, 2 * first);
  for (let index = 0; index < 10; index++) await write("task/5", "task/6");
  t.equal(harness.runtime.stats().feedBytes, 2 * first, "what is trimmed no longer counts");
  harness.crash();
  await harness.start();
  harness.runtime.feed.measure(partition);
  t.equal(harness.runtime.stats().feedBytes, 2 * first, "a later process measures the same");
});
