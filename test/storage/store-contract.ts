import fc from "fast-check";
import type { Test } from "tap";
import { compareKeys } from "../../storage/key-order.js";
import { isBelow } from "../../storage/ranges.js";
import type { Change, Entry, Key, Range, Reading, Store } from "../../storage/store.js";

/** What every store promises, run against each. */

const part = fc.oneof(
  fc.constantFrom("a", "b", "ab", "row", "é", "~", "\u{10348}", "￿"),
  fc.string({ minLength: 1, maxLength: 4 }).filter((text) => !text.includes("\0")),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0, 1, 255, 256, 65_536, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
);
const key: fc.Arbitrary<Key> = fc
  .array(part, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((one) => (Object.is(one, -0) ? 0 : one)));
const value = fc.oneof(
  fc.record({ text: fc.string(), number: fc.integer(), list: fc.array(fc.boolean()), nothing: fc.constant(null) }),
  fc.string(),
  fc.integer(),
);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ op: fc.constant("put" as const), key, value }),
  fc.record({ op: fc.constant("remove" as const), key }),
);
const batches = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 8 });

/** The model: entries in order. */
export class Model implements Reading {
  entries: Entry[] = [];

  apply(changes: readonly Change[]): void {
    for (const one of changes) {
      this.entries = this.entries.filter((entry) => compareKeys(entry.key, one.key) !== 0);
      if (one.op === "put") this.entries.push({ key: one.key, value: one.value });
    }
    this.entries.sort((left, right) => compareKeys(left.key, right.key));
  }

  get<Value>(wanted: Key): Value | undefined {
    return this.entries.find((entry) => compareKeys(entry.key, wanted) === 0)?.value as Value | undefined;
  }

  range<Value>({ prefix, after, before, limit, reverse }: Range): Entry<Value>[] {
    const found = this.entries.filter(
      (entry) =>
        entry.key.length > prefix.length &&
        isBelow(entry.key, prefix) &&
        (after === undefined || (compareKeys(entry.key, after) > 0 && !isBelow(entry.key, after))) &&
        (before === undefined || compareKeys(entry.key, before) < 0),
    );
    if (reverse === true) found.reverse();
    return found.slice(0, limit ?? found.length) as Entry<Value>[];
  }
}

const range: fc.Arbitrary<Range> = fc
  .record(
    {
      prefix: fc.array(part, { maxLength: 2 }),
      afterBy: fc.array(part, { minLength: 1, maxLength: 2 }),
      beforeBy: fc.array(part, { minLength: 1, maxLength: 2 }),
      limit: fc.integer({ min: 0, max: 5 }),
      reverse: fc.boolean(),
    },
    { requiredKeys: ["prefix"] },
  )
  .map(({ prefix, afterBy, beforeBy, ...rest }) => ({
    prefix,
    ...rest,
    ...(afterBy === undefined ? {} : { after: [...prefix, ...afterBy] }),
    ...(beforeBy === undefined ? {} : { before: [...prefix, ...beforeBy] }),
  }));

/** `open` gives an empty store; `reopen` closes one and opens it again, where the store outlives that. */
export function storeContract(
  t: Test,
  open: () => Promise<Store>,
  reopen: ((store: Store) => Promise<Store>) | null,
): void {
  t.test("reads give what a model of all batches gives, in order, after a reopening too", async (t) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.array(range, { maxLength: 12 }), async (written, ranges) => {
        const model = new Model();
        let store = await open();
        // A store may keep something of its own, its format's version.
        model.entries = store.reading.range({ prefix: [] });
        for (const changes of written) {
          await store.commit(changes);
          model.apply(changes);
        }
        if (reopen !== null) store = await reopen(store);
        compare(t, store.reading, model, ranges, written);
        await store.close();
      }),
      { numRuns: 60 },
    );
  });

  t.test("a view keeps showing what was there when it was opened", async (t) => {
    const store = await open();
    await store.commit([{ op: "put", key: ["a", 1], value: "old" }]);
    const view = store.view();
    await store.commit([
      { op: "put", key: ["a", 1], value: "new" },
      { op: "put", key: ["a", 2], value: "more" },
    ]);
    t.equal(view.get(["a", 1]), "old");
    t.same(view.range({ prefix: ["a"] }), [{ key: ["a", 1], value: "old" }]);
    t.same(store.reading.range({ prefix: ["a"] }).length, 2);
    view.close();
    view.close();
    await store.close();
  });

  t.test("commits resolve in the order they were made, and later ones see the earlier", async (t) => {
    const store = await open();
    const done: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        store.commit([{ op: "put", key: ["n"], value: n }]).then(() => done.push(n)),
      ),
    );
    t.same(
      done,
      Array.from({ length: 50 }, (_, n) => n),
    );
    t.equal(store.reading.get(["n"]), 49);
    await store.close();
  });

  t.test("a closed store takes nothing more", async (t) => {
    const store = await open();
    await store.close();
    await t.rejects(store.commit([{ op: "put", key: ["a"], value: 1 }]), { code: "closed" });
  });

  t.test("a bound outside its prefix is a mistake of the caller", async (t) => {
    const store = await open();
    t.throws(() => store.reading.range({ prefix: ["a"], after: ["b", 1] }), /outside/);
    await store.close();
  });
}

function compare(
  t: Test,
  reading: Reading,
  model: Model,
  ranges: readonly Range[],
  written: readonly (readonly Change[])[],
): void {
  for (const one of ranges) {
    const found = reading.range(one);
    const wanted = model.range(one);
    if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, JSON.stringify(one));
  }
  for (const { key: wanted } of written.flat()) {
    if (JSON.stringify(reading.get(wanted)) !== JSON.stringify(model.get(wanted))) {
      t.same(reading.get(wanted), model.get(wanted), JSON.stringify(wanted));
    }
  }
}
