import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Test } from "tap";
import { isKey } from "../../storage/key-check.js";
import { compareKeys } from "../../storage/key-order.js";
import { isBelow } from "../../storage/ranges.js";
import {
  type Change,
  type Entry,
  type Key,
  MAX_KEY_BYTES,
  type Range,
  type Reading,
  type Store,
} from "../../storage/store.js";

/** The contract of every store; the tests run it against each implementation. */

const part = fc.oneof(
  fc.constantFrom("a", "b", "ab", "row", "é", "~", "\u{10348}", "￿", "", "\u0005", "\u001b", "x".repeat(70)),
  fc.string({ unit: "binary", minLength: 1, maxLength: 4 }).filter((text) => isKey([text])),
  fc.string({ unit: "grapheme", minLength: 60, maxLength: 70 }),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0, 1, 255, 256, 65_536, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
);
const key: fc.Arbitrary<Key> = fc
  .array(part, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((one) => (Object.is(one, -0) ? 0 : one)));
const value = fc.oneof(
  fc.record(
    { text: fc.string(), number: fc.integer(), list: fc.array(fc.boolean()), nothing: fc.constant(null) },
    { noNullPrototype: true },
  ),
  fc.string(),
  fc.integer(),
  fc.constantFrom(true, false, null),
  // Integers of any size, up to a thousand digits.
  fc.record({ whole: fc.bigInt({ min: -(10n ** 1_000n), max: 10n ** 1_000n }) }, { noNullPrototype: true }),
  fc.constantFrom(2n ** 53n + 1n, 2n ** 63n, 2n ** 64n + 1n, -(2n ** 53n) - 1n, -(2n ** 64n) - 1n),
);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ op: fc.constant("put" as const), key, value }),
  fc.record({ op: fc.constant("remove" as const), key }),
);
const batches = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 8 });

/** The reference model: a sorted list of entries. */
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

/**
 * Adds the contract's tests. `open` opens an empty store. `reopen` closes a store and opens it again. `reopen` is null
 * if the store loses its rows when it is closed.
 */
