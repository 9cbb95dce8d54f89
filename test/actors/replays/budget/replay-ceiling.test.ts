import fc from "fast-check";
import t from "tap";
import { add, compare, fraction, fromText, toText } from "../../../../actors/fraction.js";
import { MAX_AMOUNT } from "../../../../actors/money.js";
import { addReported, countSpent } from "../../../../actors/replays/budget/replay-ceiling.js";
import { totalsView } from "../../../../actors/replays/reads/replay.view.js";
import { replayRowView } from "../../../../actors/replays/reads/replay-row.view.js";
import type { ReplayCopyRow, ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { countChanges, endAttempt } from "../../../../actors/replays/replay/replay-step.js";
import { raiseCeiling } from "../../../../actors/replays/starting/replay-plan.js";
import type { RunRow } from "../../../../actors/runs/run.js";
import { runs } from "../../../../actors/runs/run.table.js";
import { countedSpend } from "../../../../actors/statistics/spending.js";
import { successTotals } from "../../../../actors/statistics/success.js";
import { replayInput, replayRow } from "../../../support/replay-rows.js";
import { ReplayWorld } from "../../../support/replay-world.js";
import { workspaceId } from "../../../support/work.js";

t.test("at the ceiling nothing more starts, what runs finishes, and the replay is over budget", async (t) => {
  const world = await ReplayWorld.open({ runs: 4, slots: 4 });
  const { replayId } = await world.start({ ceiling: { amount: 3, currency: "EUR" } });
  const [first, second] = world.jobs();
  if (first === undefined || second === undefined) throw new Error("two are given at once");
  await world.begin(second);
  await world.work(first, 3);
  t.same(world.jobs(), [], "the slot that is free stays so");
  t.match(world.replay(replayId), { state: "running", counts: { queued: 0, running: 1, settled: 1 } });
  await world.end(second, 2);
  t.match(world.replay(replayId), {
    state: "over-budget",
    counts: { queued: 0, running: 0, settled: 2, succeeded: 2 },
    spending: { spent: "5/1" },
    endedAt: String,
  });
  t.match(
    world.copies(replayId).map(({ state, result }) => [state, result]),
    [...Array(2).fill(["settled", "succeeded"]), ...Array(2).fill(["waiting", null])],
  );
  t.same(world.runStates(), ["completed", "completed"]);
  t.same(world.complaints(), []);
});

t.test("a replay whose last copies reach the ceiling is finished", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start({ ceiling: { amount: 2, currency: "EUR" } });
  t.equal(await world.workAll(1), 2);
  t.equal(world.replay(replayId)?.state, "finished");
});

t.test("a copy without a cost counts its share of the ceiling once", async (t) => {
  const world = await ReplayWorld.open({ runs: 3 });
  const { replayId } = await world.start({ ceiling: { amount: 1, currency: "EUR" } });
  t.equal(await world.workAll(null), 3, "three thirds are the ceiling, which only the last reaches");
  t.match(world.replay(replayId), { state: "finished", spending: { spent: "0/1", unpriced: 3 } });

  const foreign = await world.start({ ceiling: { amount: 1, currency: "USD" } });
  t.equal(await world.workAll(5), 3);
  t.match(world.replay(foreign.replayId), { state: "finished", spending: { spent: "0/1", unpriced: 3 } });

  const both = await world.start({ ceiling: { amount: 1, currency: "EUR" } });
  await world.work(world.job(), null);
  await world.work(world.job(), 0.7);
  t.match(world.replay(both.replayId), { state: "over-budget", spending: { spent: "7/10", unpriced: 1 } });
});

/**
 * The cases in which a copy loses its runner. `slots` is the number of copies that run at once. If `when` is `last`,
 * all other copies have ended when the copy loses its runner.
 */
const losses = [
  { slots: 1, when: "first" },
  { slots: 8, when: "first" },
  { slots: 8, when: "last" },
] as const;

