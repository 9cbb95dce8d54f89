import { deepStrictEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { Overlays } from "../../../runtime/turns/overlays.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Key, KeyPart, Range, Reading, Writing } from "../../../storage/store.js";

// Use few keys, so that they collide often. Some keys differ only in the type of a part, or in how the text is split
// into parts.
const partition = fc.constantFrom<KeyPart>("p", "p", "p", "q");
const rest = fc.constantFrom<KeyPart[]>(["a"], ["a", "b"], ["a", 1], ["a", "", "n1"], ["n1"], [1], ["b"]);
const space = fc.constantFrom<KeyPart[]>(["row", "held"], ["row", "often"], ["row", "other"], ["feed"]);
const key: fc.Arbitrary<Key> = fc.tuple(partition, space, rest).map(([first, at, last]) => [first, ...at, ...last]);
const value = fc.option(fc.integer({ min: 0, max: 9 }));
const write = fc.record({ kind: fc.constant("write" as const), key, value });
/** Keys for writes of another node. Their partition is written only by the other node. */
const foreignKey: fc.Arbitrary<Key> = fc.tuple(space, rest).map(([at, last]) => ["f", ...at, ...last]);
const step = fc.oneof(
  { weight: 6, arbitrary: write },
  { weight: 2, arbitrary: fc.constantFrom({ kind: "begin" as const }, { kind: "keep" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "drop" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("foreign" as const), key: foreignKey, value }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...(["close", "durable", "flush"] as const).map((kind) => ({ kind }))),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      key: fc.oneof({ weight: 3, arbitrary: key }, { weight: 1, arbitrary: foreignKey }),
      depth: fc.integer({ min: 0, max: 4 }),
      after: fc.option(key),
      limit: fc.option(fc.integer({ min: 0, max: 3 })),
      reverse: fc.boolean(),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** The expected rows of the overlays: one store with all kept writes. */
class Model {
  rows: readonly [Key, unknown][] = [];
  #before: readonly [Key, unknown][] | null = null;

  write(key: Key, value: unknown): void {
    const others = this.rows.filter(([one]) => JSON.stringify(one) !== JSON.stringify(key));
    this.rows = value === null ? others : [...others, [key, value]];
  }
  begin(): void {
    this.#before = this.rows;
  }
  keep(): void {
    this.#before = null;
  }
  drop(): void {
    this.rows = this.#before ?? this.rows;
    this.#before = null;
  }
  async reading(): Promise<Reading> {
    const store = createMemoryStore();
    await store.commit(this.rows.map(([one, value]) => ({ op: "put", key: one, value })));
    return store.reading;
  }
}

function toRange(one: Extract<Step, { kind: "read" }>): Range {
  const prefix = one.key.slice(0, Math.min(one.depth, one.key.length - 1));
  const isBelow =
    one.after !== null &&
    one.after.length > prefix.length &&
    prefix.every((part, index) => one.after?.[index] === part);
  return {
    prefix,
    ...(one.after !== null && isBelow ? { after: one.after } : {}),
    ...(one.limit === null ? {} : { limit: one.limit }),
    reverse: one.reverse,
  };
}

/** Checks that the rows of cached tables are the same whenever a partition has the same version. */
function checkVersions(layers: Overlays, expected: Reading, known: Map<string, readonly unknown[]>): void {
  for (const of of ["p", "q", "f"]) {
    const version = layers.coveredVersion(of);
    if (version === null) continue;
    const rows = ["often", "held"].flatMap((name) => expected.range({ prefix: [of, "row", name] }));
    deepStrictEqual(rows, known.get(`${of} ${version}`) ?? rows);
    known.set(`${of} ${version}`, rows);
  }
}

async function follow(steps: readonly Step[]): Promise<void> {
  const store = createMemoryStore();
  const cache = new RowCache(store.reading, { tables: ["often", "held"], freezes: true });
  const layers = new Overlays(cache, { freezes: true });
  const model = new Model();
  let committing = false;
  let closed: readonly Change[] | null = null;
  let underWay: readonly Change[] = [];
  let inTurn = false;
  const rowsOfVersion = new Map<string, readonly unknown[]>();
  const flush = () => {
    if (committing) layers.flushed();
    if (committing) cache.flushed();
    if (committing) cache.applied(underWay, "here");
    committing = false;
  };
  for (const one of steps) {
    if (one.kind === "write") {
      if (one.value === null) layers.remove(one.key);
      else layers.put(one.key, one.value);
      model.write(one.key, one.value);
    } else if (one.kind === "begin" && !inTurn) {
      inTurn = true;
      layers.beginTurn();
      model.begin();
    } else if (one.kind === "keep" || one.kind === "drop") {
      if (!inTurn) continue;
      inTurn = false;
      if (one.kind === "keep") layers.keepTurn();
      else layers.discardTurn();
      model[one.kind]();
    } else if (one.kind === "close" && !inTurn && !committing) {
      committing = true;
      const batch = layers.close();
      cache.committing(batch);
      closed = batch.changes();
      underWay = closed;
    } else if (one.kind === "durable" && closed !== null) {
      await store.commit(closed);
      closed = null;
    } else if (one.kind === "foreign" && !inTurn) {
      const change: Change =
        one.value === null ? { op: "remove", key: one.key } : { op: "put", key: one.key, value: one.value };
      await store.commit([change]);
      cache.applied([change], "elsewhere");
      layers.applied([change], "elsewhere");
      model.write(one.key, one.value);
    } else if (one.kind === "flush" && closed === null) {
      flush();
    } else if (one.kind === "read") {
      const expected = await model.reading();
      const range = toRange(one);
      checkVersions(layers, expected, rowsOfVersion);
      deepStrictEqual(cache.get(one.key), store.reading.get(one.key));
      deepStrictEqual(cache.range({ prefix: range.prefix }), store.reading.range({ prefix: range.prefix }));
      for (const limit of [1, 3]) {
        const some = { prefix: range.prefix, limit };
        deepStrictEqual(cache.range(some), store.reading.range(some));
      }
      deepStrictEqual(layers.get(one.key), expected.get(one.key));
      deepStrictEqual(layers.range(range), expected.range(range));
      deepStrictEqual(layers.range({ prefix: range.prefix }), expected.range({ prefix: range.prefix }));
    }
  }
}

t.test(
  "turns read every write that was kept, flushed or not, and what is durable, rows held in memory or not",
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 100, size: "max" }), follow), { numRuns: 400 });
  },
);

