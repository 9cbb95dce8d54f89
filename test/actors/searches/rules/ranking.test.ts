import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { type BestReason, bestReasonTexts, chooseBest } from "../../../../actors/searches/rules/best.js";
import { measureHeldOut, measureSearched } from "../../../../actors/searches/rules/candidate-figures.js";
import {
  findLeader,
  hasGain,
  onlyOnSeenTasks,
  rankToHoldOut,
  searchFrontier,
} from "../../../../actors/searches/rules/ranking.js";
import { listTasks } from "../../statistics/copies.js";
import { isSlowBest, slowFrontier } from "./slow-ranking.js";
import { contender } from "./snapshots.js";

const findBest = (...of: Parameters<typeof chooseBest>) => chooseBest(...of)?.contender ?? null;
const findId = (found: { readonly candidateId: string } | null) => found?.candidateId ?? null;

t.test(
  "before the seed's replay finished there is no best and no leader, and nothing is on the frontier",
  async (t) => {
    const seed = contender("seed", { state: "running" });
    t.same([findBest([seed], "success"), findLeader([seed], "success"), hasGain([seed], "cost")], [null, null, false]);
    t.same(searchFrontier([seed], "success"), []);
  },
);

t.test("the frontier has the seed, and what no other beats in score and cost, cheapest first", async (t) => {
  const candidates = [
    contender("seed", { score: 0.5, cost: 2 }),
    contender("best", { score: 0.9, cost: 3, searched: "better" }),
    contender("beaten", { score: 0.8, cost: 3, searched: "better" }),
    contender("cheap", { score: 0.2, cost: 1, searched: "worse" }),
    contender("over", { score: 1, cost: 0, state: "over-budget" }),
    contender("stopped", { score: 1, cost: 0, state: "stopped" }),
    contender("waits", { state: null }),
    contender("unscored", { score: null, cost: null, searched: null }),
  ];
  t.same(searchFrontier(candidates, "success"), ["cheap", "seed", "best"]);
  t.same(searchFrontier(candidates, "cost"), ["seed", "best"], "worse, or unknown, is off");
  t.same(rankToHoldOut(candidates, "success").map(findId), ["best"], "one that is worse is not held out");
  t.same(rankToHoldOut(candidates, "cost").map(findId), ["best"]);
});

t.test("a replay that did not finish leaves a candidate out, whatever figures it has", async (t) => {
  const over = { ...contender("a", { score: 0.9, cost: 0.1, searched: "better", heldOut: "better" }) };
  const candidates = [contender("seed"), { ...over, replayState: "over-budget" as const }];
  t.same(searchFrontier(candidates, "success"), ["seed"]);
  t.same(
    ["success", "cost"].map((each) => findId(findBest(candidates, each === "cost" ? each : "success"))),
    ["seed", "seed"],
  );
});

t.test("the seed stays on the frontier though a candidate beats it", async (t) => {
  const candidates = [contender("seed", { cost: 2 }), contender("a", { score: 0.9, cost: 1 })];
  t.same(searchFrontier(candidates, "success"), ["a", "seed"]);
});

t.test(
  "held out are the best first: by success the highest score, then the cheapest; by cost the other way",
  async (t) => {
    const candidates = [
      contender("seed", { score: 0.5, cost: 9 }),
      contender("dear", { score: 0.9, cost: 3 }),
      contender("mid", { score: 0.8, cost: 2 }),
      contender("twin", { score: 0.8, cost: 2 }),
      contender("cheap", { score: 0.6, cost: 1 }),
    ];
    t.same(rankToHoldOut(candidates, "success").map(findId), ["dear", "mid", "twin", "cheap"]);
    t.same(rankToHoldOut(candidates, "cost").map(findId), ["cheap", "mid", "twin", "dear"]);
  },
);

t.test("by success, a candidate that reads worse takes no place of those that are held out", async (t) => {
  const candidates = [
    contender("seed", { score: 0.9, cost: 9 }),
    ...[5, 4, 3].map((cost) => contender(`worse-${cost}`, { score: 0.1 * cost, cost, searched: "worse" as const })),
    contender("even", { score: 0.2, cost: 2 }),
    contender("unknown", { score: 0.1, cost: 1, searched: null }),
  ];
  t.same(searchFrontier(candidates, "success"), ["unknown", "even", "worse-3", "worse-4", "worse-5", "seed"]);
  t.same(rankToHoldOut(candidates, "success").map(findId), ["even", "unknown"]);
});

