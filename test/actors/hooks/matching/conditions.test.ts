import fc from "fast-check";
import t from "tap";
import type { WorkEvent } from "../../../../actors/events/catalogue.js";
import { compile } from "../../../../actors/expressions/evaluate.js";
import { MAX_UNITS } from "../../../../actors/expressions/meter.js";
import type { HookFields } from "../../../../actors/hooks/hook.js";
import { compileConditions, getConditions } from "../../../../actors/hooks/matching/conditions.js";
import { evaluateConditions } from "../../../../actors/hooks/matching/lookup-keys.js";
import { type HookRow, MAX_MATCH_COST, toSubject } from "../../../../actors/hooks/matching/match-hooks.js";

const noMatch: HookFields["match"] = { tools: [], lines: [], stations: [], repositories: [], paths: [] };

function hook(on: HookFields["on"], match: Partial<HookFields["match"]>, when: string | null = null) {
  return { key: "tell", on, match: { ...noMatch, ...match }, vars: { level: "high" }, when };
}

function happened(on: WorkEvent["on"], event: object = {}, repositories: string[] = ["acme/app"]): WorkEvent {
  return {
    on,
    occurrence: "occ_1",
    workspaceId: "ws_1",
    teamId: "team_1",
    lineId: "line_1",
    stationId: "sta_1",
    task: {
      id: "task_1",
      title: "Do it",
      url: "",
      line: "dev",
      station: "Work",
      stationKey: "work",
      marks: {},
      repositories,
      pullRequest: null,
    },
    run: null,
    causes: [],
    event: { at: "2026-01-01T00:00:00.000Z", ...event },
  };
}

/** Returns the name of the first condition that does not hold; null if all conditions hold. */
function firstFailing(given: ReturnType<typeof hook>, work: WorkEvent): string | null {
  const verdict = evaluateConditions(compileConditions(given), toSubject(work), { units: MAX_MATCH_COST });
  if (verdict === "undecided") throw new Error("it was given enough");
  return verdict === "holds" ? null : verdict.name;
}

t.test("the lists and the when of a hook are conditions of one kind, evaluated in order", async (t) => {
  const moved = happened("task.moved", { from: "work", to: "review" });
  const merged = happened("pull-request.merged", { repository: "acme/site", changed: ["src/a.ts", "docs/b.md"] });
  const used = happened("tool.used", { tool: "tracker.close" });
  const cases: readonly (readonly [ReturnType<typeof hook>, WorkEvent, string | null])[] = [
    [hook("task.moved", {}), moved, null],
    [hook("task.moved", { lines: ["other", "dev"] }), moved, null],
    [hook("task.moved", { lines: ["other"], stations: ["other"] }), moved, "lines"],
    [hook("task.moved", { lines: ["dev"], stations: ["other"] }), moved, "stations"],
    [hook("task.moved", { repositories: ["acme/other"] }), moved, "repositories"],
    [hook("pull-request.merged", { repositories: ["acme/app"] }), merged, "repositories"],
    [hook("pull-request.merged", { repositories: ["acme/site"], paths: ["src/**"] }), merged, null],
    [hook("pull-request.merged", { paths: ["lib/", "*.ts"] }), merged, "paths"],
    [hook("tool.used", { tools: ["tracker.comment"] }), used, "tools"],
    [hook("tool.used", { tools: ["tracker.close"] }, "event.tool != ''"), used, null],
    [hook("task.moved", {}, "event.to == 'review' && vars.level == 'high' && hook.key == 'tell'"), moved, null],
    [hook("task.moved", {}, "$" + "{{ event.to == 'work' }}"), moved, "when"],
    [hook("task.moved", {}, "event.missing == 'x'"), moved, "when"],
    [hook("task.moved", { lines: ["other"] }, "1 / 0 > 1"), moved, "lines"],
  ];
  for (const [given, work, failing] of cases) {
    t.equal(firstFailing(given, work), failing, JSON.stringify([given.on, given.match, given.when]));
  }
});

