import t from "tap";
import { checkView, whatCheckWaitsFor } from "../../../actors/checks/check.view.js";
import { replayCheckResults } from "../../../actors/checks/check-result.table.js";
import { readSides } from "../../../actors/checks/check-sides.js";
import type { LineFields } from "../../../actors/lines/line.js";
import { isRefusal } from "../../../actors/refusal.js";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { replayInputs } from "../../../actors/replays/replay/replay-input.table.js";
import { replaySetsRef } from "../../../actors/replays/sets/replay-set.messages.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import {
  allChecks,
  checkComplaints,
  checkedLine,
  openCheckWorld,
  startCheck,
  toCheck,
  tryCheck,
  workJobs,
} from "../../support/check-world.js";
import { replayInput, replayRow } from "../../support/replay-rows.js";
import type { ReplayWorld } from "../../support/replay-world.js";
import { lineId, teamId, workspaceId } from "../../support/work.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Works until there are no more jobs, and waits until the service has processed the results. */
async function workOut(world: ReplayWorld, fails?: (replayId: string) => boolean): Promise<void> {
  do await world.connectedAsk();
  while ((await workJobs(world, fails)) > 0);
  await world.connectedAsk();
}

/** Kills the process, changes the line in the store, and starts another process. */
async function changeLine(world: ReplayWorld, change: (line: LineFields) => LineFields): Promise<void> {
  const row = resources.get(world.harness.durable, workspaceId, "line", lineId) as ResourceRow<LineFields>;
  await world.write((rows) =>
    resources.put(rows, workspaceId, ["line", lineId], { ...row, fields: change(row.fields) }),
  );
}

const view = (world: ReplayWorld, id: string) =>
  checkView(world.harness.durable, workspaceId, toCheck(world, id), { reused: false, latest: null });

t.test("of two starts of one change at once, one is a check and the other its reuse", async (t) => {
  const world = await openCheckWorld();
  const answers = await Promise.all([tryCheck(world), tryCheck(world)]);
  t.same(new Set(answers.map((each) => (isRefusal(each) ? each.refused : each.how))), new Set(["started", "reused"]));
  t.equal(new Set(answers.map((each) => (isRefusal(each) ? "" : each.checkId))).size, 1);
  t.same([allChecks(world).length, world.allReplays().length], [1, 2]);
  const idempotency = { scope: "usr_1", key: "k", digest: "d" };
  const [first, second] = await Promise.all([1, 2].map(() => tryCheck(world, { prompt: "A third", idempotency })));
  t.same([first, second].map((each) => each && !isRefusal(each) && each.how).sort(), ["replayed", "started"]);
  t.match(await tryCheck(world, { idempotency: { ...idempotency, digest: "other" } }), {
    refused: "idempotency-key-reused",
  });
});

t.test("checks of several changes share a baseline, and each is decided by its own side", async (t) => {
  const world = await openCheckWorld({ slots: 4 });
  const [worse, same] = [await startCheck(world, { prompt: "Worse" }), await startCheck(world, { prompt: "Same" })];
  const { replayId, baselineReplayId } = toCheck(world, worse);
  t.equal(toCheck(world, same).baselineReplayId, baselineReplayId);
  t.equal(world.allReplays().length, 3);
  await workOut(world, (id) => id === replayId);
  t.same([toCheck(world, worse).verdict, toCheck(world, same).verdict], ["failed", "passed"]);
  t.match(view(world, worse).regressions, [
    { title: "Do it", candidate: ["failed"], baseline: ["succeeded"], reasons: [{ code: "harness-failed" }] },
    { title: "Do 2" },
  ]);
  t.same(checkComplaints(world), []);
  const later = await startCheck(world, { prompt: "Later", repeats: 1 });
  t.equal(toCheck(world, later).baselineReplayId, baselineReplayId, "one that finished serves too");
  const more = await startCheck(world, { prompt: "Later", repeats: 2 });
  t.not(toCheck(world, more).baselineReplayId, baselineReplayId, "one with fewer copies does not");
});

