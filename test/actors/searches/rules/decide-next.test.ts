import t from "tap";
import { fraction, toText } from "../../../../actors/fraction.js";
import { canPropose, decideNext, type SearchSnapshot } from "../../../../actors/searches/rules/decide-next.js";
import { contender, euro, listIterations, toPicture } from "./snapshots.js";

/** Returns the next step in short form: what, for which candidate, and why. */
function next(parts: Partial<SearchSnapshot>): string {
  const step = decideNext(toPicture(parts));
  switch (step.step) {
    case "wait":
      return "wait";
    case "replay":
      return `replay ${step.candidateId}`;
    case "propose":
      return "propose";
    case "reflect":
      return "reflect";
    case "hold-out":
      return `${step.ending}: hold out ${step.candidateId}`;
    case "end":
      return `${step.ending}: ${step.state}`;
  }
}

const seed = contender("seed");
const spent = (amount: number) => ({ ceiling: euro(39), counted: toText(fraction(amount * 100, 100)), underWay: [] });

/**
 * Returns a candidate for each of these iterations. All candidates score lower and cost more than the seed, so none is
 * on the frontier.
 */
const useless = (...iterations: readonly number[]) =>
  iterations.map((iteration, n) => contender(`c${n + 1}`, { score: 0.4, cost: 9, iteration }));
const better = (id: string, iteration: number, score = 0.9) =>
  contender(id, { score, searched: "better", iteration, cost: 2 });

t.test("while seeding it waits for the seed, and ends when that ended otherwise than finished", async (t) => {
  const seeding = (state: "queued" | "running" | "stopped" | "over-budget" | "finished", score: number | null = 0.5) =>
    next({ state: "seeding", candidates: [contender("seed", { state, score })] });
  t.same([seeding("queued"), seeding("running")], ["wait", "wait"]);
  t.same([seeding("stopped"), seeding("over-budget")], ["seed-failed: stopped", "seed-failed: stopped"]);
  t.equal(seeding("finished"), "propose");
  t.equal(seeding("finished", null), "seed-failed: stopped", "nothing can be measured against it");
});

t.test("when its station is gone it stops at once, whatever is under way", async (t) => {
  const running = contender("a", { state: "running" });
  t.equal(next({ live: "gone", candidates: [seed, running] }), "station-left: stopped");
  t.equal(
    next({ live: "gone", state: "seeding", candidates: [contender("seed", { state: "queued" })] }),
    "station-left: stopped",
  );
  t.equal(next({ live: "gone", state: "holding-out", ending: "ceiling" }), "station-left: stopped");
});

t.test("a candidate is replayed as soon as it is admitted, the earliest first, as far as money goes", async (t) => {
  const iterations = listIterations("P2~");
  const [a, b] = [contender("a", { state: null }), contender("b", { state: null })];
  t.equal(next({ iterations, candidates: [seed, a, b] }), "replay a");
  t.equal(next({ iterations, candidates: [seed, { ...a, replayState: "running" }, b] }), "replay b");
  t.equal(
    next({ iterations, candidates: [seed, a, b], spending: spent(36.01) }),
    "wait",
    "what runs may leave something",
  );
});

t.test("an iteration and the replays of its candidates end before the next one starts", async (t) => {
  const candidates = [seed, contender("a", { state: "queued" })];
  t.equal(next({ iterations: listIterations("P1~"), candidates: [seed] }), "wait");
  t.equal(next({ iterations: listIterations("P1"), candidates }), "wait");
  for (const state of ["finished", "over-budget", "stopped"] as const) {
    t.equal(
      next({ iterations: listIterations("P1"), candidates: [seed, contender("a", { state })] }),
      "propose",
      state,
    );
  }
});

t.test("a seed without a fault leaves nothing to improve by success; by cost it does", async (t) => {
  const candidates = [contender("seed", { score: 1 })];
  t.equal(next({ candidates }), "nothing-to-improve: finished");
  t.equal(next({ candidates, objective: "cost" }), "propose");
});

t.test("two agent runs in a row that admitted nothing end it", async (t) => {
  const after = (text: string) => next({ iterations: listIterations(text) });
  t.equal(after("P0"), "propose");
  t.equal(after("P0!"), "propose");
  t.equal(after("P0! P0!"), "agent-failed: finished");
  t.equal(after("P0 P0"), "no-proposals: finished");
  t.equal(after("P0! P0"), "no-proposals: finished");
  const candidates = [seed, better("a", 2)];
  t.equal(
    next({ iterations: listIterations("P0! P1!"), candidates }),
    "propose",
    "a run that failed may have proposed",
  );
  t.equal(next({ iterations: listIterations("P0 P1 P0"), candidates }), "propose");
});

t.test("used iterations end it", async (t) => {
  const candidates = [seed, better("a", 1), better("b", 2, 0.91), better("c", 3, 0.92), better("d", 4, 0.93)];
  t.equal(next({ iterations: listIterations("P1 P1 P1"), candidates: candidates.slice(0, 4) }), "propose");
  t.equal(next({ iterations: listIterations("P1 P1 P1 P1"), candidates }), "iterations-used: hold out d");
  const budget = { ...toPicture().budget, iterations: 1 };
  const one = [seed, ...useless(1)];
  t.equal(
    next({ budget, iterations: listIterations("P1"), candidates: one }),
    "iterations-used: finished",
    "none reflects",
  );
});

