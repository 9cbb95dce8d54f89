import t from "tap";
import { toText } from "../../../../actors/fraction.js";
import { sumMoney } from "../../../../actors/money.js";
import type { ModelReply } from "../../../../actors/outbound/models/model.js";
import type { ModelRequest } from "../../../../actors/outbound/models/model-request.js";
import { toReplayJudging } from "../../../../actors/replays/judging/model-terms.js";
import { replayRechecks } from "../../../../actors/replays/judging/replay-recheck.table.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { inForm } from "../../../../http/demo/scripted-model.js";
import { ReplayWorld, type ReplayWorldOptions } from "../../../support/replay-world.js";
import { base } from "../../../support/stepped-work.js";
import { workspaceId } from "../../../support/work.js";

/** Replays at a station with a judge, over simulated time. The test acts as the runner and the model. */

const MINUTE_MS = 60_000;
const judge = { rubric: "Is it good?", scale: "yes-no", passScore: null, claims: [], passShare: null, model: null };
/** An answer costs 0.011. A question in progress counts as slightly more than 0.08. */
const judging = toReplayJudging({ name: "m", prices: { in: 10, out: 10, currency: "EUR", models: {} } });
const usage = { in: 1_000, out: 100 };
const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+one\n";
const checkouts = [{ repository: "acme/app", base: base("b"), diff }];

function says(schema: ModelRequest["schema"], boolean = true): ModelReply {
  const form = { json_schema: { schema: { ...schema } } };
  const value = inForm({ model: "m", messages: [], headers: {}, response_format: form }, { boolean });
  return { kind: "completion", text: JSON.stringify(value), isCut: false, usage };
}

const down: ModelReply = { kind: "unavailable", reason: "the model answered 503", retryAtMs: null, mayCost: false };

function open(options: ReplayWorldOptions = {}): Promise<ReplayWorld> {
  return ReplayWorld.open({ judging, station: { judge }, model: ({ schema }) => says(schema), ...options });
}

/** Works on the runner's only job, for 0.1. */
const work = (world: ReplayWorld) => world.work(world.job(), 0.1, { checkouts });

t.test("a replay finishes with the verdict on its last copy", async (t) => {
  const world = await open({ runs: 2, model: ({ schema }) => says(schema, false) });
  const { replayId } = await world.start();
  await work(world);
  await work(world);
  t.match(world.replay(replayId), { state: "running", counts: { settled: 2, succeeded: 0, failed: 0 } });
  await world.harness.advance(10_000);
  t.match(world.replay(replayId), { state: "finished", judged: true, counts: { settled: 2, failed: 2 } });
  t.match(world.copies(replayId), [
    { state: "judged", why: { code: "judge-failed" }, spent: { amount: 0.111, currency: "EUR" }, priced: true },
    { state: "judged" },
  ]);
  t.match(world.replay(replayId)?.spending, { spent: "111/500", besides: "0/1" });
  t.same(world.complaints(), []);
});

t.test("what is only asked may reach the ceiling for a while: its queue goes back, and on again", async (t) => {
  const world = await open({ runs: 4 });
  const { replayId } = await world.start({ ceiling: { amount: 0.45, currency: "EUR" } });
  await work(world);
  const second = world.job();
  await world.begin(second);
  await world.end(second, 0.2, { checkouts });
  t.match(world.replay(replayId), { state: "running", counts: { queued: 0, running: 0, settled: 2 } });
  t.same(world.jobs(), [], "0.3 and two questions under way leave nothing");
  await world.harness.advance(10_000);
  t.match(world.replay(replayId), { state: "running", counts: { queued: 1, running: 1, succeeded: 2 } });
  await work(world);
  await world.harness.advance(10_000);
  await work(world);
  await world.harness.advance(10_000);
  t.match(world.replay(replayId), { state: "finished", counts: { settled: 4, succeeded: 4 } });
  t.same(world.complaints(), []);
});

t.test("a replay is over budget once what it ran is judged", async (t) => {
  const world = await open({ runs: 4 });
  const { replayId } = await world.start({ ceiling: { amount: 0.2, currency: "EUR" } });
  await work(world);
  await world.harness.advance(10_000);
  await work(world);
  t.match(world.replay(replayId), { state: "running", counts: { queued: 0, settled: 2, succeeded: 1 } });
  await world.harness.advance(10_000);
  t.match(world.replay(replayId), { state: "over-budget", judged: true, counts: { settled: 2, succeeded: 2 } });
  t.same(world.complaints(), []);
});

t.test("while the model is down for an hour, and the service killed, the replay waits and says so", async (t) => {
  let isDown = true;
  let asked = 0;
  const model = ({ schema }: ModelRequest) => {
    asked += 1;
    return isDown ? down : says(schema);
  };
  const world = await open({ runs: 2, model });
  const { replayId } = await world.start();
  await work(world);
  await work(world);
  await world.harness.advance(30 * MINUTE_MS);
  const { waiting } = world.replay(replayId) ?? {};
  t.match(waiting, { for: "model", since: /^2/ });
  world.harness.crash();
  await world.restart();
  await world.harness.advance(30 * MINUTE_MS);
  t.match(world.replay(replayId), { state: "running", waiting, counts: { settled: 2, succeeded: 0 } });
  t.ok(asked >= 16 && asked <= 40, `${asked} requests in an hour`);
  isDown = false;
  await world.harness.advance(10 * MINUTE_MS);
  t.match(world.replay(replayId), { state: "finished", waiting: null, counts: { succeeded: 2 } });
  t.same(world.replay(replayId)?.spending.besides, "0/1");
  t.same(world.complaints(), []);
});

