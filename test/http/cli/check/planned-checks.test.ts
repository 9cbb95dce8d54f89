import t from "tap";
import { planChecks } from "../../../../http/cli/check/planned-checks.js";
import { readPlan } from "../../../../http/cli/check/read-plan.js";
import { liveLine, plannedLine } from "./planned-lines.js";

const dev = "service_line.dev";
const live = liveLine(dev);

/** Returns the decision for each station, in short form. */
function planned(...read: Parameters<typeof planChecks>) {
  return planChecks(...read).map((each) => [each.title, each.what === "check" ? "check" : each.why]);
}

t.test("each work station whose block the plan changes is checked, and no other", async (t) => {
  const found = planChecks(plannedLine(dev), live);
  t.match(found, [
    {
      title: "core/dev/work",
      what: "check",
      check: {
        teamId: "team_core",
        lineId: "line_dev",
        stationKey: "work",
        station: { key: "work", prompt: "Mend it, and run the tests.", effort: "high", timeoutMinutes: 45 },
        repositories: [{ name: "acme/app", setup: "npm ci" }],
      },
    },
    { title: "core/dev/mend", what: "nothing-to-replay", why: /adds this station/ },
    { title: "core/dev/fix", what: "nothing-to-replay", why: /removes this station/ },
  ]);
  t.equal(found.length, 3, "a review station is not replayed, nor one that stays as it is");
});

t.test("defaults that are written out are no change, nor members that are not known here", async (t) => {
  const written = { ...live, stations: live.stations.map((station) => ({ ...station, laterMember: 1 })) };
  const bare = live.stations.map(({ model: _model, skills, ...station }) => ({
    ...station,
    ...(Array.isArray(skills) && skills.length > 0 ? { skills } : {}),
  }));
  const [line] = readPlan(JSON.stringify({ ...live, stations: bare }), "f");
  t.same(line === undefined ? null : planned(line, written), []);
});

t.test(
  "a station that omits where it passes tasks changes nothing of them; one that passes to none does",
  async (t) => {
    const stationsAs = (passesTo?: readonly string[]) =>
      live.stations.map(({ passesTo: _live, ...station }) => ({ ...station, ...(passesTo && { passesTo }) }));
    const findFound = (stations: readonly object[]) => {
      const [line] = readPlan(JSON.stringify({ ...live, stations }), "f");
      return line === undefined ? null : planned(line, live);
    };
    t.same(findFound(stationsAs()), []);
    t.match(findFound(stationsAs([])), [["core/dev/work", "check"]]);
  },
);

t.test("when the repositories change every work station is checked under those that are planned", async (t) => {
  const address = 'module.team["ops"].module.lines.service_line.ops';
  const found = planChecks(plannedLine(address), liveLine(address));
  t.match(found, [
    { title: "core/ops/first", what: "check", check: { repositories: [{ name: "acme/ops", setup: "make setup" }] } },
    { title: "core/ops/second", what: "check" },
  ]);
  t.equal(found.length, 2);
});

t.test("a repository that the plan adds is left out and told of: no past run has it", async (t) => {
  const added = { ...liveLine(dev), repositories: [...live.repositories, { name: "acme/new" }] };
  const [line] = readPlan(JSON.stringify(added), "f");
  t.same(line === undefined ? [] : planned(line, live), [
    ["core/dev", "The repository acme/new is new to the line: past runs do not have it, so a check cannot replay it."],
  ]);
});

t.test("a station is not asked about while something of it, or of the repositories, is not known", async (t) => {
  const vague = "service_line.vague";
  const found = planChecks(plannedLine(vague), liveLine(vague));
  t.match(found, [
    {
      title: "core/vague/plain",
      what: "not-asked",
      why: /^service_line\.vague: repositories\[0\]\.setup is known only/,
    },
    { title: "core/vague/work", what: "not-asked", why: /stations\[1\]\.runners\.pool is known only/ },
  ]);
  const { faults: _faults, ...line } = plannedLine(vague);
  t.match(planned({ ...line, faults: [] }, liveLine(vague)), [
    ["core/vague/plain", "check"],
    ["core/vague/work", /known/],
  ]);
});

t.test("a station block alone says nothing of other stations, nor of the repositories", async (t) => {
  const [line] = readPlan(JSON.stringify({ ...live.stations[0], prompt: "New." }), "f");
  const found = line === undefined ? [] : planChecks(line, live);
  t.match(found, [{ title: "core/dev/work", what: "check", check: { repositories: null } }]);
  t.equal(found.length, 1);
});

t.test("a station that becomes a review station is told of, and one of an unknown kind is asked about", async (t) => {
  const toKind = (kind: string) => {
    const [line] = readPlan(JSON.stringify({ ...live.stations[0], kind }), "f");
    return line === undefined ? [] : planned(line, live);
  };
  t.same(toKind("review"), [["core/dev/work", "The plan makes this a review station, which checks do not replay."]]);
  t.same(toKind("wrok"), [["core/dev/work", "check"]]);
});

t.test("a member that no station has is told with its place, and the station is not asked about", async (t) => {
  const read = (plan: unknown) => readPlan(JSON.stringify(plan), "f").flatMap((line) => planned(line, live));
  const [work] = live.stations;
  t.same(read({ ...work, promt: "New." }), [["core/dev/work", "f: promt is not a known field."]]);
  const nested = { ...work, tools: ["git", { tool: "tests", aproval: true }], runners: { pol: "x" }, timeout: 3 };
  t.match(read({ ...live, stations: [nested, ...live.stations.slice(1)] }), [
    [
      "core/dev/work",
      "f: stations[0].tools[1].aproval is not a known field. " +
        "f: stations[0].runners.pol is not a known field. " +
        "f: stations[0].timeout is not a known field.",
    ],
  ]);
  t.same(read({ ...work, timeoutMinutes: "long" }), [["core/dev/work", "check"]], "values are the service's to judge");
});

t.test("a station block alone that names no station of the line is not asked about", async (t) => {
  for (const kind of ["work", "review"]) {
    const [line] = readPlan(JSON.stringify({ key: "wrok", kind }), "f");
    const found = line === undefined ? [] : planChecks(line, { ...live, stations: live.stations.slice(0, 2) });
    t.match(found, [{ title: "core/dev/wrok", station: null, what: "not-asked" }]);
    t.match(found, [{ why: /^f: key does not name a station of core\/dev, which has "work", "\w+"\.$/ }]);
  }
});
