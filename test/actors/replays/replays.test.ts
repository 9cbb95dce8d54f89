import t from "tap";
import { resourceAddresses, resources } from "../../../actors/resources/resource.table.js";
import { ReplayWorld } from "../../support/replay-world.js";
import { workspaceId } from "../../support/work.js";

t.test("all runs of a set are repeated once before any twice, and the replay finishes", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start({ repeats: 2 });
  t.match(world.replay(replayId), { state: "running", counts: { queued: 3, running: 1 } });
  const order: string[] = [];
  for (let n = 0; n < 4; n++) {
    const job = world.job();
    const copy = world.copies(replayId).find(({ runId }) => runId === job.runId);
    order.push(`${copy?.originalRunId} ${copy?.repeat}`);
    await world.work(job, 0.1);
  }
  t.same(order, ["run_1 1", "run_2 1", "run_1 2", "run_2 2"]);
  t.match(world.replay(replayId), {
    state: "finished",
    counts: { queued: 0, running: 0, settled: 4, succeeded: 4, failed: 0, unscored: 0 },
    spending: { spent: "2/5", besides: "0/1", unpriced: 0 },
  });
  t.same(world.complaints(), []);
});

t.test("a copy whose runner is lost goes behind the others, and settles unscored at the third time", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start();
  const seen: string[] = [];
  const next = () => {
    const job = world.job();
    seen.push(world.copies(replayId).find(({ runId }) => runId === job.runId)?.originalRunId ?? "");
    return job;
  };
  const lose = async () => {
    next();
    await world.connect();
  };
  await world.begin(next());
  await world.connect();
  await lose();
  await lose();
  await world.work(next());
  t.match(world.replay(replayId), { state: "running", counts: { settled: 1, running: 1 } });
  await lose();
  t.same(seen, ["run_1", "run_2", "run_1", "run_2", "run_1"]);
  t.match(world.replay(replayId), { state: "finished", counts: { succeeded: 1, failed: 0, unscored: 1 } });
  t.match(world.copies(replayId), [
    { originalRunId: "run_1", result: "unscored", why: { code: "runner-lost" }, lostRunIds: { length: 2 } },
    { originalRunId: "run_2", result: "succeeded", lostRunIds: { length: 1 } },
  ]);
  t.same(world.replay(replayId)?.spending, { spent: "1/1", besides: "0/1", unpriced: 1 });
  t.same(world.complaints(), []);
});

t.test("calls of tools that were refused are counted, each time", async (t) => {
  const world = await ReplayWorld.open({ runs: 1 });
  const { replayId } = await world.start();
  const job = world.job();
  await world.begin(job);
  for (const [index, refusedBy] of ["service", "service", null].entries()) {
    const call = { server: "tracker", tool: "tracker.close", failed: false, refusedBy };
    const step = { index, kind: "tool", text: "close", tool: "tracker.close", spent: null, call };
    await world.say(job, { type: "run.step", step });
  }
  await world.end(job);
  t.match(world.copies(replayId), [{ result: "succeeded", steps: 3, toolMisses: 2 }]);
});

t.test("a stop withdraws its runs: what ran is unscored, what waited has no result", async (t) => {
  const world = await ReplayWorld.open({ runs: 3 });
  const { replayId } = await world.start();
  await world.work(world.job());
  const running = world.job();
  await world.begin(running);
  await world.say(running, {
    type: "run.step",
    step: { index: 0, kind: "message", text: "hi", tool: null, spent: { amount: 0.5, currency: "EUR" } },
  });
  t.same(await world.stop(replayId), { replayed: false });
  t.match(world.replay(replayId), {
    state: "stopped",
    counts: { queued: 0, running: 0, settled: 2, succeeded: 1, unscored: 1 },
    spending: { spent: "3/2", unpriced: 0 },
  });
  t.match(world.copies(replayId), [
    { state: "settled", result: "succeeded", why: null },
    { state: "settled", result: "unscored", why: { code: "withdrawn", text: "The replay was stopped." } },
    { state: "waiting", result: null, runId: null },
  ]);
  t.same(world.runStates(), ["completed", "withdrawn"], "the run that nobody took is not stored");
  t.match(await world.stop(replayId), { refused: "conflict", detail: "The replay has ended." });
  t.same(world.jobs(), [], "nothing more is given to runners");
  t.same(world.complaints(), []);
});

