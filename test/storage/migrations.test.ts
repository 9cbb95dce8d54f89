import t from "tap";
import { eachRow, putRow, removeRow, removeTable } from "../../storage/migration-walks.js";
import { checkFormat, type MigrationStep, type Walk } from "../../storage/migrations.js";
import type { Change, Entry, Store } from "../../storage/store.js";
import { bringUp, bringUpThroughKills, collectEntries, killedAfter, stepped, storeWith } from "../support/migrating.js";

const FORMAT = ["~", "meta", "format"];

/**
 * Step 2 moves every row of `old` to `middle`, with its value doubled. Step 3 moves every row of `middle` to `new`, as
 * text, and counts the rows of `new` in rows of `~`.
 */
const steps: readonly MigrationStep[] = [
  {
    to: 2,
    title: "doubled",
    walks: [eachRow<number>("old", (row, at) => [putRow(at, "middle", at.id, row * 2)]), removeTable("old")],
  },
  {
    to: 3,
    title: "as text",
    walks: [
      eachRow<number>("middle", (row, at) => [removeRow(at, "middle", at.id), putRow(at, "new", at.id, `${row}`)]),
      eachRow<number>("length", (_, at) => [putRow(at, "length", at.id, getLength(at.reading, at.id[0]))], {
        of: "service",
      }),
    ],
  },
];

const getLength = (reading: Store["reading"], partition: unknown) =>
  reading.range({ prefix: [String(partition), "row", "new"] }).length;

const row = (partition: string, table: string, id: string | readonly string[], value: unknown): Entry => ({
  key: [partition, "row", table, ...[id].flat()],
  value,
});

const formatted = (format: number, entries: readonly Entry[]) =>
  storeWith([{ key: FORMAT, value: format }, ...entries]);

const oldest = [
  ...["a", "b", "c", "d", "e"].map((id, index) => row("ws_1", "old", id, index)),
  row("ws_2", "old", "a", 7),
  row("ws_2", "other", "a", 1),
  row("~", "length", "ws_1", 0),
  row("~", "old", "a", 1),
];

const newest = [
  ...["a", "b", "c", "d", "e"].map((id, index) => row("ws_1", "new", id, `${index * 2}`)),
  row("ws_2", "new", "a", "14"),
  row("ws_2", "other", "a", 1),
  row("~", "length", "ws_1", 5),
  row("~", "old", "a", 1),
];

/** Records every committed batch. */
function spied(store: Store): { readonly store: Store; readonly batches: readonly (readonly Change[])[] } {
  const batches: (readonly Change[])[] = [];
  const commit = (changes: readonly Change[]) => {
    batches.push(changes);
    return store.commit(changes);
  };
  return { store: { ...store, commit }, batches };
}

t.test("a new store is marked with the newest format, and no step runs", async (t) => {
  const store = await storeWith([]);
  const walk: Walk = {
    under: ["row"],
    of: "all",
    changes: () => {
      throw new Error("no step is taken");
    },
  };
  t.same(await bringUp(store, { steps: [...steps, { to: 4, title: "none", walks: [walk] }] }), []);
  t.equal(store.reading.get(FORMAT), 4);
});

t.test("an old store goes through every step that it lacks, in order, in the partitions of each step", async (t) => {
  const old = await formatted(1, oldest);
  await bringUp(old, { steps });
  t.equal(old.reading.get(FORMAT), 3);
  t.same(collectEntries(old), newest);
  const between = await formatted(2, [row("ws_1", "middle", "a", 1), row("ws_1", "old", "a", 1)]);
  await bringUp(between, { steps });
  t.equal(between.reading.get(FORMAT), 3);
  t.same(collectEntries(between), [row("ws_1", "new", "a", "1"), row("ws_1", "old", "a", 1)]);
});

t.test("a store of this format is left unchanged, also one that was migrated to it", async (t) => {
  const { store, batches } = spied(await formatted(3, oldest));
  t.same(await bringUp(store, { steps }), []);
  t.same(batches, []);
  const old = spied(await formatted(1, oldest));
  await bringUp(old.store, { steps });
  const done = old.batches.length;
  t.same(await bringUp(old.store, { steps }), []);
  t.equal(old.batches.length, done);
});

t.test("a migrated store goes through later steps", async (t) => {
  const store = await formatted(1, oldest);
  await bringUp(store, { steps });
  const marked = eachRow<string>("new", (value, at) =>
    value.endsWith("!") ? [] : [putRow(at, "new", at.id, `${value}!`)],
  );
  await bringUp(store, { steps: [...steps, { to: 4, title: "marked", walks: [marked] }] });
  t.equal(store.reading.get(FORMAT), 4);
  t.same(
    collectEntries(store),
    newest.map(({ key, value }) => ({ key, value: key[2] === "new" ? `${value}!` : value })),
  );
});

t.test("a single step runs on rows written by hand", async (t) => {
  const [, second] = steps;
  if (second === undefined) throw new Error("there are two");
  t.same(await stepped(second, [row("ws_1", "middle", "a", 1), row("ws_1", "old", "a", 1)]), [
    row("ws_1", "new", "a", "1"),
    row("ws_1", "old", "a", 1),
  ]);
});

