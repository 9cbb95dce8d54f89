import t from "tap";
import { type ReadView, readView } from "../../../runtime/rows/read-view.js";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { Overlay } from "../../../runtime/turns/overlay.js";
import { Overlays } from "../../../runtime/turns/overlays.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { Harness, partition } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";

const counts = table<number>("count");
const rules = table<number>("rule");

interface Held {
  readonly counts: Map<string, number>;
  readonly rule: number | undefined;
}

/** Creates a view of the counts and of one kind of rules. `builds` is the number of times that the view was built. */
function counting() {
  const view: ReadView<Held> & { builds: number } = {
    builds: 0,
    rows: [["count"], ["rule", "a"]],
    build: (reading, partition) => {
      view.builds += 1;
      const entries = counts.entries(reading, partition).map(({ key, value }) => [String(key[3]), value] as const);
      return { counts: new Map(entries), rule: rules.get(reading, partition, "a", 1) };
    },
    apply: (held, change) => {
      if (change.key[2] !== counts.name) return false;
      const count = counts.toRow(change);
      if (count === undefined) held.counts.delete(String(change.key[3]));
      else held.counts.set(String(change.key[3]), count);
      if (count === 13) throw new Error("on purpose");
      return true;
    },
  };
  return view;
}

function count(id: string, value: number, where = partition): Change {
  return { op: "put", key: counts.key(where, id), value };
}

function rule(kind: string, value: number): Change {
  return { op: "put", key: rules.key(partition, kind, 1), value };
}

function shown(reading: Reading, view: ReadView<Held>, where = partition) {
  const held = readView(reading, view, where);
  return { ...Object.fromEntries(held.counts), ...(held.rule === undefined ? {} : { rule: held.rule }) };
}

/** Opens a reading on a store. Also returns functions that commit to the store step by step. */
async function opened(...changes: readonly Change[]) {
  const store = createMemoryStore();
  await store.commit(changes);
  const reading = new RowCache(store.reading, { tables: [], freezes: true });
  const begin = (batch: readonly Change[]) => {
    const overlay = new Overlay();
    for (const change of batch) overlay.set(change);
    reading.committing(overlay);
  };
  const end = (batch: readonly Change[]) => {
    reading.flushed();
    reading.applied(batch, "here");
  };
  const commit = async (...batch: readonly Change[]) => {
    begin(batch);
    await store.commit(batch);
    end(batch);
  };
  return { store, reading, begin, end, commit };
}

t.test("a view is built with the first read and then follows what becomes durable", async (t) => {
  const view = counting();
  const { reading, commit } = await opened(count("a", 1), rule("a", 7));
  t.same(shown(reading, view), { a: 1, rule: 7 });
  await commit(count("b", 2), { op: "remove", key: counts.key(partition, "a") });
  t.same(shown(reading, view), { b: 2, rule: 7 });
  await commit(rule("b", 9), count("z", 1, "ws_2"), { op: "put", key: [partition, "actor", "count", "1"], value: 5 });
  t.same(shown(reading, view), { b: 2, rule: 7 });
  t.equal(view.builds, 1);
  t.same(shown(reading, view, "ws_2"), { z: 1 });
  t.equal(view.builds, 2, "another partition has its own");
});

t.test("a batch under way is in it from the moment its rows are durable", async (t) => {
  const view = counting();
  const { store, reading, begin, end } = await opened(count("a", 1), count("same", 5));
  shown(reading, view);
  const batch = [count("same", 5), count("a", 2), count("b", 3)];
  begin(batch);
  t.same(shown(reading, view), { a: 1, same: 5 }, "not yet");
  await store.commit(batch);
  t.same(shown(reading, view), { a: 2, b: 3, same: 5 }, "although nobody has said so");
  end(batch);
  t.same(shown(reading, view), { a: 2, b: 3, same: 5 });
  begin([count("a", 4)]);
  t.same(shown(reading, view), { a: 2, b: 3, same: 5 }, "nor the next one");
  t.equal(view.builds, 1);
});

t.test("one that is built while a batch is under way follows it, whether it was durable or not", async (t) => {
  for (const isDurable of [false, true]) {
    const view = counting();
    const { store, reading, begin, end } = await opened(count("a", 1));
    const batch = [count("a", 2)];
    begin(batch);
    if (isDurable) await store.commit(batch);
    t.same(shown(reading, view), { a: isDurable ? 2 : 1 });
    if (!isDurable) await store.commit(batch);
    t.same(shown(reading, view), { a: 2 });
    end(batch);
    t.same(shown(reading, view), { a: 2 });
  }
});

t.test("a change that it cannot bring in, or throws over, has it built anew", async (t) => {
  for (const change of [rule("a", 8), count("a", 13)]) {
    const view = counting();
    const { store, reading, begin, end } = await opened(count("a", 1));
    const built = () =>
      shown({ get: (key) => store.reading.get(key), range: (range) => store.reading.range(range) }, counting());
    shown(reading, view);
    begin([change]);
    await store.commit([change]);
    t.same(shown(reading, view), built(), "under way");
    end([change]);
    t.same(shown(reading, view), built(), "and afterwards");
  }
});

t.test("a bounded number of partitions is held, those that were read last", async (t) => {
  const view = counting();
  const { reading } = await opened();
  for (let n = 0; n < 64; n++) shown(reading, view, `ws_${n}`);
  shown(reading, view, "ws_0");
  shown(reading, view, "ws_64");
  t.equal(view.builds, 65);
  shown(reading, view, "ws_0");
  t.equal(view.builds, 65, "held");
  shown(reading, view, "ws_1");
  t.equal(view.builds, 66, "let go");
});

t.test("a reading that is not of what is durable builds it each time", async (t) => {
  const view = counting();
  const { store, reading } = await opened(count("a", 1));
  const layers = new Overlays(reading);
  shown(reading, view);
  layers.put(counts.key(partition, "a"), 2);
  t.same(shown(layers, view), { a: 2 }, "in a turn");
  t.same(shown(reading, view), { a: 1 });
  const snapshot = store.view();
  await store.commit([count("a", 3)]);
  reading.applied([count("a", 3)], "here");
  t.same(shown(snapshot, view), { a: 1 }, "over a view");
  t.same(shown(reading, view), { a: 3 });
  t.equal(view.builds, 3);
});

t.test("in a runtime it follows our own batches and those of another node", async (t) => {
  const view = counting();
  const writer = probe("writer", {
    count: (_context, { id, n }, turn) => counts.put(turn, turn.self.partition, String(id), Number(n)),
  });
  const harness = new Harness({ catalogue: { actors: [writer] } });
  const { reading, applied } = await harness.start().then((runtime) => ({
    reading: runtime.reading,
    applied: (changes: readonly Change[]) => runtime.applied(changes),
  }));
  t.same(shown(reading, view), {});
  const moments: unknown[] = [];
  harness.onCommit = () => moments.push([shown(reading, view), shown({ ...harness.durable }, view)]);
  await harness.ask(harness.to("writer"), { type: "count", id: "a", n: 1 } as Note);
  t.same(moments, [
    [{}, {}],
    [{ a: 1 }, { a: 1 }],
  ]);
  const theirs = [count("a", 2), count("b", 3)];
  const committed = harness.disk.open().commit(theirs);
  await harness.advance();
  await committed;
  applied(theirs);
  t.same(shown(reading, view), { a: 2, b: 3 });
  t.equal(view.builds, 3, "once, and twice to compare");
});