t.test("killed at any commit while it is judged, a replay finishes, and counts each answer once", async (t) => {
  let kills = 0;
  for (const when of ["before", "after"] as const) {
    for (let commit = 1, isKilled = true; isKilled; commit++) {
      const world = await open({ runs: 2 });
      const { harness } = world;
      const { replayId } = await world.start();
      await work(world);
      await work(world);
      harness.killAt = { commit: harness.batches.length + commit, when };
      await harness.advance(15_000);
      isKilled = harness.batches.length >= harness.killAt.commit;
      if (isKilled) {
        kills += 1;
        harness.crash();
        harness.killAt = null;
        await world.restart();
        await harness.advance(15_000);
      }
      const at = `killed ${when} commit ${commit}`;
      t.match(world.replay(replayId), { state: "finished", judged: true, counts: { settled: 2, succeeded: 2 } }, at);
      const spent = world.copies(replayId).flatMap((copy) => copy.spent ?? []);
      t.same(
        world.replay(replayId)?.spending,
        { spent: toText(sumMoney(spent, "EUR")), besides: "0/1", unpriced: 0 },
        at,
      );
      const verdicts = replayVerdicts.list(harness.durable, workspaceId, [replayId]);
      for (const { spent: asked } of verdicts) {
        t.equal(asked.isEstimate, asked.calls > 1, at);
        if (asked.calls === 1) t.equal(asked.cost?.amount, 0.011, at);
      }
      t.same(world.complaints(), [], at);
    }
  }
  t.ok(kills >= 6, `${kills} kills`);
});

t.test("a stop ends the judging, and with it a copy's wait for its result", async (t) => {
  const world = await open({ runs: 2 });
  const { replayId } = await world.start();
  await work(world);
  t.same(await world.stop(replayId), { replayed: false });
  await world.harness.advance(MINUTE_MS);
  t.match(world.replay(replayId), { state: "stopped", judged: true, counts: { settled: 2, unscored: 2 } });
  t.match(world.copies(replayId), [
    { state: "judged", why: { code: "stopped" } },
    { state: "settled", why: { code: "withdrawn" } },
  ]);
  t.same(world.complaints(), []);
});

/** Works on copies and second checks until there are no more jobs; each check passes. */
async function workAll(world: ReplayWorld): Promise<void> {
  const check = { passed: true, exitCode: 0, output: "fine" };
  for (let jobs = world.jobs(); jobs.length > 0; jobs = world.jobs()) {
    for (const job of jobs) await world.work(job, 0.1, { checkouts, check });
    await world.harness.advance(3_000);
  }
}

t.test(
  "a baseline that checks its set is looked at again after its end, and goes with its set meanwhile",
  async (t) => {
    const world = await open({ runs: 5, slots: 8, station: { judge, check: "make" } });
    const { replayId } = await world.start({ ceiling: { amount: 50, currency: "EUR" } });
    for (let n = 0; world.replay(replayId)?.state !== "finished" && n < 15; n++) {
      for (const job of world.jobs()) {
        await world.work(job, 0.1, { checkouts, check: { passed: true, exitCode: 0, output: "fine" } });
      }
      await world.harness.advance(2_000);
    }
    t.match(world.replay(replayId), { state: "finished", probe: true, counts: { succeeded: 15 } });
    await workAll(world);
    await world.harness.advance(MINUTE_MS);
    const { durable } = world.harness;
    t.equal(replayVerdicts.list(durable, workspaceId, [replayId]).filter(({ state }) => state === "judged").length, 30);
    t.equal(replayRechecks.list(durable, workspaceId, [replayId]).filter(({ check }) => check?.passed).length, 15);
    t.equal(world.replay(replayId)?.judged, true);
    t.same(await world.askSets({ type: "set.delete", setId: world.setId }), { setId: world.setId, replayed: false });
    await world.harness.advance(MINUTE_MS);
    const tables = ["replay", "replay-copy", "replay-verdict", "replay-pair", "replay-recheck", "replay-judging"];
    for (const table of tables) t.same(durable.range({ prefix: [workspaceId, "row", table] }), [], table);
    t.same(world.runStates(), []);
    t.same(world.complaints(), []);
  },
);

t.test("a set that goes while its baseline is looked at again ends that", async (t) => {
  let isDown = false;
  const model = ({ schema }: ModelRequest) => (isDown ? down : says(schema));
  const world = await open({ runs: 5, slots: 8, model, station: { judge, check: "make" } });
  const { replayId } = await world.start({ ceiling: { amount: 50, currency: "EUR" } });
  for (let n = 0; world.replay(replayId)?.state !== "finished" && n < 15; n++) {
    for (const job of world.jobs()) {
      await world.work(job, 0.1, { checkouts, check: { passed: true, exitCode: 0, output: "fine" } });
    }
    await world.harness.advance(1_100);
    isDown = world.replay(replayId)?.counts.succeeded === 15;
  }
  isDown = true;
  await world.harness.advance(MINUTE_MS);
  t.match(world.replay(replayId), { state: "finished", judged: false, waiting: { for: "model" } });
  t.same(await world.askSets({ type: "set.delete", setId: world.setId }), { setId: world.setId, replayed: false });
  await world.harness.advance(10 * MINUTE_MS);
  const { durable } = world.harness;
  const tables = ["replay-verdict", "replay-recheck", "replay-judging", "queued-run", "run-lane"];
  for (const table of tables) t.same(durable.range({ prefix: [workspaceId, "row", table] }), [], table);
  for (const space of ["effect", "timer"]) {
    const left = durable.range({ prefix: [workspaceId, space] }).filter(({ key }) => key.includes("replay"));
    t.same(left, [], space);
  }
  t.same(world.runStates(), []);
  t.same(world.complaints(), []);
});