t.test("what is done to the set meanwhile changes nothing in a replay under way", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start();
  for (const runId of ["run_1", "run_2"]) await world.askSets({ type: "entry.remove", setId: world.setId, runId });
  t.equal(await world.workAll(), 2);
  t.match(world.replay(replayId), { state: "finished", setVersion: 3, counts: { succeeded: 2 } });
  t.same(world.complaints(), []);
});

t.test("a replay of 50 runs, five times each, makes its copies in slices and queues 20 at most", async (t) => {
  const world = await ReplayWorld.open({ runs: 50, slots: 10 });
  const { replayId } = await world.start({ repeats: 5, ceiling: { amount: 1_000, currency: "EUR" } });
  t.equal(world.copies(replayId).length, 250);
  t.match(world.replay(replayId), { counts: { queued: 20, running: 5 } }, "half of the pool's slots");
  for (const job of world.jobs()) await world.work(job);
  t.match(world.replay(replayId), { counts: { queued: 20, running: 5, succeeded: 5 } });
  t.same(await world.stop(replayId), { replayed: false });
  t.match(world.replay(replayId), { state: "stopped", counts: { queued: 0, running: 0, settled: 10 } });
  t.same(world.complaints(), []);
});

t.test("replays have half of the slots together, or the share that the workspace sets", async (t) => {
  const world = await ReplayWorld.open({ runs: 4, slots: 4 });
  await world.start();
  await world.start();
  t.equal(world.jobs().length, 2);
  const all = await ReplayWorld.open({ runs: 4, slots: 4 });
  await all.write((rows) => {
    const row = { kind: "workspace-runners", id: "wr_1", version: 1, workspaceId, teamId: null, address: "acme" };
    const fields = { defaultPool: null, maxConcurrentRuns: null, replaySlotsPercent: 100 };
    const rest = { hidden: {}, added: {}, createdAt: "", updatedAt: "" };
    resources.put(rows, workspaceId, [row.kind, row.id], { ...row, ...rest, fields });
    resourceAddresses.put(rows, workspaceId, [row.kind, row.address], row.id);
  });
  await all.start();
  await all.start();
  t.equal(all.jobs().length, 4);
});

t.test("two replays take turns at the runners", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const first = await world.start({ ceiling: { amount: 50, currency: "EUR" } });
  const second = await world.start({ ceiling: { amount: 50, currency: "EUR" } });
  const order: string[] = [];
  for (let n = 0; n < 4; n++) {
    const job = world.job();
    const isFirst = world.copies(first.replayId).some(({ runId }) => runId === job.runId);
    order.push(isFirst ? "first" : "second");
    await world.work(job);
  }
  t.same(order, ["first", "second", "first", "second"]);
  t.equal(world.replay(second.replayId)?.state, "finished");
});

t.test("a set that goes takes its replays with their runs, and nothing is left", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start();
  t.match(await world.askSets({ type: "set.delete", setId: world.setId }), {
    refused: "conflict",
    detail: "A replay of the set is under way. Stop it first, or wait until it has ended.",
  });
  await world.begin(world.job());
  await world.stop(replayId);
  t.same(await world.askSets({ type: "set.delete", setId: world.setId }), { setId: world.setId, replayed: false });
  await world.harness.advance();
  t.same([world.replay(replayId), world.copies(replayId), world.runStates()], [undefined, [], []]);
  const left = ["replay", "replay-input", "set-replay", "replay-copy-of-run", "run-lane", "queued-run"];
  for (const table of left) {
    t.same(world.harness.durable.range({ prefix: ["ws_1", "row", table] }), [], table);
  }
  const pins = world.harness.durable.range({ prefix: ["ws_1", "row", "pin"] });
  t.same(
    pins.filter(({ key }) => String(key.at(-1)).startsWith("rep_")),
    [],
  );
  t.same(world.harness.durable.range({ prefix: ["ws_1", "actor", "replay"] }), []);
  t.same(world.complaints(), []);
});

t.test("a team that is dissolved takes a replay under way with it", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { replayId } = await world.start();
  await world.begin(world.job());
  await world.askSets({ type: "sets.dissolve" });
  await world.harness.advance();
  t.same([world.replay(replayId), world.copies(replayId), world.runStates()], [undefined, [], []]);
  t.same(world.harness.durable.range({ prefix: ["ws_1", "row", "claim"] }), [], "the runner is free");
  t.same(world.complaints(), []);
});