export function storeContract(
  t: Test,
  open: () => Promise<Store>,
  reopen: ((store: Store) => Promise<Store>) | null,
): void {
  t.test("reads equal a model of all batches, in order, also after reopening", async (t) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.array(range, { maxLength: 12 }), async (written, ranges) => {
        const model = new Model();
        let store = await open();
        // A new store may already contain rows of its own, such as its format.
        model.entries = store.reading.range({ prefix: [] });
        for (const changes of written) {
          await store.commit(changes);
          model.apply(changes);
        }
        if (reopen !== null) store = await reopen(store);
        compare(store.reading, model, ranges, written);
        await store.close();
      }),
      { numRuns: 60 },
    );
    t.pass("they are equal");
  });

  t.test("a view shows the state at the time it was opened", async (t) => {
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

  t.test("a closed store and its views refuse reads and writes", async (t) => {
    const store = await open();
    await store.commit([{ op: "put", key: ["a"], value: 1 }]);
    const [ended, left] = [store.view(), store.view()];
    ended.close();
    assertClosed(t, ended, "a view that was closed");
    t.equal(left.get(["a"]), 1);
    const last = store.commit([{ op: "put", key: ["b"], value: 2 }]);
    await Promise.all([store.close(), store.close()]);
    await last;
    await t.rejects(store.commit([{ op: "put", key: ["a"], value: 1 }]), { name: "StoreError", code: "closed" });
    assertClosed(t, store.reading, "the store");
    assertClosed(t, left, "a view that was left open");
    t.throws(() => store.view(), { name: "StoreError", code: "closed" });
    await t.rejects(store.backup("/nowhere"), { name: "StoreError", code: "closed" });
    left.close();
    await store.close();
  });

  for (const [name, unkeyed] of keysRefused) {
    t.test(`${name} is refused as a key, and nothing is found under it`, async (t) => {
      const store = await open();
      await store.commit([{ op: "put", key: ["a", 1], value: 1 }]);
      t.equal(store.reading.get(unkeyed), undefined);
      t.equal(store.reading.get(["a", ...unkeyed]), undefined);
      if (unkeyed.length > 0) t.same(store.reading.range({ prefix: unkeyed }), []);
      const bound = ["a", ...(unkeyed.length > 0 ? unkeyed : [""])];
      if (unkeyed.length > 0) {
        t.throws(() => store.reading.range({ prefix: ["a"], after: bound }));
        t.throws(() => store.reading.range({ prefix: ["a"], before: bound }));
      }
      const put = store.commit([
        { op: "put", key: ["a", 2], value: 2 },
        { op: "put", key: unkeyed, value: 3 },
      ]);
      await t.rejects(put, { name: "StoreError" });
      t.equal(store.reading.get(["a", 2]), undefined, "nothing of its batch is there");
      await t.rejects(store.commit([{ op: "put", key: ["a", 3], value: 3 }]), { name: "StoreError" });
      t.equal(store.reading.get(["a", 3]), undefined, "nothing that came after it is there");
      await store.close();
    });
    t.test(`removing under ${name} is refused`, async (t) => {
      const store = await open();
      await t.rejects(store.commit([{ op: "remove", key: unkeyed }]), { name: "StoreError" });
      await store.close();
    });
  }

  t.test("a key of the maximum length is accepted, one that is a byte longer is refused as too long", async (t) => {
    for (const longest of longestKeys) {
      const store = await open();
      await store.commit([{ op: "put", key: longest, value: "longest" }]);
      t.equal(store.reading.get(longest), "longest");
      t.same(store.reading.range({ prefix: longest }), [], "nothing has room below it");
      t.same(store.reading.range({ prefix: longest.slice(0, -1), after: longest }), []);
      t.match(store.reading.range({ prefix: longest.slice(0, -1), reverse: true, limit: 1 }), [{ value: "longest" }]);
      const longer = [...longest.slice(0, -1), `${longest.at(-1)}y`];
      await t.rejects(store.commit([{ op: "put", key: longer, value: 1 }]), { code: "key-too-long" });
      await store.close();
    }
  });

  for (const [name, nothing] of valuesRefused) {
    t.test(`${name} is refused as a value, and its batch with it`, async (t) => {
      const store = await open();
      const put = store.commit([
        { op: "put", key: ["a", 1], value: 1 },
        { op: "put", key: ["a", 2], value: nothing },
        { op: "put", key: ["a", 3], value: 3 },
      ]);
      await t.rejects(put, { name: "StoreError" });
      t.same(store.reading.range({ prefix: ["a"] }), []);
      await store.close();
    });
  }

  t.test("changing a value that was read does not change the store", async (t) => {
    const store = await open();
    const list = [1];
    await store.commit([{ op: "put", key: ["a"], value: { list, bytes: Buffer.from("abc") } }]);
    list.push(2);
    const read = store.reading.get<{ list: number[]; bytes: Buffer }>(["a"]);
    read?.list.push(3);
    read?.bytes.fill(0);
    t.same(store.reading.get(["a"]), { list: [1], bytes: Buffer.from("abc") });
    await store.close();
  });

  t.test("a bound outside its prefix is an error of the caller", async (t) => {
    const store = await open();
    t.throws(() => store.reading.range({ prefix: ["a"], after: ["b", 1] }), /outside/);
    await store.close();
  });
}

/** Keys that no store can hold. */
const keysRefused: readonly [string, Key][] = [
  ["no part at all", []],
  ["an absent part", JSON.parse("[null]")],
  ["a part that is true", JSON.parse("[true]")],
  ["a list in a list", JSON.parse('[["a"]]')],
  ["-0", [-0]],
  ["a fraction", ["a", 0.5]],
  ["a number that is none", [Number.NaN]],
  ["an integer that is not safe", [2 ** 53]],
  ...[0, 1, 2, 3, 4].map((unit): [string, Key] => [`U+000${unit}`, [`a${String.fromCharCode(unit)}`]]),
  ["the first half of a surrogate pair", ["a\ud800"]],
  ["the second half of a surrogate pair", ["\udc00a"]],
  ["a surrogate pair the wrong way round", ["\udc00\ud800"]],
  ["two first halves of surrogate pairs", ["\ud800\ud800"]],
  ["a key that is too long", ["x".repeat(3_000)]],
];

/** Keys of exactly {@link MAX_KEY_BYTES} bytes. The numbers are the sizes of their parts. */
const longestKeys: readonly Key[] = [
  ["a", "x".repeat(MAX_KEY_BYTES - 2)],
  ["é\u{10348}€", 7, -7, "", "\u0005", "x".repeat(MAX_KEY_BYTES - 9 - 9 - 9 - 1 - 2 - 5)],
];

const valuesRefused: readonly [string, unknown][] = [
  ["nothing", undefined],
  ["a function", () => 1],
  ["a symbol", Symbol("a")],
  ["a symbol within", { list: [Symbol("a")] }],
];

function assertClosed(t: Test, reading: Reading, name: string): void {
  t.throws(() => reading.get(["a"]), { name: "StoreError", code: "closed" }, name);
  t.throws(() => reading.range({ prefix: ["a"] }), { name: "StoreError", code: "closed" }, name);
}

/** Throws at the first difference, so that fast-check can shrink the failing input. */
function compare(
  reading: Reading,
  model: Model,
  ranges: readonly Range[],
  written: readonly (readonly Change[])[],
): void {
  for (const one of ranges) deepStrictEqual(reading.range(one), model.range(one));
  for (const { key: put } of written.flat()) deepStrictEqual(reading.get(put), model.get(put));
}