/** Wraps a reading and counts its calls. */
function counting(reading: Reading): Reading & { asked: number } {
  const counted: Reading & { asked: number } = {
    asked: 0,
    get: (one) => {
      counted.asked += 1;
      return reading.get(one);
    },
    range: (one) => {
      counted.asked += 1;
      return reading.range(one);
    },
  };
  return counted;
}

async function cacheOver(rows: readonly (readonly [Key, unknown])[]) {
  const store = createMemoryStore();
  await store.commit(rows.map(([one, value]) => ({ op: "put", key: one, value })));
  const under = counting(store.reading);
  const cache = new RowCache(under, { tables: ["often", "held"], freezes: false });
  const layers: Writing & Overlays = new Overlays(cache);
  const commit = async () => {
    const batch = layers.close();
    cache.committing(batch);
    await store.commit(batch.changes());
    layers.flushed();
    cache.flushed();
    cache.applied(batch.changes(), "here");
  };
  return { cache, under, layers, commit };
}

t.test("a row that is read often is read from the store once, until it changes", async (t) => {
  const at = ["p", "row", "often", "a"];
  const { cache, under, layers, commit } = await cacheOver([[at, { n: 1 }]]);
  for (let n = 0; n < 3; n++) t.same(cache.get(at), { n: 1 });
  t.equal(under.asked, 1);
  layers.put(at, { n: 2 });
  await commit();
  for (let n = 0; n < 3; n++) t.same(cache.get(at), { n: 2 });
  t.equal(under.asked, 1, "what the last batch wrote is known");
  layers.put(["p", "row", "often", "b"], { n: 3 });
  await commit();
  for (let n = 0; n < 3; n++) t.same(cache.get(at), { n: 2 });
  t.equal(under.asked, 2);
});

t.test("a row that turns read is read from the store once between two flushes, there or not", async (t) => {
  const [at, other] = [
    ["p", "row", "other", "a"],
    ["p", "row", "other", "b"],
  ];
  const { under, layers, commit } = await cacheOver([[at, { n: 1 }]]);
  for (let n = 0; n < 3; n++) t.same([layers.get(at), layers.get(other)], [{ n: 1 }, undefined]);
  t.equal(under.asked, 2);
  layers.put(other, { n: 2 });
  t.same(layers.get(other), { n: 2 });
  await commit();
  for (let n = 0; n < 3; n++) t.same([layers.get(at), layers.get(other)], [{ n: 1 }, { n: 2 }]);
  t.equal(under.asked, 3, "what the last batch wrote is known");
});

