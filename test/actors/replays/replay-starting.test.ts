import t from "tap";
import { records } from "../../../actors/resources/change-record.table.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { ReplayWorld } from "../../support/replay-world.js";
import { lineId, workspaceId } from "../../support/work.js";

const ceiling = { amount: 10, currency: "EUR" };
const changed = { mine: { prompt: "Work better." } };

t.test("a candidate's replay starts a baseline beside it, once", async (t) => {
  const world = await ReplayWorld.open({ candidates: changed });
  const first = await world.start({ candidate: "mine", repeats: 2 });
  t.match(first, { ceiling, baseline: { ceiling, status: "starting" } });
  t.same(first.warnings, []);
  const baseline = world.replay(first.baseline?.id ?? "");
  const replay = world.replay(first.replayId);
  t.match(baseline, {
    candidate: { name: "Live config", kind: "live" },
    repeats: 2,
    probe: false,
    pairedWith: null,
    setVersion: 3,
  });
  t.match(replay, { candidate: { id: "mine", name: "The mine one", kind: "proposed" }, pairedWith: baseline?.id });
  t.not(replay?.runningFingerprint, baseline?.runningFingerprint);
  t.equal(replay?.scoringFingerprint, baseline?.scoringFingerprint);

  const second = await world.start({ candidate: "mine", repeats: 2 });
  t.equal(second.baseline, null, "the set has a baseline");
  t.equal(world.replay(second.replayId)?.pairedWith, baseline?.id);
  const more = await world.start({ candidate: "mine", repeats: 3 });
  t.match(more.baseline, { status: "starting" }, "it has too few copies");
  const started = records.list(world.harness.durable, workspaceId).filter(({ resource }) => resource === "replay");
  t.match(started, Array(5).fill({ action: "created", by: { kind: "person" } }), "all of them are in the change log");
});

t.test("a start warns when what the runs of the set cost was all in another currency", async (t) => {
  const world = await ReplayWorld.open({ candidates: changed });
  const warningsAfter = async (...spent: (string | null)[]) => {
    const rows = spent.flatMap((currency, index) => {
      const row = runs.get(world.harness.durable, workspaceId, `run_${index + 1}`);
      return row === undefined ? [] : [{ ...row, spent: currency === null ? null : { amount: 1, currency } }];
    });
    await world.write((into) => {
      for (const row of rows) into.put(runs.key(workspaceId, row.id), row);
    });
    const { replayId, warnings } = await world.start({ candidate: "live" });
    await world.stop(replayId);
    return warnings;
  };
  const warning = [{ kind: "other-currency" }];
  t.same(await warningsAfter("USD", "USD"), warning);
  t.same(await warningsAfter("USD", null), warning);
  t.same(await warningsAfter("USD", "EUR"), []);
  t.same(await warningsAfter("EUR", null), []);
  t.same(await warningsAfter(null, null), [], "none says what its cost was in");
});

t.test(
  "a baseline counts for the live config and the runs of the set as they are now, until it is stopped",
  async (t) => {
    const world = await ReplayWorld.open({ runs: 3, candidates: changed });
    const startsBaseline = async () => {
      const { baseline, replayId } = await world.start({ candidate: "mine" });
      await world.stop(replayId);
      return baseline?.id ?? null;
    };
    const first = await startsBaseline();
    t.not(first, null);
    t.equal(await startsBaseline(), null);
    await world.askSets({ type: "entry.remove", setId: world.setId, runId: "run_3" });
    t.equal(await startsBaseline(), null, "it covers the runs that are left");
    await world.stop(first ?? "");
    const second = await startsBaseline();
    t.not(second, null, "one that was stopped does not count");
    await world.askSets({ type: "entry.add", setId: world.setId, runId: "run_3" });
    t.not(await startsBaseline(), null, "another run is in the set");
  },
);

t.test(
  "the first baseline of a set of 5 runs checks it: three copies at least, under a ceiling as much higher",
  async (t) => {
    const world = await ReplayWorld.open({ runs: 5, candidates: changed });
    const beside = await world.start({ candidate: "mine", repeats: 2, ceiling: { amount: 0.1, currency: "EUR" } });
    t.same(beside.ceiling, { amount: 0.1, currency: "EUR" });
    t.match(beside.baseline, { ceiling: { amount: 0.15, currency: "EUR" }, status: "starting" });
    t.match(world.replay(beside.baseline?.id ?? ""), { probe: true, repeats: 3 });
    t.match(world.replay(beside.replayId), { probe: false, repeats: 2 });
    t.match(await world.start(), { ceiling, baseline: { ceiling, status: "started" } }, "the set is being checked");
    await world.stop(beside.baseline?.id ?? "");
    const live = await world.start({ repeats: 1, ceiling: { amount: 400, currency: "EUR" } });
    const cut = { amount: 1_000, currency: "EUR" };
    t.same([live.ceiling, live.baseline], [cut, { id: live.replayId, ceiling: cut, status: "started" }], "and cut");
    t.match(world.replay(live.replayId), { probe: true, repeats: 3 });
    await world.stop(live.replayId);
    t.match(world.replay((await world.start({ repeats: 5 })).replayId), { probe: true, repeats: 5, ceiling });
  },
);

t.test("a set of 4 runs is not checked", async (t) => {
  const world = await ReplayWorld.open({ runs: 4 });
  t.match(world.replay((await world.start()).replayId), { probe: false, repeats: 1, ceiling });
});

t.test("a run that cannot be repeated any more is unscored, and the others are replayed", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  await world.write((rows) => {
    const line = resources.get(world.harness.durable, workspaceId, "line", lineId);
    if (line !== undefined)
      resources.put(rows, workspaceId, ["line", lineId], { ...line, fields: { ...line.fields, repositories: [] } });
  });
  const { replayId } = await world.start();
  t.match(world.replay(replayId), { state: "finished", startedAt: null, counts: { settled: 2, unscored: 2 } });
  t.match(world.copies(replayId), Array(2).fill({ result: "unscored", why: { code: "repository-gone" } }));
  t.same(world.jobs(), []);
});
