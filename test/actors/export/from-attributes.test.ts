import t from "tap";
import { type Schema, toAttributes, toProperties, toShape } from "../../../actors/export/attributes.js";
import { fromAttributes } from "../../../actors/export/from-attributes.js";
import type { Entries, HclValue } from "../../../actors/export/hcl.js";
import { lineSchema } from "../../../actors/lines/line.js";

const omitted = ["stations[].id"];

const fields = {
  key: "dev",
  name: "Dev",
  repositories: [
    { name: "acme/app", setup: "npm ci", image: null },
    { name: "acme/site", setup: null, image: "node:24" },
  ],
  source: { repository: "acme/app", path: "lines/dev.tf" },
  replayCheck: { mostRegressions: 2, ceiling: 10, currency: "EUR", minGain: 0.05 },
  stations: [
    {
      id: "sta_1",
      key: "work",
      name: "Work",
      kind: "work",
      harness: "command",
      model: "large",
      effort: "high",
      profile: "strict",
      prompt: "Mend it: now.",
      skills: ["careful"],
      check: "npm test",
      diffs: true,
      tools: ["tracker.comment", { tool: "tracker.close", approval: true }],
      judge: { rubric: "", scale: "yes-no", claims: ["It works."], passShare: 0.5 },
      runners: { pool: "main", labels: ["linux"] },
      passesTo: ["review"],
      timeoutMinutes: 45,
      alerts: [{ measure: "cost", above: 2, over: 20 }],
    },
    { id: "sta_2", key: "review", name: "Review", kind: "review" },
  ],
};

/** Converts attributes to the form of a plan: objects, with null for unset members. */
function plain(value: HclValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(plain);
  return "entries" in value ? object(value.entries) : null;
}

function isList(value: HclValue): value is readonly HclValue[] {
  return Array.isArray(value);
}

function object(entries: Entries): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([name, value]) => [name, plain(value)]));
}

function withoutUnset(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUnset);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name, each]) => each !== null && name !== "id");
  return Object.fromEntries(members.map(([name, each]) => [name, withoutUnset(each)]));
}

t.test("the attributes that an export writes of a line are read back as its fields", async (t) => {
  const body = lineSchema.parse(fields);
  const attributes = toAttributes(lineSchema, body, { at: () => null, hidden: () => null, hiddenPaths: [], omitted });
  const read = fromAttributes(lineSchema, object(attributes), { unknown: {}, omitted });
  t.same(read, { fields: withoutUnset(body), faults: [] });
});

t.test("no two fields of a line have one attribute", async (t) => {
  const look = (schema: Schema): void => {
    const properties = [...toProperties(schema).values()];
    t.equal(new Set(properties.map(({ snake }) => snake)).size, properties.length);
    const below = [...properties.map(({ schema }) => schema), schema.items, ...(schema.anyOf ?? [])];
    for (const each of below) if (typeof each === "object" && !Array.isArray(each)) look(each);
  };
  look(toShape(lineSchema));
});

t.test("what is not known yet and what has no field is told with its place", async (t) => {
  const station = { key: "work", timeout_minutes: null, runners: { pool: "main" }, judge: { rubrik: "?" }, wat: 1 };
  const attributes = { key: "dev", stations: [station, null], id: "line_1", gone: null };
  const unknown = {
    name: true,
    version: true,
    stations: [{ id: true, prompt: true, runners: { labels: [true] } }, true],
  };
  const { fields, faults } = fromAttributes(lineSchema, attributes, { unknown, omitted });
  t.same(fields, { key: "dev", stations: [{ key: "work", runners: { pool: "main" }, judge: {} }, null] });
  const unsaid = "is known only once the plan is applied";
  const nameless = "is not a known attribute";
  const rubric = faults.find(({ path }) => path === "stations[0].judge.rubrik");
  t.same(rubric?.known, ["rubric", "scale", "pass_score", "claims", "pass_share", "model"]);
  const places = faults.map(({ path, message }) => ({ path, message }));
  t.same(places, [
    { path: "name", message: unsaid },
    { path: "stations[0].prompt", message: unsaid },
    { path: "stations[0].judge.rubrik", message: nameless },
    { path: "stations[0].wat", message: nameless },
    { path: "stations[1]", message: unsaid },
    { path: "id", message: nameless },
    { path: "version", message: nameless },
  ]);
  t.same(fromAttributes(lineSchema, {}, { unknown: true, omitted }).faults, [{ path: "", message: unsaid }]);
});
