import t from "tap";
import type { Value } from "../../../actors/expressions/values.js";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import { checkInputs, toJsonSchema } from "../../../actors/integrations/tool-inputs.js";
import { expr } from "../../support/integration.js";

const declare = (inputs: object) => {
  const tools = { use: { action: "go", inputs } };
  return integrationSchema.parse({ integration: "x", name: "X", tools }).tools.use?.inputs ?? {};
};
const task: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["line", "dev"],
  ["marks", new Map([["issue", "7"]])],
]);
const check = (inputs: object, given: unknown) => checkInputs(declare(inputs), given, { task });

t.test("inputs have the types that are declared, and no others are taken", async (t) => {
  const inputs = {
    text: { required: true },
    count: { type: "number" },
    on: { type: "boolean" },
    map: { type: "object" },
    list: { type: "array" },
  };
  const fits = { text: "", count: 1.5, on: false, map: { a: [1] }, list: [null, { b: 1 }] };
  t.same(check(inputs, fits), { inputs: fits });
  t.same(check(inputs, { text: "a" }), { inputs: { text: "a" } });
  const wrong = check(inputs, { count: "1", on: 1, map: [], list: {}, more: 1 });
  t.same(wrong, {
    errors: [
      { path: "text", message: "must be given" },
      { path: "count", message: "must be a number" },
      { path: "on", message: "must be true or false" },
      { path: "map", message: "must be an object" },
      { path: "list", message: "must be a list" },
      { path: "more", message: "is not an input of the tool" },
    ],
  });
  for (const given of [null, [], "text", 5]) t.match(check(inputs, given), { errors: [{ path: "" }] }, String(given));
});

t.test("defaults fill what is missing; one without a value, or of another type, reads as nothing", async (t) => {
  const inputs = {
    plain: { default: "a" },
    line: { default: `on ${expr("task.line")}` },
    whole: { type: "object", default: expr("task.marks") },
    missing: { default: expr("task.marks.none") },
    wrong: { type: "number", default: expr("task.line") },
  };
  t.same(check(inputs, {}), { inputs: { plain: "a", line: "on dev", whole: { issue: "7" } } });
  t.same(check(inputs, { plain: "b", line: "c" }), { inputs: { plain: "b", line: "c", whole: { issue: "7" } } });
  const required = { text: { required: true, default: expr("task.marks.none") } };
  t.same(check(required, {}), { errors: [{ path: "text", message: "must be given" }] });
  t.same(check(required, { text: "a" }), { inputs: { text: "a" } });
});

t.test("names of an object's own workings are names like any other", async (t) => {
  t.match(check({ text: {} }, JSON.parse('{"constructor":1,"toString":"x"}')), {
    errors: [{ path: "constructor" }, { path: "toString" }],
  });
  t.match(check({ text: {} }, JSON.parse('{"__proto__":1}')), { errors: [{ path: "__proto__" }] });
  t.same(check({ constructor: {} }, {}), { inputs: {} });
  t.same(check({ constructor: { default: "a" } }, {}), { inputs: { constructor: "a" } });
});

t.test("errors are bounded, whatever an agent sends", async (t) => {
  const given = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]));
  const checked = check({}, given);
  t.equal("errors" in checked ? checked.errors.length : 0, 20);
});

t.test(
  "agents are shown a JSON Schema: what is required, what is told of it, and defaults without expressions",
  async (t) => {
    const schema = toJsonSchema(
      declare({
        text: { required: true, description: "What to say." },
        limit: { type: "number", default: 10 },
        line: { default: expr("task.line") },
        tags: { type: "array" },
      }),
    );
    t.same(schema, {
      type: "object",
      properties: {
        text: { type: "string", description: "What to say." },
        limit: { type: "number", default: 10 },
        line: { type: "string" },
        tags: { type: "array", items: {} },
      },
      required: ["text"],
      additionalProperties: false,
    });
  },
);

t.test("whole numbers beyond 2^53 are numbers, given or by default, and stay exact", async (t) => {
  const inputs = { id: { type: "number", default: 2n ** 64n + 1n }, text: {}, map: { type: "object" } };
  t.same(check(inputs, {}), { inputs: { id: 2n ** 64n + 1n } });
  const given = { id: -(2n ** 53n) - 1n, map: { deep: [2n ** 53n + 1n] } };
  t.same(check(inputs, given), { inputs: given });
  t.same(check(inputs, { text: 2n ** 53n + 1n }), { errors: [{ path: "text", message: "must be text" }] });
  t.match(toJsonSchema(declare(inputs)), { properties: { id: { type: "number", default: 2n ** 64n + 1n } } });
});
