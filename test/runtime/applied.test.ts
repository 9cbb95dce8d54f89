import t from "tap";
import { cellKey } from "../../runtime/cells/cell-record.js";
import { feedKey } from "../../runtime/feeds/feed.js";
import { topic } from "../../runtime/feeds/topic.js";
import type { RowView } from "../../runtime/rows/row-view.js";
import type { FeedEntry } from "../../runtime/runtime.js";
import type { Change } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { Harness, partition } from "../support/harness.js";
import { type Note, probe } from "../support/probe.js";

const things = table<{ readonly n: number }>("thing");

const sum: RowView<{ total: number }> = {
  rows: [["thing"]],
  build: (reading, self) => ({ total: things.list(reading, self.partition).reduce((all, { n }) => all + n, 0) }),
};

const owner = probe(
  "owner",
  {
    put: ({ puts }, { id, n }, turn) => {
      turn.rowView(sum).total += Number(n) - (things.get(turn, partition, String(id))?.n ?? 0);
      things.put(turn, partition, String(id), { n: Number(n) });
      turn.publishChange(topic<unknown>("thing")("1"), n);
      return { puts: Number(puts ?? 0) + 1 };
    },
    total: ({ puts }, _message, turn) => turn.reply({ total: turn.rowView(sum).total, puts: puts ?? 0 }),
  },
  { rowViews: [sum] },
);

/** Starts a runtime and fills all of its caches. */
async function warm() {
  const harness = new Harness({ catalogue: { actors: [owner] }, cachedTables: [things.name] });
  const runtime = await harness.start();
  const ask = (type: string, more: object = {}) => harness.ask(harness.to("owner"), { type, ...more } as Note);
  await ask("put", { id: "a", n: 1 });
  await ask("put", { id: "b", n: 2 });
  t.same(await ask("total"), { total: 3, puts: 2 });
  t.same(things.get(runtime.reading, partition, "a"), { n: 1 });
  t.equal(things.list(runtime.reading, partition).length, 2);
  /** Writes a batch into the store as if another node had committed it, and reports the batch to the runtime. */
  const lay = async (changes: readonly Change[]) => {
    const committed = harness.disk.open().commit(changes);
    await harness.advance();
    await committed;
    runtime.applied(changes);
  };
  return { harness, runtime, ask, lay };
}

t.test("after a batch of another node every cache says what its rows say", async (t) => {
  const { harness, runtime, ask, lay } = await warm();
  const entry: FeedEntry = { seq: 3, topic: "thing/1", data: "theirs" };
  const state = { value: "here", context: { puts: 40 } };
  await lay([
    { op: "put", key: things.key(partition, "a"), value: { n: 10 } },
    { op: "remove", key: things.key(partition, "b") },
    { op: "put", key: things.key(partition, "c"), value: { n: 5 } },
    { op: "put", key: cellKey(harness.to("owner")), value: { version: 1, state } },
    { op: "put", key: feedKey(partition, 3), value: [entry] },
  ]);
  t.same(things.get(runtime.reading, partition, "a"), { n: 10 }, "a row");
  t.equal(things.get(runtime.reading, partition, "b"), undefined);
  t.same(
    things.list(runtime.reading, partition).map(({ n }) => n),
    [10, 5],
    "a range",
  );
  t.same(await ask("total"), { total: 15, puts: 40 }, "a row view, and the actor's state");
  t.equal(runtime.feed.lastSeq(partition), 3, "the feed");
  await ask("put", { id: "d", n: 1 });
  const entries = runtime.feed.since(partition, "thing/1", 2);
  t.same(entries, [entry, { seq: 4, topic: "thing/1", data: 1 }], "whose numbers go on");
  t.same(harness.fatal, []);
});

t.test("rows alone drop the row view of an actor that goes on", async (t) => {
  const { ask, lay } = await warm();
  await lay([{ op: "put", key: things.key(partition, "a"), value: { n: 10 } }]);
  t.same(await ask("total"), { total: 12, puts: 2 });
});

t.test("an actor that runs here and is written elsewhere, too, stops the runtime", async (t) => {
  const { harness, runtime } = await warm();
  const asked = runtime.ask(harness.to("owner"), { type: "total" }).catch((error: Error) => error);
  runtime.applied([{ op: "put", key: cellKey(harness.to("owner")), value: { version: 1 } }]);
  t.match(harness.fatal, [{ message: /owner\/1 runs here and was written elsewhere/ }]);
  await harness.advance();
  t.match(await asked, { name: "Stopping" });
});