t.test("a check says what it waits for, and since when, while neither replay goes on", async (t) => {
  const world = await openCheckWorld({ slots: 0 });
  const id = await startCheck(world);
  await world.connectedAsk();
  const { durable } = world.harness;
  const read = (latest: Reading | null) =>
    checkView(durable, workspaceId, toCheck(world, id), { reused: false, latest }).waiting;
  const queued = world.allReplays().flatMap((replay) => listCopies(durable, workspaceId, replay.id));
  const [first = ""] = queued.map(({ runId }) => runId ?? "").sort();
  const since = new Date(runs.get(durable, workspaceId, first)?.queuedAtMs ?? 0).toISOString();
  t.same(read(durable), { for: "runner", since });
  t.equal(read(null), null, "streams look at no runners");

  const { candidate, baseline } = readSides(durable, workspaceId, toCheck(world, id));
  if (candidate === null || baseline === null) throw new Error("a replay is gone");
  type Changes = Partial<ReplayRow>;
  const ask = (latest: Reading | null, own: Changes, other: Changes) =>
    whatCheckWaitsFor(latest, workspaceId, {
      candidate: { ...candidate, replay: { ...candidate.replay, ...own } },
      baseline: { ...baseline, replay: { ...baseline.replay, ...other } },
    });
  const model = { for: "model", since: "2026-01-01T00:00:00.000Z" } as const;
  const goesOn = { counts: { ...baseline.replay.counts, running: 1 } };
  t.match(ask(durable, { waiting: model }, {}), { for: "runner" }, "runners before the model");
  t.equal(ask(null, { waiting: model }, {}), null, "the other is not known to wait");
  t.same(ask(null, { waiting: model }, { waiting: model }), model);
  t.equal(ask(durable, { waiting: model }, goesOn), null, "one goes on");
  t.same(ask(durable, { waiting: model }, { ...goesOn, state: "finished" }), model, "one is over");
  t.equal(ask(durable, { state: "finished" }, { state: "finished" }), null, "both are over");
});

t.test("an earlier check holds while set, terms and repeats are the same, unless it is undecided", async (t) => {
  const world = await openCheckWorld({ runs: 2, slots: 4 });
  const first = await startCheck(world);
  await workOut(world);
  t.same(await tryCheck(world), { checkId: first, how: "reused" });
  const attempts = async (of = {}) => toCheck(world, await startCheck(world, of)).attempt;
  t.equal(await attempts({ repeats: 2 }), 2);
  await workOut(world);
  await changeLine(world, (line) => ({ ...line, replayCheck: { ...terms(line), mostRegressions: 1 } }));
  t.equal(await attempts(), 3, "another threshold");
  await workOut(world);
  await world.askSets({ type: "entry.remove", setId: world.setId, runId: "run_2" });
  const alone = await startCheck(world);
  t.match(toCheck(world, alone), { attempt: 4, tasks: 1 }, "other runs");
  await world.stop(toCheck(world, alone).replayId);
  await workOut(world);
  t.match(toCheck(world, alone), { verdict: "undecided", undecidedBecause: "stopped" });
  t.equal(await attempts(), 5, "what is undecided is tried again");
  await workOut(world);
  await changeLine(world, (line) => withPrompt(line, "The live one"));
  t.equal(await attempts(), 1, "against another live config");
  t.equal(await attempts({ prompt: "" }), 1, "another change");
});

function terms({ replayCheck }: LineFields): NonNullable<LineFields["replayCheck"]> {
  if (replayCheck === null) throw new Error("the line has no terms");
  return replayCheck;
}

function withPrompt(line: LineFields, prompt: string): LineFields {
  return { ...line, stations: line.stations.map((each, index) => (index === 0 ? { ...each, prompt } : each)) };
}

t.test("what changes meanwhile changes nothing: the config, the terms, the set, the station", async (t) => {
  const changes: readonly [what: string, (world: ReplayWorld) => Promise<unknown>][] = [
    ["the config", (world) => changeLine(world, (line) => withPrompt(line, "Otherwise"))],
    ["the terms", (world) => changeLine(world, (line) => ({ ...line, replayCheck: null }))],
    ["the set", (world) => world.askSets({ type: "entry.remove", setId: world.setId, runId: "run_1" })],
    ["the mark", (world) => world.askSets({ type: "guard.mark", setId: world.setId, guardsChanges: false })],
    ["the station", (world) => changeLine(world, (line) => ({ ...line, stations: line.stations.slice(1) }))],
  ];
  for (const [what, change] of changes) {
    const world = await openCheckWorld({ slots: 2 });
    const id = await startCheck(world);
    await change(world);
    const { replayId } = toCheck(world, id);
    await workOut(world, (each) => each === replayId);
    t.match(toCheck(world, id), { verdict: "failed", regressed: 2, compared: 2, tasks: 2 }, what);
    t.same(checkComplaints(world), [], what);
  }
});

t.test("a set is not deleted while it is checked, and a check outlives its set", async (t) => {
  const world = await openCheckWorld({ slots: 2 });
  const id = await startCheck(world);
  const remove = () => world.askSets({ type: "set.delete", setId: world.setId });
  t.match(await remove(), { refused: "conflict" });
  const { replayId } = toCheck(world, id);
  await workOut(world, (each) => each === replayId);
  const before = view(world, id);
  t.match(await remove(), { replayed: false });
  await world.harness.advance();
  t.same(world.allReplays(), []);
  const gone = { state: null };
  t.same(view(world, id), {
    ...before,
    setName: null,
    gain: null,
    threshold: { ...before.threshold, unpricedRun: null },
    candidate: { ...before.candidate, ...gone },
    baseline: { ...before.baseline, ...gone },
  });
  t.equal(before.regressions.length, 2);
});