t.test("a range that is read often is read from the store once, until it changes", async (t) => {
  const at = ["p", "row", "held", "a"];
  const { cache, under, layers, commit } = await cacheOver([[at, { n: 1 }]]);
  for (let n = 0; n < 3; n++) t.same(cache.get(at), { n: 1 });
  for (let n = 0; n < 3; n++) t.equal(cache.range({ prefix: at.slice(0, 3) }).length, 1);
  t.equal(under.asked, 2);
  cache.range({ prefix: at.slice(0, 3) }).length = 0;
  t.equal(cache.range({ prefix: at.slice(0, 3) }).length, 1, "each reader has a list of its own");
  layers.put(at, { n: 2 });
  layers.put(["p", "row", "held", "b"], { n: 3 });
  t.same(cache.get(at), { n: 1 }, "what is not flushed is not seen");
  await commit();
  t.same(cache.get(at), { n: 2 });
  t.equal(under.asked, 2, "what the last batch wrote is known");
  t.equal(cache.range({ prefix: at.slice(0, 3) }).length, 2);
  layers.remove(at);
  await commit();
  t.equal(cache.get(at), undefined);
});

t.test("the first entries of a range are held with it, and hold it when they are all", async (t) => {
  const prefix = ["p", "row", "often"];
  const rows = ["a", "b", "c"].map((name) => [[...prefix, name], name] as const);
  const { cache, under, layers, commit } = await cacheOver(rows);
  for (let n = 0; n < 3; n++) t.equal(cache.range({ prefix, limit: 3 }).length, 3);
  t.equal(under.asked, 1, "the first three serve whoever asks for no more");
  for (let n = 0; n < 3; n++) t.equal(cache.range({ prefix, limit: 4 }).length, 3);
  t.equal(under.asked, 2, "there may be more than three");
  for (const limit of [0, 1, 2, 3]) t.equal(cache.range({ prefix, limit }).length, limit);
  t.equal(cache.range({ prefix }).length, 3);
  t.equal(under.asked, 2, "these are all");
  layers.put([...prefix, "d"], "d");
  await commit();
  t.equal(cache.range({ prefix, limit: 5 }).length, 4);
});

t.test("other tables, ranges from their end and heavy rows are read from the store each time", async (t) => {
  const other = ["p", "row", "other", "a"];
  const heavy = ["p", "row", "held", "heavy"];
  const bytes = ["p", "row", "held", "bytes"];
  const { cache, under } = await cacheOver([
    [other, 1],
    [heavy, { parts: ["x".repeat(35_000), "y".repeat(35_000)] }],
    [bytes, new Uint8Array(70_000)],
  ]);
  const reads = [
    () => cache.get(other),
    () => cache.get(heavy),
    () => cache.get(bytes),
    () => cache.range({ prefix: ["p", "row", "held"] }),
    () => cache.range({ prefix: ["p", "row", "held"], limit: 1 }),
    () => cache.range({ prefix: ["p", "row", "held"], reverse: true }),
    () => cache.range({ prefix: ["p", "row"] }),
  ];
  for (const read of [...reads, ...reads]) read();
  t.equal(under.asked, 2 * reads.length);
});

t.test("no more than a bounded number of rows and ranges is held", async (t) => {
  const { cache, under, layers, commit } = await cacheOver([]);
  for (let n = 0; n < 9_000; n++) layers.put(["p", "row", "held", n], n);
  for (let n = 0; n < 300; n++) layers.put([`p${n}`, "row", "held", 1], n);
  await commit();
  for (let n = 0; n < 9_000; n++) equal(cache.get(["p", "row", "held", n]), n);
  t.ok(under.asked > 800, "those held first are read again");
  const before = under.asked;
  for (let n = 0; n < 300; n++) cache.range({ prefix: [`p${n}`, "row", "held"] });
  for (let n = 0; n < 300; n++) cache.range({ prefix: ["p", "row", "held", n] });
  cache.range({ prefix: ["p0", "row", "held"] });
  cache.range({ prefix: ["p", "row", "held", 0] });
  t.equal(under.asked - before, 602);
});
