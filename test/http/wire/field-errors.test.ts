import t from "tap";
import { z } from "zod";
import { pathText } from "../../../actors/refusal.js";
import { parseBy } from "../../../http/wire/field-errors.js";

function faults(schema: z.ZodType, value: unknown): string[] {
  const parsed = parseBy(schema, value);
  return "errors" in parsed ? parsed.errors.map(({ path, message }) => `${path}: ${message}`) : [];
}

t.test("paths are written as the reference writes them", async (t) => {
  t.equal(pathText([]), "");
  t.equal(pathText(["list", 0, "field"]), "list[0].field");
  t.equal(pathText(["map", "plain_name", "field"]), "map.plain_name.field");
  t.equal(pathText(["map", 'odd "key"', "field"]), 'map["odd \\"key\\""].field');
  t.equal(pathText([0, "a"]), "[0].a");
});

t.test("faults are short sentences where a schema has no words of its own", async (t) => {
  const schema = z.strictObject({
    name: z.string().min(1).max(3),
    size: z.int().min(1).max(9),
    tags: z.array(z.string()).min(1).max(2),
    on: z.boolean(),
    kind: z.enum(["work", "review"]),
    at: z.iso.datetime(),
    step: z.number().multipleOf(5),
    own: z.string().max(1, "is my own sentence"),
  });
  t.same(faults(schema, {}), [
    "name: is required",
    "size: is required",
    "tags: is required",
    "on: is required",
    "kind: is required",
    "at: is required",
    "step: is required",
    "own: is required",
  ]);
  t.same(faults(schema, { name: "", size: 0, tags: [], on: 1, kind: "x", at: "now", step: 3, own: "ab" }), [
    "name: must not be empty",
    "size: must be at least 1",
    "tags: must not be empty",
    "on: must be true or false",
    'kind: must be "work" or "review"',
    "at: has an invalid format",
    "step: must be a multiple of 5",
    "own: is my own sentence",
  ]);
  t.same(
    faults(schema, { name: "abcd", size: 1.5, tags: ["a", "b", "c"], on: null, kind: 1, at: 1, step: "5", own: "a" }),
    [
      "name: must be at most 3 characters",
      "size: must be a whole number",
      "tags: must hold at most 2 entries",
      "on: must be true or false",
      'kind: must be "work" or "review"',
      "at: must be text",
      "step: must be a number",
    ],
  );
});

t.test("a missing field is required, whatever message its schema has", async (t) => {
  const schema = z.strictObject({
    role: z.enum(["owner"], "must be owner"),
    size: z.int("must be a whole number"),
    list: z.array(z.strictObject({ on: z.boolean("must be true or false") })),
  });
  t.same(faults(schema, { list: [{}] }), ["role: is required", "size: is required", "list[0].on: is required"]);
  t.same(faults(schema, { role: "x", size: null, list: [{ on: 1 }] }), [
    "role: must be owner",
    "size: must be a whole number",
    "list[0].on: must be true or false",
  ]);
});

t.test("entries of a list are named by their index", async (t) => {
  t.same(faults(z.strictObject({ tags: z.array(z.string()) }), { tags: ["a", 1, null] }), [
    "tags[1]: must be text",
    "tags[2]: must be text",
  ]);
});

t.test("unknown fields are reported at their path", async (t) => {
  const schema = z.strictObject({ list: z.array(z.strictObject({ a: z.string() })) });
  t.same(faults(schema, { list: [{ a: "x", b: 1 }], c: 1 }), [
    "list[0].b: is not a field here",
    "c: is not a field here",
  ]);
});

t.test("of several forms, the faults of the closest one are reported", async (t) => {
  const schema = z.strictObject({
    signing: z.union([
      z.strictObject({ secret: z.string(), secretVersion: z.int() }),
      z.strictObject({ oidc: z.strictObject({ audience: z.string() }) }),
    ]),
  });
  t.same(faults(schema, { signing: { secret: "x" } }), ["signing.secretVersion: is required"]);
  t.same(faults(schema, { signing: 7 }), ["signing: matches none of the allowed forms"]);
  t.same(faults(schema, {}), ["signing: is required"]);
});

t.test("names of a map are checked as values are", async (t) => {
  const schema = z.strictObject({ env: z.record(z.string().regex(/^[A-Z]+$/, "must be capitals"), z.string()) });
  t.same(faults(schema, { env: { "a b": "x" } }), ['env["a b"]: must be capitals']);
  t.same(faults(schema, { env: { A: 1 } }), ["env.A: must be text"]);
});

t.test("an object with a length of its own, in place of text or a list, is a fault like any other", async (t) => {
  const schema = z.strictObject({ title: z.string().min(1).max(5), labels: z.array(z.string()).max(3) });
  const odd = { length: { toString: 1 } };
  t.same(faults(schema, { title: odd, labels: odd }), ["title: must be text", "labels: must be a list"]);
});

t.test("raw bytes are not walked byte by byte: anybody may send megabytes of them", async (t) => {
  const bytes = new Proxy(new Uint8Array(3), {
    ownKeys: () => {
      throw new Error("they are walked");
    },
  });
  t.same(faults(z.instanceof(Uint8Array), bytes), []);
  t.same(faults(z.record(z.string(), z.unknown()), JSON.parse('{"__proto__": 1}')), [
    "__proto__: is not an allowed name",
  ]);
});

t.test("a whole number beyond 2^53 is a number to a field that takes one, with the faults of a double", async (t) => {
  const schema = z.strictObject({
    most: z.int("must be a whole number").min(1, "must be at least 1").max(30, "must be at most 30"),
    list: z.array(z.int().max(5)),
    either: z.union([z.string(), z.strictObject({ deep: z.number().max(1, "must be at most 1") })]),
    text: z.string(),
    any: z.unknown(),
  });
  for (const huge of [2n ** 53n + 1n, 2n ** 64n + 1n, -(2n ** 53n) - 1n]) {
    const body = (number: number | bigint) => ({
      most: number,
      list: [1, number],
      either: { deep: number },
      text: number,
      any: number,
    });
    t.same(faults(schema, body(huge)), faults(schema, body(Number(huge))), String(huge));
    const free = { most: 1, list: [], either: "", text: "", any: { id: huge } };
    t.same(parseBy(schema, free), { data: free }, "free JSON is as it was sent");
    t.same(parseBy(z.strictObject({ share: z.number(), any: z.unknown() }), { share: huge, any: huge }), {
      data: { share: Number(huge), any: huge },
    });
  }
});