t.test("a config that changed ends it when an iteration would start", async (t) => {
  t.equal(next({ live: "changed" }), "config-changed: finished");
  const running = [seed, contender("a", { state: "running" })];
  t.equal(next({ live: "changed", iterations: listIterations("P1"), candidates: running }), "wait");
  const waiting = [seed, contender("a", { state: null })];
  t.equal(next({ live: "changed", iterations: listIterations("P1"), candidates: waiting }), "replay a");
  t.equal(
    next({ live: "changed", iterations: listIterations("P1"), candidates: [seed, better("a", 1)] }),
    "config-changed: hold out a",
  );
});

t.test("it ends at the ceiling when the rest pays no agent with a replay, or no replay that waits", async (t) => {
  const [pays, lacks] = [spent(35), spent(35.01)];
  t.equal(next({ spending: pays }), "propose", "an agent's run of 1 and a replay of 3");
  t.equal(next({ spending: lacks }), "ceiling: finished");
  t.equal(next({ spending: spent(38.01) }), "ceiling: finished");
  const iterations = listIterations("P2");
  const candidates = [seed, better("a", 1), contender("b", { state: null })];
  t.equal(next({ iterations, candidates, spending: spent(36) }), "replay b");
  t.equal(next({ iterations, candidates, spending: spent(36.01) }), "ceiling: hold out a");
  t.notOk(canPropose(toPicture({ spending: pays, iterations: listIterations("P1 P1 P1 P1") })), "none is left");
  t.same([canPropose(toPicture({ spending: pays })), canPropose(toPicture({ spending: lacks }))], [true, false]);
});

t.test("two iterations without a better candidate have it reflect once, when there is no gain", async (t) => {
  const candidates = [seed, ...useless(1, 2)];
  t.equal(next({ iterations: listIterations("P1"), candidates: candidates.slice(0, 2) }), "propose");
  t.equal(next({ iterations: listIterations("P1 P1"), candidates }), "reflect");
  t.equal(next({ iterations: listIterations("P1 P0"), candidates: candidates.slice(0, 2) }), "reflect");
  const ahead = [seed, contender("a", { score: 0.6, iteration: 1, cost: 9 }), ...useless(2, 3)];
  t.equal(
    next({ iterations: listIterations("P1 P1"), candidates: ahead.slice(0, 3) }),
    "propose",
    "the first was better",
  );
  const budget = { ...toPicture().budget, iterations: 9 };
  t.equal(
    next({ budget, iterations: listIterations("P1 P1 P1"), candidates: ahead }),
    "reflect",
    "ahead by noise alone",
  );
  t.equal(
    next({ budget, iterations: listIterations("P1 P1 R P1"), candidates: [seed, ...useless(1, 2, 4)] }),
    "propose",
  );
  t.equal(
    next({ budget, iterations: listIterations("P1 P1 R P1 P1"), candidates: [seed, ...useless(1, 2, 4, 5)] }),
    "no-improvement: finished",
  );
});

t.test("two iterations without a better candidate after a gain end it", async (t) => {
  const budget = { ...toPicture().budget, iterations: 9 };
  const candidates = [seed, better("a", 1), ...useless(2, 3)];
  t.equal(next({ budget, iterations: listIterations("P1 P1"), candidates: candidates.slice(0, 3) }), "propose");
  t.equal(next({ budget, iterations: listIterations("P1 P1 P1"), candidates }), "no-improvement: hold out a");
});

t.test("with one iteration left it reflects, when there is no gain and something was proposed", async (t) => {
  const budget = { ...toPicture().budget, iterations: 2 };
  t.equal(next({ budget, iterations: listIterations("P1"), candidates: [seed, ...useless(1)] }), "reflect");
  t.equal(next({ budget, iterations: listIterations("P1"), candidates: [seed, better("a", 1)] }), "propose");
  t.equal(next({ budget, iterations: listIterations("P0") }), "propose", "nothing was proposed");
});

t.test("by cost an iteration is fruitful when it brought a cheaper candidate that is not worse", async (t) => {
  const objective = "cost";
  const dear = [contender("a", { cost: 2, score: 0.9, searched: "better" }), contender("b", { cost: 1, iteration: 2 })];
  t.equal(next({ objective, iterations: listIterations("P1 P1"), candidates: [seed, ...dear] }), "reflect");
  const cheap = contender("b", { cost: 0.9, iteration: 2 });
  const iterations = listIterations("P1 P1");
  t.equal(next({ objective, iterations, candidates: [seed, ...dear.slice(0, 1), cheap] }), "propose");
});