t.test("the best is told with why it is the best", async (t) => {
  const why = (objective: "success" | "cost", ...told: Parameters<typeof contender>[1][]) =>
    chooseBest([contender("seed", { cost: 1 }), ...told.map((each, n) => contender(`c${n}`, each))], objective)
      ?.because;
  const high = { score: 0.9, cost: 2, searched: "better", heldOut: "within-noise" } as const;
  const cheap = { score: 0.5, cost: 0.5, searched: "within-noise", heldOut: "within-noise" } as const;
  const rows: readonly (readonly [BestReason, ReturnType<typeof why>])[] = [
    ["no-candidate", why("success")],
    ["no-candidate", why("cost", { ...high, state: "over-budget" }, { ...high, state: null })],
    ["none-better", why("success", { ...high, searched: "within-noise" })],
    ["none-better", why("cost", high, { ...cheap, searched: "worse" })],
    ["none-held-out", why("success", { ...high, heldOut: null }, { score: 0.9, searched: "better" })],
    ["none-held-out", why("cost", { cost: 0.5 })],
    ["none-confirmed", why("success", { ...high, heldOut: "worse" }, { score: 0.9, searched: "better" })],
    ["none-confirmed", why("cost", { ...cheap, cheaper: false })],
    ["only-confirmed", why("success", high, { ...high, heldOut: "worse" })],
    ["only-confirmed", why("cost", cheap, { ...cheap, cheaper: false })],
    ["highest-score", why("success", high, { ...high, score: 0.8, cost: 1 })],
    ["highest-score", why("cost", cheap, { ...cheap, score: 0.4 })],
    ["cheapest", why("success", high, { ...high, cost: 3 }, { ...high, cost: null })],
    ["cheapest", why("cost", cheap, { ...cheap, cost: 0.6, score: 0.9 })],
    ["greatest-held-out-gain", why("success", high, { ...high, heldOut: "better" })],
    ["first-admitted", why("cost", cheap, cheap)],
  ];
  for (const [expected, found] of rows) t.equal(found, expected);
  t.equal(chooseBest([contender("seed", { state: "running" })], "success"), null);
  for (const texts of Object.values(bestReasonTexts))
    for (const text of Object.values(texts)) t.match(text, /^[A-Z].*\.$/);
});

t.test("best by success is better on searched tasks, and known not to be worse on held-out ones", async (t) => {
  const seed = contender("seed", { cost: 1 });
  const best = (...told: Parameters<typeof contender>[1][]) =>
    findId(findBest([seed, ...told.map((each, n) => contender(`c${n}`, each))], "success"));
  t.equal(best({ score: 0.9, searched: "better" }), "seed", "never held out: never best");
  t.equal(best({ score: 0.9, searched: "better", heldOut: null }), "seed", "held out, but nothing to compare");
  t.equal(best({ score: 0.9, searched: "better", heldOut: "worse" }), "seed");
  t.equal(best({ score: 0.9, searched: "within-noise", heldOut: "better" }), "seed");
  t.equal(best({ score: 0.9, searched: "better", heldOut: "within-noise" }), "c0");
  t.equal(best({ score: 0.9, searched: "better", heldOut: "better", state: "over-budget" }), "seed");
  const [good, high] = [
    { score: 0.8, searched: "better", heldOut: "better" } as const,
    { score: 0.9, searched: "better", heldOut: "within-noise" } as const,
  ];
  t.equal(best(good, high), "c1", "the highest search score");
  t.equal(
    best({ ...high, cost: 3 }, { ...high, cost: 2 }, { ...high, cost: null }),
    "c1",
    "of equal ones the cheapest",
  );
  t.equal(best(high, { ...high, heldOut: "better" }), "c1", "then the one that gained more on held-out tasks");
  t.equal(best({ ...high, heldOut: "better", cost: 3 }, { ...high, cost: 2 }), "c1", "the cheapest before it");
  t.equal(best(high, high), "c0", "then the first");
});

t.test("best by cost is the cheapest below the seed, known not to be worse on held-out tasks", async (t) => {
  const best = (seedCost: number | null, ...told: Parameters<typeof contender>[1][]) =>
    findId(
      findBest([contender("seed", { cost: seedCost }), ...told.map((each, n) => contender(`c${n}`, each))], "cost"),
    );
  t.equal(best(1, { cost: 0.9 }), "seed", "never held out: never best");
  t.equal(best(1, { cost: 0.9, heldOut: "worse" }), "seed");
  t.equal(best(1, { cost: 1, heldOut: "better" }), "seed", "exactly as dear");
  t.equal(best(1, { cost: 0.9, heldOut: "within-noise" }), "c0");
  t.equal(best(1, { cost: null, heldOut: "better" }), "seed");
  t.equal(best(1, { cost: 0.1, heldOut: "better", cheaper: false }), "seed", "cheaper on searched tasks alone");
  t.equal(best(null, { cost: 0.1, heldOut: "better" }), "seed", "nothing is cheaper than what is unknown");
  t.equal(best(1, { cost: 0.8, heldOut: "better" }, { cost: 0.7, heldOut: "within-noise" }), "c1");
  t.equal(best(1, { cost: 0.8, score: 0.5, heldOut: "better" }, { cost: 0.8, score: 0.6, heldOut: "better" }), "c1");
  const alike = { cost: 0.8, score: 0.5, heldOut: "within-noise" } as const;
  t.equal(best(1, alike, { ...alike, heldOut: "better" }), "c1", "of equal ones the greater held-out gain");
  t.equal(best(1, alike, alike), "c0", "then the first");
});

