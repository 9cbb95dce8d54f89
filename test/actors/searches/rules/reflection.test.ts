import t from "tap";
import { endState, searchEndings } from "../../../../actors/searches/rules/ending.js";
import {
  endingOfReflection,
  findFailedTasks,
  reflectionOutcome,
} from "../../../../actors/searches/rules/reflection.js";
import { listCopies } from "../../statistics/copies.js";

const runCopies = (runs: Readonly<Record<string, string>>) =>
  listCopies(runs).map((copy) => ({ ...copy, runId: `${copy.originalRunId}#${copy.repeat}` }));

t.test("a reflection looks into tasks that failed, the worst first, at the first copy that did", async (t) => {
  const copies = runCopies({ "a/2": "+-", "a/1": "+-", b: "--", c: "++", d: "?-", e: "??" });
  t.same(findFailedTasks(copies, ["a/1", "a/2", "b", "c", "d", "e"]), [
    { taskId: "b", originalRunId: "b", replayRunId: "b#1" },
    { taskId: "d", originalRunId: "d", replayRunId: "d#2" },
    { taskId: "a", originalRunId: "a/1", replayRunId: "a/1#2" },
  ]);
});

t.test("it looks into ten tasks at most", async (t) => {
  const many = runCopies(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`t${10 + n}`, "-"])));
  const found = findFailedTasks(many, []).map(({ taskId }) => taskId);
  t.same([found.length, found[0], found[9]], [10, "t10", "t19"]);
});

const config = { cause: "config", suggestion: "say more" } as const;
const cases = [
  ["went-on", {}],
  ["out-of-budget", { canGoOn: false }],
  ["went-on", { ran: false }],
  ["no-failures", { tasks: 0, causes: [] }],
  ["did-not-run", { ran: false, causes: [] }],
  ["no-config-cause", { causes: [] }],
  ["no-config-cause", { causes: [{ cause: "config", suggestion: null }] }],
  ["no-config-cause", { causes: [{ cause: "task", suggestion: "split it" }], canGoOn: false }],
  ["went-on", { causes: [{ cause: "infra", suggestion: null }, config] }],
] as const;

for (const [outcome, parts] of cases) {
  t.test(`a reflection with ${JSON.stringify(parts)} is ${outcome}`, async (t) => {
    t.equal(reflectionOutcome({ tasks: 3, ran: true, causes: [config], canGoOn: true, ...parts }), outcome);
  });
}

t.test("every outcome but one ends the search", async (t) => {
  t.equal(endingOfReflection("went-on", true), null);
  t.equal(endingOfReflection("no-config-cause", true), "no-config-cause");
  t.equal(endingOfReflection("no-failures", true), "no-improvement");
  t.equal(endingOfReflection("did-not-run", true), "agent-failed");
  t.equal(endingOfReflection("out-of-budget", true), "ceiling");
  t.equal(endingOfReflection("out-of-budget", false), "iterations-used");
});

t.test("three endings hold nothing out", async (t) => {
  t.same(
    searchEndings.filter((ending) => endState(ending) === "stopped"),
    ["station-left", "seed-failed", "stopped"],
  );
});