t.test("each condition is equivalent to its expression", async (t) => {
  const word = fc.constantFrom("dev", "work", "acme/app", "acme/site", "tracker.close", "o'ther", 'qu"ote');
  const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
  const glob = fc.array(fc.constantFrom("**", "*", "?", "/", "a", "b", ".", "("), { minLength: 1, maxLength: 5 });
  const path = fc.string({ unit: fc.constantFrom("/", "a", "b", ".", "("), maxLength: 6 });
  const arranged = fc.record({
    list: fc.constantFrom("lines" as const, "stations" as const, "repositories" as const, "tools" as const),
    words,
    globs: fc.array(
      glob.map((parts) => parts.join("")),
      { minLength: 1, maxLength: 3 },
    ),
    repositories: words,
    event: fc.record({ repository: word, tool: word, changed: fc.array(path, { maxLength: 4 }) }),
    on: fc.constantFrom("pull-request.merged" as const, "tool.used" as const),
  });
  let held = 0;
  fc.assert(
    fc.property(arranged, ({ list, words, globs, repositories, event, on }) => {
      const { repository, ...rest } = event;
      const work = happened(on, on === "tool.used" ? rest : event, repositories);
      const subject = toSubject(work);
      return compileConditions(hook(on, { [list]: words, paths: globs })).every((condition) => {
        const holds = condition.holds(subject, { units: MAX_MATCH_COST });
        if (holds === true) held += 1;
        if (condition.name === "tools" && on !== "tool.used") return true;
        return compile(condition.expression).holds({ ...subject.values() }) === holds;
      });
    }),
    { numRuns: 3_000 },
  );
  t.ok(held > 500, `${held} held`);
});

t.test("conditions are compiled once for each version of a hook", async (t) => {
  const row = (version: number, when: string): HookRow => ({
    id: "hook_1",
    kind: "hook",
    version,
    workspaceId: "ws_1",
    teamId: "team_1",
    address: "core/tell",
    fields: { ...hook("task.moved", {}, when), steps: [], signing: null, failure: "continue", timeoutSeconds: 10 },
    hidden: {},
    added: {},
    createdAt: "",
    updatedAt: "",
  });
  const first = getConditions(row(1, "true"));
  t.equal(getConditions(row(1, "true")), first, "of the same version, however it was read");
  const second = getConditions(row(2, "false"));
  t.not(second, first);
  t.equal(second[0]?.expression, "false");
});

t.test("a condition is undecided when the budget is too small, and takes its cost", async (t) => {
  const list = JSON.stringify(Array.from({ length: 30 }, (_, index) => index));
  const dear = hook("task.moved", {}, `${list}.all(a, ${list}.all(b, a + b >= 0))`);
  const subject = toSubject(happened("task.moved"));
  const conditions = compileConditions(dear);
  t.equal(evaluateConditions(conditions, subject, { units: 1_000 }), "undecided");
  const left = { units: MAX_MATCH_COST };
  t.equal(evaluateConditions(conditions, subject, left), "holds");
  t.ok(
    MAX_MATCH_COST - left.units > 5_000 && MAX_MATCH_COST - left.units < MAX_UNITS,
    `${MAX_MATCH_COST - left.units} units`,
  );
  const endless = compileConditions(hook("task.moved", {}, `${list}.all(a, ${list}.all(b, ${list}.all(c, true)))`));
  t.match(
    evaluateConditions(endless, subject, { units: MAX_MATCH_COST }),
    { name: "when" },
    "a condition that is too expensive does not hold",
  );
});

t.test("a change with too many paths to search counts as matching", async (t) => {
  const guarded = compileConditions(hook("pull-request.opening", { paths: ["**/secrets/*.pem", "infra/**/*.tf"] }));
  const changed = (count: number) =>
    happened("pull-request.opening", {
      repository: "acme/app",
      changed: Array.from({ length: count }, (_, index) => `infra/module-${index}/nested/deeply/file.txt`),
    });
  const look = (count: number, units: number) => evaluateConditions(guarded, toSubject(changed(count)), { units });
  t.match(look(2_000, MAX_MATCH_COST), { name: "paths" }, "2,000 files are looked through");
  t.equal(look(200_000, MAX_MATCH_COST), "holds", "200,000 are not");
  t.equal(look(200_000, 1_000), "undecided");
  const hostile = compileConditions(hook("pull-request.opening", { paths: [`${"**a".repeat(340)}b`] }));
  const long = happened("pull-request.opening", {
    repository: "acme/app",
    changed: Array(50).fill(`${"a".repeat(4_000)}b`),
  });
  const begun = process.cpuUsage();
  evaluateConditions(hostile, toSubject(long), { units: MAX_MATCH_COST });
  t.ok(process.cpuUsage(begun).user < 500_000, "in bounded time");
});