t.test("a gain beats the seed beyond noise; the leader is only ahead", async (t) => {
  const ahead = [contender("seed"), contender("a", { score: 0.6 }), contender("b", { score: 0.6 })];
  t.same([hasGain(ahead, "success"), findId(findLeader(ahead, "success"))], [false, "a"]);
  t.ok(hasGain([...ahead, contender("c", { score: 0.7, searched: "better" })], "success"));
  t.equal(findId(findLeader([contender("seed"), contender("a")], "success")), "seed", "as good is not better");
  const cheaper = [contender("seed"), contender("a", { cost: 0.5, searched: "worse" }), contender("b", { cost: 0.9 })];
  t.same([hasGain(cheaper, "cost"), findId(findLeader(cheaper, "cost"))], [true, "b"]);
  t.same([hasGain(cheaper.slice(0, 2), "cost"), findId(findLeader(cheaper.slice(0, 2), "cost"))], [false, "seed"]);
});

t.test("a gain that shows only on seen tasks is marked; under five held-out tasks nobody can tell", async (t) => {
  const said = (told: Parameters<typeof contender>[1]) => onlyOnSeenTasks(contender("a", told));
  t.equal(said({ searched: "better" }), null, "not held out yet");
  t.equal(said({ searched: "better", heldOut: null }), null);
  t.equal(said({ searched: "better", heldOut: "better", heldOutTasks: 4 }), "too-few-held-out");
  t.equal(said({ searched: "better", heldOut: "better", heldOutTasks: 5 }), null);
  t.equal(said({ searched: "better", heldOut: "within-noise", heldOutTasks: 5 }), "marked");
  t.equal(said({ searched: "better", heldOut: "worse", heldOutTasks: 5 }), "marked");
  t.equal(said({ searched: "within-noise", heldOut: "worse" }), null, "no gain is claimed");
  t.equal(said({ searched: null, heldOut: "worse" }), null);
  t.equal(onlyOnSeenTasks(contender("seed", { heldOut: null })), null);
});

t.test("the smallest gain of 0.05: 20 tasks at 1.00 and 0.95 are a gain of exactly that", async (t) => {
  const terms = { minGain: 0.05, currency: "EUR", bothFinished: true };
  const perfect = listTasks(20, "+");
  const less = listTasks(20, "+").map((copy, n) => (n === 0 ? { ...copy, result: "failed" as const } : copy));
  const figures = measureSearched(perfect, { ...terms, seed: less });
  t.match(figures.searchedGain, { gain: 0.05, low: 0, verdict: "within-noise" }, "one task may be chance");
  const many = listTasks(20, "+++++++++++++++++++-");
  t.match(measureSearched(listTasks(20, "+"), { ...terms, seed: many }).searchedGain, {
    gain: 0.05,
    verdict: "better",
  });
  t.match(measureHeldOut(many, { ...terms, seed: perfect }).heldOutGain, { gain: -0.05, verdict: "worse" });
  const below = { ...terms, minGain: 0.050000001 };
  t.match(measureSearched(perfect, { ...below, seed: many }).searchedGain, { gain: 0.05, verdict: "within-noise" });
});

const verdicts = fc.constantFrom("better", "worse", "within-noise", null);
const someContender = fc.record({
  score: fc.option(fc.integer({ min: 0, max: 4 }).map((n) => n / 4)),
  cost: fc.option(fc.integer({ min: 0, max: 4 })),
  searched: verdicts,
  heldOut: fc.option(verdicts, { nil: undefined }),
  cheaper: fc.boolean(),
  state: fc.constantFrom("finished", "finished", "finished", "finished", "over-budget", "running", null),
});

t.test("frontier and best are those of loops in doubles", async () => {
  const some = fc.array(someContender, { maxLength: 8 });
  const seeds = someContender.map((told) => ({ ...told, heldOut: undefined }));
  fc.assert(
    fc.property(seeds, some, fc.constantFrom("success", "cost"), (seed, told, objective) => {
      const candidates = [contender("seed", seed), ...told.map((each, n) => contender(`c${n}`, each))];
      const frontier = searchFrontier(candidates, objective);
      assert.deepEqual(new Set(frontier), slowFrontier(candidates, objective));
      const toHoldOut = rankToHoldOut(candidates, objective).map(findId);
      const isWorse = (id: string) => told[Number(id.slice(1))]?.searched === "worse";
      assert.deepEqual(new Set(toHoldOut), new Set(frontier.filter((id) => id !== "seed" && !isWorse(id))));
      const best = findBest(candidates, objective);
      assert.equal(best === null, seed.state !== "finished");
      if (best !== null) assert.ok(isSlowBest(candidates, objective, best.candidateId), best.candidateId);
    }),
    { numRuns: 2_000 },
  );
});
