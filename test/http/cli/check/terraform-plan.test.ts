import t from "tap";
import { readPlan } from "../../../../http/cli/check/read-plan.js";
import { plannedLine, planText } from "./planned-lines.js";

const whole: Readonly<Record<string, unknown>> = JSON.parse(planText);

t.test(
  "a plan's lines are read wherever they stand: changed, added, replaced and removed ones, and skills",
  async (t) => {
    const lines = readPlan(planText, "plan.json").map(({ place, what, id, teamId, key }) => [
      place,
      what,
      id,
      teamId,
      key,
    ]);
    t.same(lines, [
      ["service_line.dev", "changed", "line_dev", "team_core", "dev"],
      ["service_line.gone[0]", "removed", "line_gone", "team_core", "gone"],
      ["service_line.made[0]", "added", null, "team_core", "made"],
      ["service_line.moved", "added", null, "team_core", "moved-on"],
      ["service_skill.skill", "not-replayed", null, null, null],
      ["service_line.vague", "changed", "line_vague", "team_core", "vague"],
      ['module.team["ops"].module.lines.service_line.ops', "changed", "line_ops", "team_core", "ops"],
    ]);
  },
);

t.test("a station is read in the API's form, sensitive values too", async (t) => {
  const { stations, repositories, faults } = plannedLine("service_line.dev");
  t.same(repositories, [{ name: "acme/app", setup: "npm ci" }]);
  t.same(faults, []);
  t.same(
    stations.map(({ key, kind, faults }) => [key, kind, faults]),
    [
      ["work", "work", []],
      ["review", "review", []],
      ["mend", "work", []],
      ["hush", "work", []],
    ],
  );
  t.same(stations[0]?.block, {
    key: "work",
    name: "Work",
    kind: "work",
    harness: "command",
    effort: "high",
    prompt: "Mend it, and run the tests.",
    skills: ["careful"],
    check: "npm test",
    diffs: true,
    decisions: false,
    tools: [{ tool: "tracker.comment", approval: true }],
    judge: { rubric: "Is it mended?", scale: "number", passScore: 4, claims: [] },
    runners: { pool: "main", labels: ["linux"] },
    passesTo: ["review"],
    timeoutMinutes: 45,
    alerts: [{ measure: "failure-share", above: 0.5, over: 20 }],
  });
  t.equal(stations[3]?.block.prompt, "the hidden canary words");
});

t.test("what is known only once the plan is applied is a fault at its place, of that station alone", async (t) => {
  const { stations, faults } = plannedLine("service_line.vague");
  const message = "is known only once the plan is applied";
  t.same(faults, [{ path: "repositories[0].setup", message }]);
  const paths = ["stations[1].prompt", "stations[1].runners.pool", "stations[1].runners.labels[0]"];
  t.same(
    stations.map(({ faults }) => faults),
    [[], paths.map((path) => ({ path, message }))],
  );
});

t.test("what is no plan is refused with a sentence, which quotes nothing of it", async (t) => {
  const changed = (of: object) => JSON.stringify({ ...whole, ...of });
  const { planned_values: _values, resource_changes: _changes, ...state } = whole;
  const cases: readonly (readonly [string, RegExp])[] = [
    ["{canary", /^f is no JSON\.$/],
    ["[]", /^f is not a plan: /],
    ['{"key": "canary"}', /^f is not a plan: /],
    [changed({ format_version: "2.0" }), /has format 2\.0; this command supports format 1/],
    [changed({ errored: true }), /terraform exited with an error/],
    [changed({ resource_changes: "canary" }), /This is not a plan/],
    [JSON.stringify({ ...state, values: {} }), /This is not a plan. Write one with "terraform plan/],
  ];
  for (const [text, wanted] of cases) {
    t.throws(() => readPlan(text, "f"), { name: "CouldNotAsk", message: wanted });
    t.throws(() => readPlan(text, "f"), { message: /^(?!.*canary)/ });
  }
});

t.test("a plan of a later minor format, and one that changes nothing, are read", async (t) => {
  const { resource_changes: _changes, ...none } = whole;
  t.same(readPlan(JSON.stringify(none), "f"), []);
  t.equal(readPlan(JSON.stringify({ ...whole, format_version: "1.9", complete: true }), "f").length, 7);
  t.equal(readPlan(`\ufeff${planText}`, "f").length, 7);
});

t.test("a line or a station block is read from the API's form", async (t) => {
  const station = { id: "sta_1", key: "work", kind: "work", prompt: "Mend it." };
  const block = { key: "work", kind: "work", prompt: "Mend it." };
  const stations = [{ key: "work", kind: "work", block, faults: [] }];
  const nobody = { id: null, teamId: null, key: null };
  t.same(readPlan(JSON.stringify(station), "f"), [
    { place: "f", what: "changed", ...nobody, repositories: null, stations, isWhole: false, faults: [] },
  ]);
  const line = {
    id: "line_1",
    teamId: "team_1",
    key: "dev",
    repositories: [{ name: "acme/app" }],
    stations: [station],
  };
  t.match(readPlan(JSON.stringify(line), "f"), [
    { id: "line_1", teamId: "team_1", key: "dev", repositories: [{ name: "acme/app" }], stations, isWhole: true },
  ]);
  t.match(readPlan(JSON.stringify({ stations: [station] }), "f"), [{ ...nobody, repositories: null, isWhole: true }]);
});