/**
 * Replays four runs with a ceiling of 4. The first copy starts, and then loses its runner. If `when` is `last`, the
 * other jobs end between its start and its loss, each at the cost `amount`.
 */
async function loseOne({ slots, when }: (typeof losses)[number], amount: number | null) {
  const world = await ReplayWorld.open({ runs: 4, slots });
  const { replayId } = await world.start({ ceiling: { amount: 4, currency: "EUR" } });
  const [first, ...others] = world.jobs();
  if (first === undefined) throw new Error("there is no job");
  await world.begin(first);
  if (when === "last") for (const job of others) await world.work(job, amount);
  await world.connect();
  return { world, replayId };
}

for (const loss of losses) {
  const scene = `${loss.slots} slots, lost ${loss.when}`;

  t.test(`a lost copy whose share is counted starts again (${scene})`, async (t) => {
    const { world, replayId } = await loseOne(loss, null);
    await world.workAll(null);
    const counts = { queued: 0, running: 0, settled: 4, succeeded: 4 };
    t.match(world.replay(replayId), { state: "finished", counts, spending: { spent: "0/1", unpriced: 4 } });
    t.same(world.complaints(), []);
  });

  t.test(`it starts twice again, and is unscored then (${scene})`, async (t) => {
    const { world, replayId } = await loseOne(loss, null);
    let again = 0;
    for (let jobs = world.jobs(); jobs.length > 0; jobs = world.jobs()) {
      const lost = jobs.find(({ runId }) => runId === world.copies(replayId)[0]?.runId);
      for (const job of jobs) if (job !== lost) await world.work(job, null);
      if (lost === undefined) continue;
      again += 1;
      await world.begin(lost);
      await world.connect();
    }
    t.equal(again, 2);
    t.match(world.replay(replayId), { state: "finished", counts: { succeeded: 3, unscored: 1 } });
    t.match(world.copies(replayId)[0], { why: { code: "runner-lost" }, lostRunIds: { length: 2 }, priced: false });
    t.equal(world.replay(replayId)?.spending.unpriced, 4, "it counts its share once");
    t.same(world.complaints(), []);
  });
}

for (const loss of [losses[0], losses[2]]) {
  t.test(`a lost copy does not start again once others reach the ceiling (${loss.slots} slots)`, async (t) => {
    const { world, replayId } = await loseOne(loss, 2);
    await world.workAll(2);
    t.match(world.replay(replayId), { state: "over-budget", counts: { queued: 0 }, spending: { unpriced: 1 } });
    t.match(world.copies(replayId)[0], { state: "waiting", result: null, lostRunIds: { length: 1 } });
    t.same(world.complaints(), []);
  });
}

t.test("at the ceiling a lost copy starts again, and none that has not run", async (t) => {
  const world = await ReplayWorld.open({ runs: 4 });
  const { replayId } = await world.start({ ceiling: { amount: 4, currency: "EUR" } });
  await world.begin(world.job());
  await world.connect();
  await world.work(world.job(), 3);
  t.match(world.replay(replayId), { state: "running", counts: { queued: 0, running: 1 } }, "others were withdrawn");
  await world.work(world.job(), 0.5);
  const counts = { queued: 0, running: 0, settled: 2, succeeded: 2 };
  t.match(world.replay(replayId), { state: "over-budget", counts, spending: { spent: "7/2", unpriced: 1 } });
  t.match(
    world.copies(replayId).map(({ state }) => state),
    ["settled", "settled", "waiting", "waiting"],
  );
  t.same(world.complaints(), []);
});

t.test("what starts again at the ceiling counts what it costs, and nothing starts after it", async (t) => {
  const world = await ReplayWorld.open({ runs: 4 });
  const { replayId } = await world.start({ ceiling: { amount: 4, currency: "EUR" } });
  await world.begin(world.job());
  await world.connect();
  await world.work(world.job(), 2.9);
  await world.work(world.job(), 0.09);
  t.match(world.replay(replayId), { state: "running", spending: { spent: "299/100", unpriced: 1 } }, "3.99 of 4");
  await world.work(world.job(), 0.01);
  t.equal(await world.workAll(5), 1, "the lost one: what is reported is below the ceiling still");
  t.match(world.replay(replayId), { state: "finished", spending: { spent: "8/1", unpriced: 1 } });
  t.same(world.complaints(), []);
});