t.test("a slice is one batch of one partition, with a bounded number of entries and its cursor", async (t) => {
  const { store, batches } = spied(await formatted(1, oldest));
  await bringUp(store, { steps, slice: 2 });
  const slices = batches.slice(1, -1);
  t.same(
    slices.map((changes) => new Set(changes.map(({ key }) => key[0])).size),
    slices.map(() => 1),
  );
  const first = slices[0] ?? [];
  t.same(
    first.map(({ key }) => key),
    [
      ["ws_1", "row", "middle", "a"],
      ["ws_1", "row", "middle", "b"],
      ["ws_1", "meta", "migration"],
    ],
  );
  t.match(first[2], { value: { to: 2, walk: 0, after: ["ws_1", "row", "old", "b"] } });
});

t.test("a slice has fewer entries when they are large", async (t) => {
  const { store, batches } = spied(await formatted(1, oldest));
  const heavy = eachRow<number>("old", (value, at) => [putRow(at, "middle", at.id, value)], {
    of: "all",
    maxEntries: 2,
  });
  await bringUp(store, { steps: [{ to: 2, title: "copied", walks: [heavy] }] });
  t.same(
    batches.slice(1, -1).map((changes) => changes.length - 1),
    [2, 2, 1, 1, 1],
  );
});

t.test("a migration killed after each slice ends with the same rows, whatever the slices", async (t) => {
  for (const slice of [1, 2, 3, 128]) {
    const store = await formatted(1, oldest);
    const kills = await bringUpThroughKills(store, { steps, slice });
    t.ok(kills >= 6, `${kills} kills`);
    t.same(collectEntries(store), newest);
    t.equal(store.reading.get(FORMAT), 3);
  }
});

t.test("a half-migrated store is refused by the old release and continues under a newer one", async (t) => {
  const store = await formatted(1, oldest);
  await t.rejects(bringUp(killedAfter(store, 3), { steps, slice: 2 }), /killed/);
  await t.rejects(bringUp(store, { steps: [] }), { code: "newer-format" });
  const last: MigrationStep = { to: 4, title: "without others", walks: [removeTable("other")] };
  const told = await bringUp(store, { steps: [...steps, last], slice: 2 });
  t.equal(told[0], "the migration of the store in /data from format 1 to 4 was interrupted, and resumes");
  t.same(
    collectEntries(store),
    newest.filter(({ key }) => key[2] !== "other"),
  );
});

t.test("a step that fails writes nothing of its slice and runs again", async (t) => {
  const store = await formatted(1, oldest);
  const [first] = steps;
  const failing: Walk = {
    under: ["row", "middle"],
    of: "workspaces",
    changes: () => {
      throw new Error("no room");
    },
  };
  const broken = [...(first === undefined ? [] : [first]), { to: 3, title: "as text", walks: [failing] }];
  await t.rejects(bringUp(store, { steps: broken }), /no room/);
  t.same(
    store.reading.range({ prefix: ["ws_1", "row"] }),
    ["a", "b", "c", "d", "e"].map((id, index) => row("ws_1", "middle", id, index * 2)),
  );
  await bringUp(store, { steps });
  t.same(collectEntries(store), newest);
});

t.test("entries below the last key of a slice are visited with it, once", async (t) => {
  const rows = [row("ws_1", "old", "a", 1), row("ws_1", "old", ["a", "x"], 2), row("ws_1", "old", ["a", "y"], 3)];
  const store = await formatted(1, [...rows, row("ws_1", "old", "b", 4)]);
  const seen: number[] = [];
  const look = eachRow<number>("old", (value) => {
    seen.push(value);
    return [];
  });
  await bringUp(store, { steps: [{ to: 2, title: "looked", walks: [look] }], slice: 1 });
  t.same(seen, [1, 2, 3, 4]);
});

t.test("a step writes only in the partition of its slice, and not the rows of the migration itself", async (t) => {
  for (const key of [
    ["ws_2", "row", "new", "a"],
    ["~", "row", "new", "a"],
    ["ws_1", "meta", "migration"],
  ]) {
    const store = await formatted(1, oldest);
    const astray: Walk = { under: ["row", "old"], of: "workspaces", changes: () => [{ op: "put", key, value: 1 }] };
    await t.rejects(
      bringUp(store, { steps: [{ to: 2, title: "astray", walks: [astray] }] }),
      /format 2 \(astray\) writes/,
    );
    t.same(collectEntries(store), collectEntries(await formatted(1, oldest)));
  }
});

t.test("progress is reported: the steps done before, the entries visited, and the end", async (t) => {
  t.same(await bringUp(await formatted(1, oldest), { steps, slice: 2 }), [
    "migrating the store in /data from format 1 to 3, which earlier releases cannot read",
    "format 2 (doubled): 3 of 3 partitions, 12 entries",
    "format 3 (as text): 3 of 3 partitions, 7 entries",
    "the store in /data has format 3",
  ]);
});

t.test("a newer store is refused, also for reading; an older one can be read as it is", async (t) => {
  const old = await formatted(1, oldest);
  checkFormat(old.reading, { folder: "/data", steps });
  t.equal(old.reading.get(FORMAT), 1);
  const newer = await formatted(4, []);
  const refusal = {
    code: "newer-format",
    message: "the store in /data has format 4, but this release reads only formats up to 3: use a newer release",
  };
  await t.rejects(bringUp(newer, { steps }), refusal);
  t.throws(() => checkFormat(newer.reading, { folder: "/data", steps }), refusal);
});

t.test("steps without consecutive numbers are an error, reported before anything is read", async (t) => {
  const [, second] = steps;
  await t.rejects(bringUp(await formatted(1, oldest), { steps: second === undefined ? [] : [second] }), /have a gap/);
});
