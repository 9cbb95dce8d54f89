import t from "tap";
import { twoChecks, twoJudgings } from "../../../../actors/replays/judging/judging.view.js";
import {
  lookAfterEnd,
  stopJudging,
  takeRecheckRunOver,
} from "../../../../actors/replays/judging/replay-judging.transitions.js";
import { type ReplayRecheckRow, replayRechecks } from "../../../../actors/replays/judging/replay-recheck.table.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import type { ReplayCopyRow, ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import type { RunRow } from "../../../../actors/runs/run.js";
import type { StartRun } from "../../../../actors/runs/run.messages.js";
import { runCheckouts } from "../../../../actors/runs/run.table.js";
import { judgeAgreement } from "../../../../actors/statistics/second-looks.js";
import { JudgedReplay, type JudgedReplayOptions, verdict } from "../../../support/judged-replay.js";
import { workspaceId } from "../../../support/work.js";

/** Returns a finished baseline that probes its set. Judging each of its copies cost `cost`. */
function finished(options: JudgedReplayOptions, { cost = 0.5, met = () => true }: Judged = {}): JudgedReplay {
  const replay = new JudgedReplay(undefined, { probe: true, ...options });
  replay.judgeAll();
  replay.answerAll(({ messages }) => verdict(met(messages[1]?.content ?? ""), cost));
  end(replay, "finished");
  return replay;
}

interface Judged {
  readonly cost?: number | null;
  readonly met?: (shown: string) => boolean;
}

/** Whether the model was shown the change of copy number `place`. */
const isOf = (shown: string, place: number): boolean => shown.includes(`+rep_1 ${place}\n`);

/** Ends the replay, and starts its second looks. */
function end(replay: JudgedReplay, state: ReplayRow["state"]) {
  return replay.act((scene) => {
    const { row } = replay;
    replays.put(scene.turn, workspaceId, row, { ...row, state });
    lookAfterEnd(scene);
  });
}

const seconds = (replay: JudgedReplay) =>
  replayVerdicts.list(replay.rows, workspaceId, [replay.id]).filter(({ which }) => which === "second");
const listStates = (rows: readonly { readonly state: string }[]) => rows.map(({ state }) => state);

t.test("a checking baseline has every verdict judged again, and no result changes", async (t) => {
  const replay = finished({ runs: 6 }, { met: (shown) => !isOf(shown, 2) });
  const before = replay.copies;
  t.same(listStates(seconds(replay)), Array(6).fill("asked"), "all are to come at once, for the set's health");
  t.equal(replay.row.judged, false);
  replay.answerAll((question) => {
    t.match(question.messages[1]?.content, /the change/);
    const shown = question.messages[1]?.content ?? "";
    return verdict(!isOf(shown, 1) && !isOf(shown, 2), 0.5);
  });
  t.same(replay.copies, before);
  t.match(replay.row, { judged: true, counts: { succeeded: 5, failed: 1 } });
  t.match(replay.row.spending, { spent: "3/1", besides: "3/1" }, "they count beside what copies spent");
  const rows = replayVerdicts.list(replay.rows, workspaceId, ["rep_1"]);
  const pairs = [1, 2, 3, 4, 5, 6].map((place) => {
    const [first, second] = rows.filter((row) => row.place === place);
    return twoJudgings(first, second);
  });
  t.match(judgeAgreement(pairs), { compared: 6, agreed: 5, pending: 0, unstable: false });
});

t.test("a copy without a verdict is not judged again", async (t) => {
  const replay = new JudgedReplay(undefined, { probe: true, runs: 2, terms: null });
  replay.judgeAll();
  end(replay, "finished");
  t.same(seconds(replay), []);
  t.equal(replay.row.judged, true);
});

t.test("they are judged in order while the ceiling has room for one more at what its first judging cost", async (t) => {
  // The four first judgings cost 0.5 each. The remaining 0.75 of the ceiling is enough for one further judging, but not
  // for two.
  const replay = finished({ runs: 4, ceiling: 2.75 });
  replay.answerAll(() => verdict(true, 0.5));
  t.same(listStates(seconds(replay)), ["judged", "none", "none", "none"]);
  t.match(seconds(replay)[1]?.none, { code: "budget" });
  t.equal(replay.row.judged, true);
  const exact = finished({ runs: 4, ceiling: 4 });
  exact.answerAll(() => verdict(true, 0.5));
  t.same(listStates(seconds(exact)), Array(4).fill("judged"), "up to the last amount");
});

t.test("an estimate that is too high keeps no judging from its room, it only has it wait", async (t) => {
  const replay = finished({ runs: 4, ceiling: 0.009 }, { cost: 0.001 });
  let most = 0;
  replay.answerAll(() => {
    replay.goOn();
    most = Math.max(most, replay.asked.size);
    return verdict(true, 0.001);
  });
  t.equal(most, 1, "each question counts more than is left for two");
  t.same(listStates(seconds(replay)), Array(4).fill("judged"));
});

t.test("a judging that costs nothing that counts always has room", async (t) => {
  const replay = finished({ runs: 2, ceiling: 0.001, terms: { name: "m", prices: null } }, { cost: null });
  replay.answerAll(() => verdict(true, null));
  t.same(listStates(seconds(replay)), ["judged", "judged"]);
});