t.test("a reflection that did not go on ends it, by its outcome", async (t) => {
  const candidates = [seed, ...useless(1, 2)];
  const after = (outcome: SearchSnapshot["iterations"][number]["outcome"], state: "ended" | "failed" = "ended") =>
    next({
      candidates,
      iterations: listIterations("P1 P1 R").map((each) =>
        each.kind === "reflect" ? { ...each, outcome, state } : each,
      ),
    });
  t.equal(after("went-on"), "propose");
  t.equal(after("no-config-cause"), "no-config-cause: finished");
  t.equal(after("no-failures"), "no-improvement: finished");
  t.equal(after("did-not-run", "failed"), "agent-failed: finished");
  t.equal(after("out-of-budget"), "ceiling: finished");
});

t.test("it holds out three at most, the best first, waits for all, and ends", async (t) => {
  const four = [1, 2, 3, 4].map((n) => contender(`c${n}`, { score: 0.5 + n / 10, cost: n, searched: "better" }));
  const holding = (states: readonly ("running" | "finished" | null)[]) => {
    const order = ["c4", "c3", "c2"];
    const candidates = four.map((each) => {
      const state = states[order.indexOf(each.candidateId)] ?? null;
      return { ...each, heldOutReplayState: state };
    });
    return next({ state: "holding-out", ending: "iterations-used", candidates: [seed, ...candidates] });
  };
  t.equal(holding([]), "iterations-used: hold out c4");
  t.equal(holding(["running"]), "iterations-used: hold out c3");
  t.equal(holding(["finished", "running"]), "iterations-used: hold out c2");
  t.equal(holding(["finished", "running", "running"]), "wait");
  t.equal(holding(["finished", "finished", "finished"]), "iterations-used: finished");
});

t.test("what cannot be paid is not held out, but waits for what runs", async (t) => {
  const candidates = [
    seed,
    contender("a", { score: 0.9, cost: 2, searched: "better", heldOutState: "running" }),
    contender("b", { score: 0.8, cost: 1.5, searched: "better" }),
  ];
  const holding = { state: "holding-out", ending: "ceiling", spending: spent(37.5) } as const;
  t.equal(next({ ...holding, candidates }), "wait");
  const over = candidates.map((each) =>
    each.candidateId === "a" ? { ...each, heldOutReplayState: "stopped" as const } : each,
  );
  t.equal(next({ ...holding, candidates: over }), "ceiling: finished");
});

t.test("by success, what reads worse is not held out, and a search with nothing else to confirm ends", async (t) => {
  const worse = contender("a", { score: 0.2, cost: 0.1, searched: "worse" });
  const holding = { state: "holding-out", ending: "no-improvement" } as const;
  t.equal(next({ ...holding, candidates: [seed, worse] }), "no-improvement: finished");
  const even = contender("b", { score: 0.3, cost: 0.5 });
  t.equal(next({ ...holding, candidates: [seed, worse, even] }), "no-improvement: hold out b");
  const begun = { ...worse, heldOutReplayState: "running" as const };
  t.equal(next({ ...holding, candidates: [seed, begun] }), "wait", "one that is held out already is waited for");
});

t.test("what is granted grows by what earlier parts left", async (t) => {
  const step = (parts: Partial<SearchSnapshot>) => decideNext(toPicture(parts));
  // 4 agent runs, 8 replays and 3 held-out replays are still to come: 4 + 24 + 6 = 34 of the total of 39. The seed cost
  // 5.
  t.same(step({ spending: spent(5) }), { step: "propose", allotted: euro(1) });
  t.same(step({ spending: spent(0) }), { step: "propose", allotted: euro(1.147058823) }, "39/34");
  t.same(step({ spending: spent(10) }), { step: "propose", allotted: euro(1) }, "the seed overran");
  const iterations = listIterations("P1");
  // The seed's replay and one agent run have ended, and the first iteration has only one candidate. So 3 x (1 + 6) + 3
  // + 6 = 30 is still to come, of the remaining 33.
  const waits = [seed, contender("a", { state: null })];
  t.same(step({ iterations, candidates: waits, spending: spent(6) }), {
    step: "replay",
    candidateId: "a",
    ceiling: euro(3.3),
  });
  // While the agent runs, it may propose a second candidate. So 3 x (1 + 6) + 2 x 3 + 6 = 33 is still to come, of the
  // remaining 36.
  t.same(step({ iterations: listIterations("P1~"), candidates: waits, spending: spent(3) }), {
    step: "replay",
    candidateId: "a",
    ceiling: euro(3.272727272),
  });
  const a = contender("a", { score: 0.9, cost: 2, searched: "better" });
  // The search phase ends, so that all remaining budget is for held-out replays.
  t.same(step({ live: "changed", iterations, candidates: [seed, a], spending: spent(30) }), {
    step: "hold-out",
    ending: "config-changed",
    candidateId: "a",
    ceiling: euro(9),
  });
  const holding = { state: "holding-out", ending: "iterations-used", spending: spent(30) } as const;
  t.same(step({ ...holding, candidates: [seed, a] }), {
    step: "hold-out",
    ending: "iterations-used",
    candidateId: "a",
    ceiling: euro(9),
  });
});