t.test("a check whose replays go before it is decided is undecided, once", async (t) => {
  const world = await openCheckWorld();
  const id = await startCheck(world);
  await world.harness.ask(replaySetsRef(workspaceId, teamId), { type: "sets.dissolve" } as Message);
  await world.harness.advance();
  t.match(toCheck(world, id), { verdict: "undecided", undecidedBecause: "replay-gone", endedAt: /Z$/ });
  t.match(view(world, id), { candidate: { state: null, entries: 0, interval: null }, regressions: { length: 0 } });
});

t.test("a replay at its ceiling leaves a check undecided, unless it failed before", async (t) => {
  for (const [own, other, expected] of [
    [true, false, "over-ceiling"],
    [false, true, "baseline-unfinished"],
  ] as const) {
    const world = await openCheckWorld({ runs: 3, slots: 1, ...checkedLine({ ceiling: 2 }) });
    const id = await startCheck(world);
    const { replayId } = toCheck(world, id);
    for (let jobs = world.jobs(); jobs.length > 0; jobs = world.jobs()) {
      for (const job of jobs) {
        const isOwn = world.copies(replayId).some(({ runId }) => runId === job.runId);
        await world.work(job, (isOwn ? own : other) ? 2 : 0.1);
      }
    }
    t.match(toCheck(world, id), { verdict: "undecided", undecidedBecause: expected });
    t.equal(view(world, id).threshold.unpricedRun?.amount, 2 / 3);
    t.same(checkComplaints(world), []);
  }
  const failing = await openCheckWorld({ runs: 3, slots: 2, ...checkedLine({ ceiling: 2 }) });
  const id = await startCheck(failing);
  const { replayId } = toCheck(failing, id);
  await workOut(failing, (each) => each === replayId);
  t.match(failing.replay(replayId), { state: "over-budget" });
  t.match(toCheck(failing, id), { verdict: "failed" });
});

t.test("replays of a check stay while it runs; it goes some time after its end, with what it found", async (t) => {
  const retention = { ...defaultRetention, work: DAY_MS };
  const world = await openCheckWorld({ slots: 2, retention });
  const sweep = async () => {
    await world.harness.ask(retentionRef(workspaceId), { type: "retention.begin" });
    await world.harness.advance(4 * DAY_MS);
    await world.connect();
  };
  const over = await startCheck(world, { prompt: "Soon over" });
  await workOut(world);
  await changeLine(world, (line) => withPrompt(line, "The live one"));
  const running = await startCheck(world);
  const { replayId, baselineReplayId } = toCheck(world, running);
  await world.stop(baselineReplayId);
  await sweep();
  t.same(
    world.allReplays().map(({ id }) => id),
    [baselineReplayId, replayId],
    "a stopped one is nobody's baseline, but the check's",
  );
  t.same(
    allChecks(world).map(({ id }) => id),
    [running],
  );
  const { durable } = world.harness;
  t.same(replayCheckResults.list(durable, workspaceId), []);
  t.equal(durable.get([workspaceId, "actor", "replay-check", over]), undefined, "its actor is over");
  await workOut(world);
  t.match(toCheck(world, running), { verdict: "undecided", undecidedBecause: "baseline-unfinished" });
  await sweep();
  t.same([allChecks(world), world.allReplays()], [[], []]);
});

t.test("the chance of a false failure is known once a baseline with repeated copies has ended", async (t) => {
  const world = await openCheckWorld({ slots: 4 });
  const once = await startCheck(world);
  const warned = (id: string) => view(world, id).warnings;
  await workOut(world);
  t.match(warned(once), [{ kind: "false-failure", chance: null, text: /is not measured/ }]);
  const twice = await startCheck(world, { repeats: 2 });
  t.match(warned(twice), [{ chance: null }], "not while its baseline runs");
  await workOut(world);
  const [{ chance, text } = { chance: null, text: "" }] = warned(twice);
  t.ok(chance !== null && chance > 0 && chance < 1, String(chance));
  t.match(text, /^About \d/);
});

t.test("no check starts beyond the replays that a team may have under way, or that a set keeps", async (t) => {
  const states = [
    [{ state: "running", endedAt: null, judged: false }, 100, /^100 replays of the team are under way/],
    // Each replay is paired with the next replay, so no replay can be removed to free the quota.
    [{ state: "finished", judged: true }, 200, /^The set has 200 replays, the maximum/],
  ] as const;
  for (const [more, count, detail] of states) {
    const world = await openCheckWorld();
    await world.write((rows) => {
      for (let n = 0; n < count; n++) {
        const [id, pairedWith] = [`rep_${n}`, `rep_${(n + 1) % count}`];
        const row = replayRow({ ...more, id, pairedWith, teamId, setId: world.setId });
        replays.insert(rows, workspaceId, row);
        replayInputs.insert(rows, workspaceId, replayInput({ replayId: id }));
      }
    });
    t.match(await tryCheck(world), { refused: "conflict", detail });
    t.same(allChecks(world), []);
  }
});
