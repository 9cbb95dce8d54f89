import t from "tap";
import { replayRetention } from "../../../actors/replays/replay/replay.retention.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import { SliceBudget } from "../../../actors/tables/slice-budget.js";
import { changePrompt, liveWorld, six } from "../../support/live-replays.js";
import { picturedReplay, putReplay } from "../../support/pictured-replays.js";
import { ReplayWorld } from "../../support/replay-world.js";
import { withTurn } from "../../support/turn.js";
import { lineId, workspaceId } from "../../support/work.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const retention = { ...defaultRetention, work: DAY_MS };
const ceiling = { amount: 100, currency: "EUR" };

/** Starts a replay and works on its runs. */
async function finish(world: ReplayWorld, of: object = {}): Promise<string> {
  const { replayId } = await world.start({ ceiling, ...of });
  await world.workAll();
  return replayId;
}

async function sweep(world: ReplayWorld): Promise<readonly string[]> {
  await world.harness.ask(retentionRef(workspaceId), { type: "retention.begin" });
  await world.harness.advance(4 * DAY_MS);
  return world.allReplays().map(({ id }) => id);
}

t.test("replays go some time after their end, but for those that the set is read with", async (t) => {
  const world = await ReplayWorld.open({ retention, candidates: { mine: { prompt: "Better." } } });
  const first = await finish(world);
  const twice = await finish(world, { repeats: 2 });
  const candidate = await finish(world, { candidate: "mine" });
  const stopped = (await world.start({ ceiling })).replayId;
  await world.stop(stopped);
  const baseline = await finish(world);
  const listRuns = (id: string) => world.copies(id).flatMap(({ runId }) => runId ?? []);
  const gone = [first, candidate, stopped].flatMap(listRuns);
  const kept = [twice, baseline].flatMap(listRuns);
  const underWay = (await world.start({ candidate: "mine", ceiling })).replayId;
  t.same(await sweep(world), [twice, baseline, underWay], "the baseline, and the one that tells of noise");
  t.same(
    [first, candidate, stopped].flatMap((id) => world.copies(id)),
    [],
  );
  const isStored = (id: string) => runs.get(world.harness.durable, workspaceId, id) !== undefined;
  t.same([gone.filter(isStored), kept.filter((id) => !isStored(id))], [[], []], "their runs go with them");
  t.ok(["run_1", "run_2"].every(isStored), "the set has these");
  await world.connect();
  await world.workAll();
  t.same(world.replay(underWay)?.state, "finished", "what it repeats was there");
});

t.test("when the live config changes, its replays before go too", async (t) => {
  const world = await ReplayWorld.open({ retention });
  await finish(world, { repeats: 2 });
  await world.write((rows) => {
    const line = resources.get(world.harness.durable, workspaceId, "line", lineId);
    if (line === undefined) throw new Error("there is no line");
    const [work, ...others] = line.fields.stations as readonly object[];
    const stations = [{ ...work, prompt: "Other." }, ...others];
    resources.put(rows, workspaceId, ["line", lineId], { ...line, fields: { ...line.fields, stations } });
  });
  t.same(await sweep(world), []);
});

t.test("a run that was taken out of its set is pinned until the replay of it has ended", async (t) => {
  const world = await ReplayWorld.open({ retention });
  const { replayId } = await world.start({ ceiling });
  await world.askSets({ type: "entry.remove", setId: world.setId, runId: "run_1" });
  const pinned = () =>
    world.harness.durable.range({ prefix: ["ws_1", "row", "pin", runs.name] }).map(({ key }) => key.slice(4));
  const by = [world.setId, replayId].sort();
  t.same(pinned(), [["run_1", replayId], ...by.map((id) => ["run_2", id])]);
  await world.workAll();
  t.match(world.replay(replayId), { state: "finished", counts: { succeeded: 2 } });
  t.same(pinned(), [["run_2", world.setId]]);
});

const nowMs = Date.parse("2026-03-01T00:00:00.000Z");

/** Returns the ids of the replays that a retention pass removes. The pass keeps replays that ended after February 1. */
function removedBy({ rows }: Pick<ReturnType<typeof liveWorld>, "rows">): readonly string[] {
  const cutoffMs = Date.parse("2026-02-01T00:00:00.000Z");
  const slice = { cutoffMs, from: null, budget: new SliceBudget({ rows: 10_000, bytes: 1e7 }) };
  const self = { partition: workspaceId, kind: "retention", id: "all" };
  const { sent } = withTurn(self, (turn) => replayRetention.sweep(turn, slice), { rows, now: nowMs });
  return sent.map(({ to }) => to.id);
}

t.test("what a set's health names stays, until its live config is another", async (t) => {
  const world = liveWorld();
  const { rows, live } = world;
  const put = (id: string, more: object) => putReplay(rows, picturedReplay(six("+"), { id, ...live, ...more }));
  put("rep_1", { repeats: 3 });
  put("rep_2", { probe: true, repeats: 3 });
  put("rep_3", { candidate: { id: "cand_2", name: "With the answer", kind: "with-answer" }, answers: "rep_1" });
  put("rep_4", {});
  put("rep_5", { search: { searchId: "search_1", candidateName: "seed" } });
  put("rep_6", { candidate: { id: "cand_3", name: "Other words", kind: "proposed" }, runningFingerprint: "other" });
  put("rep_7", { state: "stopped" });
  put("rep_8", { state: "running", endedAt: null });
  // Retention keeps these replays:
  //
  // - `rep_2`, a check of the set
  // - `rep_3`, an oracle, and `rep_1`, the replay that the oracle answers
  // - `rep_4`, the newest replay of the live config
  // - `rep_8`, which is still running
  t.same(removedBy(world), ["rep_5", "rep_6", "rep_7"]);
  changePrompt(rows);
  t.same(removedBy(world), ["rep_1", "rep_3", "rep_4", "rep_5", "rep_6", "rep_7"], "the check stays");
});