t.test("a copy that never began its agent counts nothing", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start();
  const failure = { code: "checkout-failed", message: "There is no such commit.", output: "" } as const;
  for (let n = 0; n < 2; n++) await world.end(world.job(), null, { outcome: "failed", ending: null, failure });
  t.match(world.replay(replayId), { state: "finished", counts: { unscored: 2 }, spending: { unpriced: 0 } });
});

t.test("amounts beyond the bound reach the ceiling, and nothing is shown that is no number", async (t) => {
  const world = await ReplayWorld.open({ runs: 3, slots: 4 });
  const { replayId } = await world.start();
  const [first, second] = world.jobs();
  if (first === undefined || second === undefined) throw new Error("two are given at once");
  for (const job of [first, second]) {
    await world.begin(job);
    for (const index of [0, 1]) {
      const spent = { amount: 1.7e308, currency: "EUR" };
      await world.say(job, { type: "run.step", step: { index, kind: "message", text: "", tool: null, spent } });
    }
    await world.end(job, null);
  }
  const replay = world.replay(replayId);
  t.match(replay, { state: "over-budget", spending: { spent: `${2 * MAX_AMOUNT}/1` } });
  t.same(
    world.copies(replayId).map(({ spent }) => spent?.amount ?? null),
    [MAX_AMOUNT, MAX_AMOUNT, null],
  );
  if (replay === undefined) throw new Error("the replay has a row");
  t.equal(replayRowView(replay).progress.spent.amount, MAX_AMOUNT);
  t.equal(totalsView(replay, successTotals([])).spent.amount, MAX_AMOUNT);
  t.same(world.complaints(), []);
});

t.test("a replay whose runs hold amounts that are no numbers goes on, stops, and is removed", async (t) => {
  for (const [currency, state] of [
    ["EUR", "over-budget"],
    ["USD", "stopped"],
  ] as const) {
    const world = await ReplayWorld.open({ runs: 3, slots: 4 });
    const { replayId } = await world.start();
    for (const job of world.jobs()) await world.begin(job);
    const begun = runs.list(world.harness.durable, workspaceId).filter(({ owner }) => owner.kind === "replay");
    await world.write((rows) => {
      for (const row of begun) {
        const spent = { amount: Number.POSITIVE_INFINITY, currency };
        rows.put(runs.key(workspaceId, row.id), { ...row, spent });
      }
    });
    const stopped = await world.stop(replayId);
    t.match(stopped, state === "stopped" ? { replayed: false } : { refused: "conflict" });
    t.match(world.replay(replayId), { state, counts: { queued: 0, running: 0 } });
    const amounts = new Set(world.copies(replayId).flatMap(({ spent }) => spent?.amount ?? []));
    t.same([...amounts], [MAX_AMOUNT]);
    t.match(await world.askSets({ type: "set.delete", setId: world.setId }), { setId: world.setId });
    await world.harness.advance(60_000);
    t.equal(world.replay(replayId), undefined);
    t.same(world.complaints(), []);
  }
});

t.test("the smallest ceiling is raised exactly, and a replay under it comes to its end", async (t) => {
  for (const amount of [1e-305, 5e-324]) {
    t.same(raiseCeiling({ amount, currency: "EUR" }, 1, 3), { amount: 3 * amount, currency: "EUR" });
  }
  const world = await ReplayWorld.open({ runs: 5 });
  const { replayId } = await world.start({ ceiling: { amount: 1e-305, currency: "EUR" } });
  t.equal(await world.workAll(1), 1);
  t.match(world.replay(replayId), { state: "over-budget", repeats: 3, counts: { settled: 1 } });
  t.same(world.complaints(), []);
});

