import t from "tap";
import { findParents } from "../../../../actors/searches/rules/parents.js";
import { contender } from "./snapshots.js";

/**
 * Returns a config with tasks. The text of a task is `SUCCESSES@COST`: how many of ten copies succeeded, and the cost
 * of each copy. `-` instead of a number of successes means that no copy was scored.
 */
const config = (id: string, places: Readonly<Record<string, string>>) =>
  contender(id, {
    tasks: Object.entries(places).map(([taskId, place]) => {
      const [share, cost] = place.split("@");
      return { taskId, share: share === "-" ? null : `${share}/10`, cost: cost === undefined ? null : `${cost}/1` };
    }),
  });

const toParents = (configs: readonly ReturnType<typeof config>[], objective: "success" | "cost" = "success") => {
  const { tasks, parents } = findParents(configs, objective);
  return {
    tasks: tasks.map(({ taskId, candidateIds }) => `${taskId}: ${candidateIds.join(" ")}`),
    parents: parents.map(({ candidateId, tasks }) => `${candidateId} ${tasks}`),
  };
};

t.test("a config that alone solves a hard task is built on, though others score higher", async (t) => {
  const configs = [
    config("seed", { a: "5", b: "5", c: "0" }),
    config("broad", { a: "9", b: "9", c: "0" }),
    config("narrow", { a: "0", b: "0", c: "10" }),
  ];
  t.same(toParents(configs), { tasks: ["a: broad", "b: broad", "c: narrow"], parents: ["broad 2", "narrow 1"] });
});

t.test("a config is left out when another is as good everywhere and better somewhere", async (t) => {
  const configs = [
    config("seed", { a: "10", b: "0" }),
    config("more", { a: "10", b: "5" }),
    config("same", { a: "10", b: "5" }),
  ];
  t.same(toParents(configs), { tasks: ["a: more same", "b: more same"], parents: ["more 2", "same 2"] });
});

t.test("a config that is best nowhere is no parent, though none dominates it", async (t) => {
  const configs = [
    config("a", { a: "10", b: "0" }),
    config("b", { a: "0", b: "10" }),
    config("ab", { a: "5", b: "5" }),
  ];
  t.same(toParents(configs).parents, ["a 1", "b 1"]);
});

t.test("by cost the cheapest of those that succeed as often are best at a task", async (t) => {
  const configs = [
    config("seed", { a: "10@5", b: "10@5" }),
    config("cheap", { a: "10@2", b: "10@6" }),
    config("worse", { a: "9@1", b: "9@1" }),
    config("unknown", { a: "10", b: "10" }),
  ];
  t.same(toParents(configs, "cost"), { tasks: ["a: cheap", "b: seed"], parents: ["seed 1", "cheap 1"] });
  t.same(toParents(configs).parents, ["seed 2", "cheap 2", "unknown 2"]);
});

t.test("what is not scored is best at nothing; a candidate whose replay did not finish is not looked at", async (t) => {
  const seed = config("seed", { a: "0", b: "-", c: "-" });
  const other = config("other", { a: "-", b: "0", c: "-" });
  const running = { ...config("running", { a: "10" }), replayState: "running" as const };
  t.same(toParents([seed, other, running]), { tasks: ["a: seed", "b: other"], parents: ["seed 1", "other 1"] });
  t.same(toParents([running]), { tasks: [], parents: [] });
});
