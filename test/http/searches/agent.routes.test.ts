import t from "tap";
import { causeSchema } from "../../../actors/searches/agent/cause.js";
import { readProposed } from "../../../http/searches/agent.routes.js";
import { parseBy } from "../../../http/wire/field-errors.js";

/** Tests the format of messages from search agents. The tests in `test/actors/searches/agent/` cover the rules. */

const station = { key: "build", name: "Build", kind: "work", prompt: "Well." };
const listFaults = (body: unknown) => {
  const read = readProposed(body);
  return "faults" in read ? read.faults.map(({ path, message }) => `${path}: ${message}`) : [];
};
const named = (name: unknown, more: object = {}) => ({ name, station, ...more });

t.test("one candidate, or a list of them, with what is left out filled in", async (t) => {
  const one = { name: "short", hypothesis: null, station: { ...station, harness: "command", check: null } };
  t.match(readProposed(named("short")), { candidates: [one] });
  t.match(readProposed({ candidates: [named("short"), named("long", { hypothesis: "It reads on." })] }), {
    candidates: [one, { name: "long", hypothesis: "It reads on." }],
  });
});

t.test("a candidate may be changes of the live station", async (t) => {
  const changed = { name: "short", station: { from: "live", prompt: "Well." } };
  t.same(readProposed(changed), {
    candidates: [{ name: "short", hypothesis: null, station: { from: "live", changes: { prompt: "Well." } } }],
  });
  t.same(
    ["seed", null].map((from) => listFaults({ candidates: [{ name: "a", station: { from } }] })),
    [['[0].station.from: must be "live"'], ['[0].station.from: must be "live"']],
  );
});

t.test("faults of form are at the place of their candidate", async (t) => {
  t.same(
    [
      ...[null, [], "text", { candidates: {} }, { candidates: [] }, { candidates: [named("a")], name: "b" }],
      ...[
        {},
        { hypothesis: "It may help." },
        named("No slug"),
        named("x".repeat(65)),
        named("a", { station: "text" }),
        named("a", { more: 1 }),
      ],
      ...[named("a", { hypothesis: "" }), named("a", { hypothesis: "x".repeat(2_001) })],
      ...[named("a", { station: { ...station, effort: "huge" } })],
      { candidates: [named("a"), named("b", { station: { ...station, judge: { scale: "stars" }, colour: "red" } })] },
    ].map(listFaults),
    [
      ...[[": must be an object"], [": must be an object"], [": must be an object"]],
      ...[["candidates: must be a list"], ["candidates: must not be empty"], ["name: is not a field here"]],
      ["candidates: is required"],
      ["[0].name: is required", "[0].station: is required"],
      ["[0].name: must be lowercase words joined by dashes"],
      ["[0].name: must be at most 64 characters"],
      ["[0].station: is a station block, as a line holds it"],
      ["[0].more: is not a field here"],
      ["[0].hypothesis: must not be empty"],
      ["[0].hypothesis: must be at most 2000 characters"],
      ["[0].station.effort: must be low, medium, high, xhigh or max"],
      ["[1].station.judge.scale: must be yes-no or number", "[1].station.colour: is not a field here"],
    ],
  );
});

t.test("of more than any run may propose none is looked at", async (t) => {
  t.same(listFaults({ candidates: Array.from({ length: 1_000 }, () => "rubbish") }), [
    "[5]: is one too many: a run may propose at most 5 candidates",
  ]);
});

t.test("a cause is one of five, with evidence, and with a suggestion where there is one", async (t) => {
  const wrong = (body: object) => {
    const read = parseBy(causeSchema, body);
    return "errors" in read ? read.errors.map(({ path, message }) => `${path}: ${message}`) : [];
  };
  const cause = { taskId: "task_1", cause: "config", evidence: "It stopped early." };
  t.match(parseBy(causeSchema, cause), { data: { ...cause, suggestion: null } });
  for (const kind of ["config", "task", "judge", "check", "infra"]) t.same(wrong({ ...cause, cause: kind }), []);
  const full = { evidence: "e".repeat(4_000), suggestion: "s".repeat(4_000) };
  t.same(wrong({ ...cause, ...full }), []);
  t.same(
    [
      wrong({}),
      wrong({ ...cause, cause: "weather", taskId: "" }),
      wrong({ ...cause, evidence: " \n", more: 1 }),
      wrong({ ...cause, evidence: `${full.evidence}.`, suggestion: `${full.suggestion}.` }),
      wrong({ ...cause, taskId: "x".repeat(101), suggestion: 7 }),
    ],
    [
      ["taskId: is required", "cause: is required", "evidence: is required"],
      ["taskId: must not be empty", "cause: must be config, task, judge, check or infra"],
      ["evidence: must not be empty", "more: is not a field here"],
      ["evidence: must be at most 4000 characters", "suggestion: must be at most 4000 characters"],
      ["taskId: must be at most 100 characters", "suggestion: must be text"],
    ],
  );
});