t.test("a replay that was stopped, or does not check its set, is not looked at again", async (t) => {
  for (const [state, probe] of [
    ["stopped", true],
    ["over-budget", true],
    ["finished", false],
  ] as const) {
    const replay = new JudgedReplay(undefined, { probe, runs: 2 });
    replay.judgeAll();
    replay.answerAll(() => verdict(true));
    end(replay, state);
    t.same(seconds(replay), []);
    t.equal(replay.row.judged, true, state);
  }
});

const check: ReplayCopyRow["check"] = { passed: true, exitCode: 0, tail: "fine" };

/** Returns the second checks that a turn started. */
function listStarts(taken: ReturnType<typeof end>): readonly { readonly runId: string; readonly start: StartRun }[] {
  return taken.sent.flatMap(({ to, message }) =>
    message.type === "run.start" ? [{ runId: to.id, start: message as StartRun }] : [],
  );
}

function findRecheck(replay: JudgedReplay, place: number): ReplayRecheckRow | undefined {
  return replayRechecks.get(replay.rows, workspaceId, replay.id, place, 1);
}

const runOver = (replay: JudgedReplay, run: Partial<RunRow>) =>
  replay.act((scene) =>
    takeRecheckRunOver(scene, { outcome: "completed", reason: null, check: null, ...run } as RunRow),
  );

t.test("what was checked is checked again, in a run that only checks what the copy left", async (t) => {
  const replay = new JudgedReplay(undefined, { probe: true, runs: 2, judge: null, copy: { state: "settled", check } });
  const starts = listStarts(end(replay, "finished"));
  t.equal(starts.length, 2);
  const [left] = runCheckouts.list(replay.rows, workspaceId, ["run_rep_1_1_1"]);
  t.match(starts[0]?.start, {
    owner: { kind: "replay", id: "rep_1" },
    lane: "replay:rep_1",
    beginning: {
      replay: { does: "check" },
      checkouts: [{ repository: "acme/app", base: left?.base, diff: left?.digest }],
    },
  });
  t.match(findRecheck(replay, 1), { state: "asked", runId: starts[0]?.runId });
  t.equal(replay.row.judged, false);
  const output = "x".repeat(3_000);
  runOver(replay, { id: starts[0]?.runId ?? "", check: { passed: false, exitCode: 2, output } });
  t.match(findRecheck(replay, 1), { state: "checked", check: { passed: false, exitCode: 2, tail: /^x{1024}$/ } });
  t.same(twoChecks({ check }, findRecheck(replay, 1)), { first: "passed", second: "failed" });
  runOver(replay, { id: starts[1]?.runId ?? "", outcome: "failed", reason: "the setup failed" });
  t.match(findRecheck(replay, 2), { state: "none", check: null, reason: "the setup failed" });
  t.equal(replay.row.judged, true);
});

t.test("at most 20 second checks wait for a runner or run at a time", async (t) => {
  const replay = new JudgedReplay(undefined, { probe: true, runs: 50, judge: null, copy: { state: "settled", check } });
  const open = [...listStarts(end(replay, "finished"))];
  t.equal(open.length, 20);
  for (let over = 0; over < 50; over++) {
    const [next] = open.splice(0, 1);
    open.push(
      ...listStarts(runOver(replay, { id: next?.runId ?? "", check: { passed: true, exitCode: 0, output: "" } })),
    );
    t.ok(open.length <= 20);
  }
  t.equal(replay.row.judged, true);
});

t.test("a second check whose runner was lost is begun again, twice", async (t) => {
  const replay = new JudgedReplay(undefined, { probe: true, judge: null, copy: { state: "settled", check } });
  let [next] = listStarts(end(replay, "finished"));
  for (let lost = 0; lost < 2; lost++) {
    const again = listStarts(runOver(replay, { id: next?.runId ?? "", outcome: "abandoned" }));
    t.equal(again.length, 1);
    [next] = again;
  }
  t.equal(listStarts(runOver(replay, { id: next?.runId ?? "", outcome: "abandoned", reason: "lost" })).length, 0);
  t.match(findRecheck(replay, 1), { state: "none", reason: "lost", lostRunIds: { length: 2 } });
});

t.test("a copy that left no change is not checked again", async (t) => {
  const settled = { state: "settled", check } as const;
  const replay = new JudgedReplay(undefined, { probe: true, judge: null, copy: settled, diffOf: () => null });
  t.same(listStarts(end(replay, "finished")), []);
  t.match(findRecheck(replay, 1), { state: "none" });
  t.equal(replay.row.judged, true);
});

t.test("what a replay is still looked at for ends with it", async (t) => {
  const replay = finished({ runs: 6, copy: { check } });
  const { sent, cancelledEffects } = replay.act(stopJudging);
  t.ok(cancelledEffects.length > 0);
  t.equal(sent.filter(({ message }) => message.type === "run.end").length, 6);
  t.same(listStates(seconds(replay)), Array(6).fill("none"));
  t.match(findRecheck(replay, 6), { state: "none" });
  t.match(replay.row, { judged: true, counts: { succeeded: 6 } });
});
