import t from "tap";
import { MAX_DIGITS, mayRound, readJson, TooManyDigits, writeJson } from "../../actors/exact-json.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";

const BEYOND = ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"];

t.test("whole numbers beyond 2^53 keep their digits, at any place of a text", async (t) => {
  for (const digits of BEYOND) {
    for (const text of [
      digits,
      ` ${digits} `,
      `[${digits}]`,
      `{"a":[1,${digits}],"b":{"c": ${digits}}}`,
      `[\n${digits}]`,
    ]) {
      t.equal(writeJson(readJson(text)), text.replace(/\s/g, ""), text);
    }
    t.equal(readJson(digits), BigInt(digits));
    t.equal(canonicalJson(readJson(`{"b":${digits},"a":1}`)), `{"a":1,"b":${digits}}`);
  }
});

t.test("every other number is the double that it was", async (t) => {
  const doubles = [
    ...["0", "-0", "1", "-1.5", "1e20", "1E+20", "1182376459023450171.0", "-1182376459023450171e0", "9007199254740991"],
    ...["0.12345678901234567", "1234567890123456.5", "1234567890123456", "-9007199254740991", "1e999", "1e-999"],
  ];
  for (const text of doubles) {
    const [read] = readJson(`[${text}, 9007199254740993]`) as unknown[];
    t.ok(Object.is(read, JSON.parse(text)), text);
  }
});

t.test("all else is read as JSON.parse reads it", async (t) => {
  const long = ', "n": 9007199254740993}';
  const texts = [
    ...['{"a":1,"a":2', '{"__proto__":{"x":1}', '{"constructor":1', '{"a":"\\ud800\\u0000\\"\\\\/"', '{"":[]'],
    ...['{"a":"9007199254740993"', '{"a":null,"b":[true,false,{}]', '{"n":1'],
  ];
  for (const text of texts.map((each) => `${each}${long}`)) {
    const read = readJson(text) as { n: unknown };
    t.equal(typeof read.n, "bigint", text);
    t.strictSame({ ...read, n: 0 }, { ...JSON.parse(text), n: 0 }, text);
    t.strictSame(Object.keys(read), Object.keys(JSON.parse(text)), text);
  }
  for (const wrong of ["", "9007199254740993,", "[9007199254740993", "09007199254740993", "{9007199254740993:1}"]) {
    t.throws(() => readJson(wrong), SyntaxError, wrong);
  }
});

t.test("digits of texts and fractions need no second look", async (t) => {
  for (const text of ['{"id":"1182376459023450171"}', '["1182376459023450171"]', "[0.1234567890123456789]"]) {
    t.notOk(mayRound(text), text);
  }
});

t.test("what would take long, or too deep a stack, is no JSON", async (t) => {
  const most = "9".repeat(MAX_DIGITS);
  t.equal(writeJson(readJson(`[${most}]`)), `[${most}]`);
  t.throws(() => readJson(`[${most}9]`), TooManyDigits);
  const deep = (levels: number) => `${"[".repeat(levels)}9007199254740993${"]".repeat(levels)}`;
  t.equal(writeJson(readJson(deep(1_000))), deep(1_000));
  t.throws(() => readJson(deep(1_001)), SyntaxError);
  t.throws(() => readJson(deep(100_000)), SyntaxError);
});

t.test("values are written as JSON.stringify writes them, whatever they are called", async (t) => {
  const odd = {
    a: undefined,
    b: () => 1,
    c: Number.NaN,
    d: new Date(0),
    e: [undefined, 1],
    f: "\ud800",
    g: {},
    isLosslessNumber: true,
    toString: "x",
    value: "1",
  };
  const text = JSON.stringify(odd);
  t.equal(writeJson(odd), text);
  t.equal(writeJson([odd, 9007199254740993n]), `[${text},9007199254740993]`);
  t.equal(writeJson({ a: [1n] }, 2), JSON.stringify({ a: [1] }, null, 2));
  const circle: unknown[] = [];
  circle.push(circle);
  t.throws(() => writeJson(circle));
});
