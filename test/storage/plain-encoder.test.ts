import fc from "fast-check";
import { Packr } from "msgpackr";
import t from "tap";
import { PlainEncoder } from "../../storage/plain-encoder.js";

const RESERVED = 5;

/** msgpackr as the store has it: every record has a shape that is shared. */
class Other {
  readonly #packr = new Packr({ structures: [], maxSharedStructures: 512 });

  encode(value: unknown): Buffer {
    return this.#packr.encode(value);
  }

  decode(bytes: Buffer): unknown {
    return this.#packr.decode(bytes);
  }

  get shapes(): readonly (readonly string[])[] {
    // Its types leave out how many of them are shared.
    return (this.#packr as unknown as { readonly structures: readonly (readonly string[])[] }).structures;
  }
}

/** Both encoders over the same shapes. */
class Pair {
  readonly other = new Other();
  readonly plain = new PlainEncoder(RESERVED);

  /** What the plain encoder makes of a value, without the room in front. */
  encode(value: unknown): Buffer | null {
    return this.plain.encode(value, this.other.shapes, this.other.shapes.length)?.subarray(RESERVED) ?? null;
  }
}

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "binary-ascii", maxLength: 300 }),
  fc.constantFrom("x".repeat(31), "x".repeat(32), `${"x".repeat(30)}é`, "€".repeat(21), "😀".repeat(16)),
);
const number = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger(), fc.integer({ min: -200, max: 300 }));
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    ...[text, number, fc.boolean(), fc.constant(null), fc.constant(undefined)],
    fc.array(tie("value"), { maxLength: 20 }),
    // Records of 40 shapes with up to four fields, in any order.
    fc
      .uniqueArray(fc.tuple(fc.constantFrom("id", "state", "webhook-id"), tie("value")), {
        selector: ([name]) => name,
      })
      .map((fields) => Object.fromEntries(fields)),
  ),
}));

t.test("plain data is encoded byte for byte as msgpackr does it", async (t) => {
  const pair = new Pair();
  fc.assert(
    fc.property(anything, (value) => {
      // The first time, msgpackr hands out shapes.
      pair.other.encode(value);
      const expected = pair.other.encode(value).toString("hex");
      for (let time = 0; time < 2; time++) {
        const encoded = pair.encode(value);
        if (encoded?.toString("hex") !== expected) throw new Error(`${encoded?.toString("hex")} is not ${expected}`);
      }
    }),
    { numRuns: 2_000 },
  );
  t.ok(pair.other.shapes.length > 5);
});

t.test("numbers, texts and lists of any length are encoded as msgpackr does it", async (t) => {
  const pair = new Pair();
  const check = (value: unknown, what: string) => {
    t.ok(pair.encode(value)?.equals(pair.other.encode(value)), what);
  };
  const edges = [0, 1, 0x20, 0x40, 0x80, 0x100, 0x8000, 0x10000, 2 ** 31, 2 ** 32, 2 ** 53];
  for (const edge of edges)
    for (const near of [edge - 1, edge, edge + 1]) {
      check(near, String(near));
      check(-near, String(-near));
    }
  for (const odd of [-0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) check(odd, String(odd));
  for (const unit of ["x", "é", "€", "😀"]) {
    for (const length of [
      0, 1, 8, 11, 16, 31, 32, 63, 64, 85, 128, 255, 256, 21_846, 32_768, 65_535, 65_536, 300_000,
    ]) {
      check(unit.repeat(length), `${length} times ${unit}`);
    }
  }
  for (const length of [0, 15, 16, 1_000, 65_535]) check(Array(length).fill("x"), `a list of ${length}`);
});

t.test("an encoded value stays as it is while others are encoded, however large", async (t) => {
  const pair = new Pair();
  const values = Array.from({ length: 300 }, (_, n) => [
    n,
    "x".repeat((n * 7_919) % 3_000),
    n % 50 === 0 ? "y".repeat(200_000) : null,
  ]);
  const encoded = values.map((value) => pair.encode(value));
  for (const [n, value] of values.entries()) {
    if (!encoded[n]?.equals(pair.other.encode(value))) t.fail(`value ${n} changed`);
  }
});

t.test("what is more than plain data, or of a shape unknown so far, is left to msgpackr", async (t) => {
  const pair = new Pair();
  pair.other.encode({ a: 1, b: 2 });
  pair.other.encode([{ "": 1 }, {}]);
  class Thing {
    a = 1;
    b = 2;
  }
  const left: readonly (readonly [string, unknown])[] = [
    ["a date", new Date(0)],
    ["a map", new Map([["a", 1]])],
    ["bytes", Buffer.from("x")],
    ["an integer of 64 bits", 1n],
    ["a function", () => 1],
    ["an instance", new Thing()],
    ["a record that inherits", Object.create({ a: 1, b: 2 })],
    ["a record without a prototype", Object.assign(Object.create(null), { a: 1, b: 2 })],
    ["fields in another order", { b: 2, a: 1 }],
    ["one field less", { a: 1 }],
    ["one field more", { a: 1, b: 2, c: 3 }],
    ["a field with the name of two", { "a,b": 1 }],
    ["a list that is too long", Array(65_536).fill(0)],
  ];
  const known = { a: 1, b: "x" };
  for (const [what, value] of left) {
    t.equal(pair.encode(value), null, what);
    t.equal(pair.encode([known, "before it", { a: known, b: value }]), null, `${what}, deep inside`);
    t.ok(pair.encode([known])?.equals(pair.other.encode([known])), `after ${what}`);
  }
  pair.other.encode({ b: 2, a: 1 });
  t.ok(pair.encode({ b: 2, a: 1 })?.equals(pair.other.encode({ b: 2, a: 1 })), "a shape that is known by now");
});

t.test("the shapes that are given count, not those of before", async (t) => {
  const plain = new PlainEncoder(RESERVED);
  const value = { a: 1, b: 2 };
  t.ok(plain.encode(value, [["a", "b"]], 1));
  t.equal(plain.encode(value, [["b"]], 1), null);
  const ids = (count: number) =>
    plain
      .encode(value, Array(count).fill(["c"]).with(-1, ["a", "b"]), count)
      ?.subarray(RESERVED)
      .toString("hex");
  t.equal(ids(1), "400102");
  t.equal(ids(32), "5f0102");
  t.equal(ids(33), "60000102");
  t.equal(ids(512), "7f0e0102");
  t.equal(plain.encode(value, [["c"], ["a", "b"]], 1), null, "one that is not shared");
});