t.test("a second attempt adds to a lost one up to the most that an amount is", async (t) => {
  const lost = { amount: 1.7e308, currency: "EUR" };
  for (const [before, more] of [
    [lost, lost],
    [null, lost],
    [lost, null],
    [{ ...lost, currency: "USD" }, lost],
  ] as const) {
    t.same(addReported(before, more, "EUR"), { amount: MAX_AMOUNT, currency: "EUR" });
  }
});

const attempts = fc.array(
  fc.record({
    copy: fc.nat(3),
    began: fc.boolean(),
    outcome: fc.constantFrom("completed", "abandoned", "failed"),
    spent: fc.option(
      fc.record({
        amount: fc.integer({ min: 0, max: 300 }).map((cents) => cents / 100),
        currency: fc.constantFrom("EUR", "EUR", "USD"),
      }),
    ),
  }),
  { maxLength: 12 },
);

t.test("counted step by step, what counts is what the copies say", async () => {
  fc.assert(
    fc.property(attempts, (list) => {
      let row: ReplayRow = replayRow({ state: "running", runs: 4, counts: { ...replayRow().counts, running: 4 } });
      const copies = new Map<number, ReplayCopyRow>([0, 1, 2, 3].map((place) => [place, runningCopy(place)]));
      for (const { copy, began, outcome, spent } of list) {
        const stored = copies.get(copy);
        if (stored === undefined || stored.result !== null) continue;
        const before: ReplayCopyRow = { ...stored, state: "running" };
        row = countChanges(row, [{ before: stored, after: before }]);
        const run = { ...endedRun, outcome, spent, startedAt: began ? "2026-01-01T00:00:00.000Z" : null } as RunRow;
        const after = endAttempt(row, before, run, replayInput());
        row = countChanges(row, [{ before, after }]);
        copies.set(copy, after);
      }
      const priced = [...copies.values()];
      const { settled, succeeded, failed, unscored } = row.counts;
      return (
        compare(countSpent(row), countedSpend(priced, row)) === 0 &&
        settled === succeeded + failed + unscored &&
        settled === priced.filter(({ result }) => result !== null).length &&
        toText(fromText(row.spending.spent)) === row.spending.spent
      );
    }),
  );
});

t.test("a copy that is queued or taken leaves the spending as it is, so that no purse is counted anew", (t) => {
  const row = replayRow({ state: "running" });
  const taken = runningCopy(1);
  const queued: ReplayCopyRow = { ...taken, state: "queued" };
  t.equal(countChanges(row, [{ before: queued, after: taken }]).spending, row.spending, "the very same");
  const settled: ReplayCopyRow = { ...taken, state: "settled", spent: { amount: 1, currency: row.ceiling.currency } };
  const { spending } = countChanges(row, [{ before: taken, after: settled }]);
  t.same(spending, { ...row.spending, spent: toText(add(fromText(row.spending.spent), fraction(1))) });
  const unpriced: ReplayCopyRow = { ...taken, state: "settled", priced: false };
  t.match(countChanges(row, [{ before: taken, after: unpriced }]).spending, { unpriced: row.spending.unpriced + 1 });
  t.end();
});

function runningCopy(place: number): ReplayCopyRow {
  return {
    replayId: "rep_1",
    place,
    repeat: 1,
    originalRunId: "run_1",
    taskId: "task_1",
    state: "running",
    runId: "run_2",
    lostRunIds: [],
    result: null,
    why: null,
    outcome: null,
    check: null,
    spent: null,
    priced: true,
    steps: null,
    ms: null,
    toolMisses: 0,
  };
}

const endedRun = {
  id: "run_2",
  reason: null,
  ending: { kind: "finish", note: "" },
  failure: null,
  check: null,
  steps: 1,
  endedAt: "2026-01-01T00:00:01.000Z",
};
