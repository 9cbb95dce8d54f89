import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import { type WorkEventName, workEventNames, workEvents } from "../../../actors/events/catalogue.js";
import { HookWorld } from "./hook-world.js";

/** Events as tools and code hosts publish them. They have every field of the reference's table except `at`. */
const at = "2026-01-01T00:00:00.000Z";
const call = { tool: "tracker.comment", inputs: { body: "Hello" } };
const changed = ["src/app/main.ts", "README.md"];
const events = {
  "tool.using": { at, ...call },
  "tool.used": { at, ...call, output: { id: 7 }, failed: false },
  "pull-request.opening": { at, repository: "acme/other", branch: "fix", title: "Fix it", changed },
  "pull-request.merged": { at, repository: "acme/other", url: "https://host/1", mergeCommit: "ab12", changed },
} as const satisfies Partial<Record<WorkEventName, WorkEvent["event"]>>;

type Given = keyof typeof events;
const given = Object.keys(events) as Given[];

/** The name of an event, a hook's conditions for that event, and whether the hook fires. */
const conditions: readonly [on: Given, asks: Readonly<Record<string, unknown>>, fires: boolean][] = [
  ["tool.using", { match: { tools: ["tracker.comment"] } }, true],
  ["tool.using", { match: { tools: ["tracker.close", "tracker.comment"] } }, true],
  ["tool.using", { match: { tools: ["tracker.close"] } }, false],
  ["tool.using", { when: 'event.inputs.body == "Hello" && run.id == "run_1"' }, true],
  ["tool.using", { when: 'event.inputs.title == "Hello"' }, false],
  ["tool.used", { match: { tools: ["tracker.comment"], lines: ["dev"] } }, true],
  ["tool.used", { match: { tools: ["tracker.comment"], lines: ["other"] } }, false],
  ["tool.used", { when: "!event.failed && event.output.id == 7" }, true],
  ["tool.used", { when: "event.failed" }, false],
  ["pull-request.opening", { match: { repositories: ["acme/other"] } }, true],
  // The pull request belongs to another repository than the line.
  ["pull-request.opening", { match: { repositories: ["acme/app"] } }, false],
  ["pull-request.opening", { match: { paths: ["src/**"] } }, true],
  ["pull-request.opening", { match: { paths: ["*.md"] } }, true],
  ["pull-request.opening", { match: { paths: ["*.ts"] } }, false],
  ["pull-request.opening", { when: 'event.branch == "fix" && event.title.startsWith("Fix")' }, true],
  ["pull-request.merged", { match: { paths: ["src/"], repositories: ["acme/other"] } }, true],
  ["pull-request.merged", { match: { paths: ["docs/"] } }, false],
  ["pull-request.merged", { when: 'event.mergeCommit == "ab12" && event.changed.exists(p, p == "README.md")' }, true],
];

t.test("hooks on tools and pull requests fire by their lists, globs and conditions, with every field", async (t) => {
  const hooks = conditions.map(([on, asks], index) => ({ key: `hook-${index}`, on, ...asks }));
  const world = await HookWorld.create({ seed: 3, answer: () => ({ status: 200, body: "{}" }) }, hooks);
  const happened = given.map((on) => ({ on, ...world.happen(on, { event: events[on] }) }));
  const wanted = conditions.flatMap(([on, , fires], index) => (fires ? [`${on} hook-${index}`] : []));
  await world.until(() => world.firings().filter(({ state }) => state === "delivered").length === wanted.length);
  await world.steps(100);
  t.same(world.received.map(({ body, hook }) => `${String(body.on)} ${hook}`).sort(), [...wanted].sort());
  for (const { on, occurrence } of happened) {
    const { body } = world.received.find((request) => request.body.on === on) ?? { body: null };
    t.match(body, { occurrence, event: events[on], task: { line: "dev" } }, on);
    t.same(body?.run, workEvents[on].inRun ? { id: "run_1" } : null, on);
  }
});

t.test("a tool call and a pull request may be refused, the after events may not", async (t) => {
  const hooks = given.map((on, index) => ({ key: `hook-${index}`, on }));
  const world = await HookWorld.create({ seed: 4, answer: () => ({ status: 200, body: '{"refuse":"no"}' }) }, hooks);
  const happened = given.map((on) => ({ on, ...world.happen(on, { event: events[on] }) }));
  await world.until(() => world.firings().length === given.length && world.firings().every(({ endedAt }) => endedAt));
  await world.steps(100);
  for (const [index, { on, occurrence }] of happened.entries()) {
    const isBefore = workEvents[on].timing === "before";
    t.same(world.answersTo(occurrence), isBefore ? [`Hook hook-${index} refused. Reason: no`] : [], on);
  }
});

t.test("a gate with no hook on it lets every before event go on", async (t) => {
  const world = await HookWorld.create({ seed: 5, answer: () => null }, []);
  const before = workEventNames.filter((name) => workEvents[name].timing === "before");
  t.same(before, ["tool.using", "run.starting", "handover.giving", "pull-request.opening"]);
  const happened = before.map((on) => world.happen(on));
  await world.until(() => happened.every(({ occurrence }) => world.answersTo(occurrence).length > 0));
  for (const { occurrence } of happened) t.same(world.answersTo(occurrence), [null]);
});
