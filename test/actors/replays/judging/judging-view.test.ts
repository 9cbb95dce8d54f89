import t from "tap";
import {
  costView,
  judgeView,
  pairView,
  recheckView,
  twoChecks,
  twoJudgings,
} from "../../../../actors/replays/judging/judging.view.js";
import { type ReplayPairRow, replayPairs } from "../../../../actors/replays/judging/replay-pair.table.js";
import { type ReplayRecheckRow, replayRechecks } from "../../../../actors/replays/judging/replay-recheck.table.js";
import { type ReplayVerdictRow, replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { storeReasons } from "../../../../actors/replays/judging/stored-reasons.js";
import { findBlob } from "../../../../actors/tables/blobs.js";
import { judge } from "../../../support/run-config.js";
import { memoryRows } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const key = { replayId: "rep_1", place: 2, repeat: 1 };
const spent = { calls: 1, cost: { amount: 0.01, currency: "EUR" }, isEstimate: false };
const long = Array.from({ length: 20 }, (_, claim) => ({ text: `${claim} `.repeat(300), claim, citations: [] }));

function verdictRow(rows: ReturnType<typeof memoryRows>, passed: boolean, reasons = long): ReplayVerdictRow {
  const verdict = {
    scale: "claims",
    passed,
    score: 1,
    marks: [passed],
    model: "m",
    promptVersion: 1,
    cut: false,
  } as const;
  const kept = storeReasons(rows, workspaceId, reasons);
  return { ...key, which: "first", state: "judged", verdict: { ...verdict, reasons: kept }, none: null, spent };
}

t.test("a verdict's row has the beginning of its reasons, and a body all of them while the row is there", async (t) => {
  const rows = memoryRows();
  const row = verdictRow(rows, true);
  replayVerdicts.insert(rows, workspaceId, row);
  const reading = { reading: rows, workspaceId };
  const brief = judgeView(row, judge, "brief");
  t.match(brief, { scale: "claims", passed: true, score: 1, marks: [true], passShare: 0.5, claims: ["It greets."] });
  t.ok(Buffer.byteLength(JSON.stringify(brief.reasons)) < 2_200, "entries have 2 KiB of reasons");
  t.same(judgeView(row, judge, reading).reasons, long);
  const digest = row.verdict?.reasons.whole ?? "";
  t.ok(findBlob(rows, workspaceId, digest));
  t.same([...replayVerdicts.referrals(rows, workspaceId)], [[digest]], "the body is counted");
  const short = verdictRow(rows, false, [{ text: "So.", claim: 0, citations: [] }]);
  t.equal(short.verdict?.reasons.whole, null, "what a row holds needs no body");
});

t.test("without a verdict everything of it is empty", async (t) => {
  const none = { ...verdictRow(memoryRows(), true), state: "none", verdict: null } as const;
  t.match(judgeView(none, judge, "brief"), {
    scale: null,
    passed: null,
    score: null,
    claims: { length: 0 },
    reasons: { length: 0 },
  });
  t.match(judgeView(undefined, null, "brief"), { scale: null });
});

t.test("a rubric's verdict names no claims", async (t) => {
  const row = verdictRow(memoryRows(), true);
  t.match(judgeView(row, { ...judge, claims: [] }, "brief"), { claims: { length: 0 }, passShare: null });
});

t.test("a pair has its readings once there are any", async (t) => {
  const rows = memoryRows();
  const open: ReplayPairRow = {
    ...key,
    state: "asked",
    againstRunId: "run_2",
    outcome: null,
    unpaired: null,
    model: null,
    promptVersion: null,
    readings: [],
    spent,
  };
  t.match(pairView(open, "brief"), { state: "asked", againstRunId: "run_2", readings: null });
  const reasons = [{ text: "a ".repeat(2_000), ownHunks: [1], theirHunks: [] }];
  const reading = { ownShownFirst: true, outcome: "win", reasons: storeReasons(rows, workspaceId, reasons) } as const;
  const judged: ReplayPairRow = { ...open, state: "judged", outcome: "win", model: "m", readings: [reading] };
  replayPairs.insert(rows, workspaceId, judged);
  t.same(pairView(judged, { reading: rows, workspaceId })?.readings, [
    { ownShownFirst: true, outcome: "win", reasons },
  ]);
  t.ok(JSON.stringify(pairView(judged, "brief")).length < 2_500);
  t.equal(pairView(undefined, "brief"), null);
  t.same(costView(judged), spent.cost);
});

t.test("two looks at a copy, for the set's health", async (t) => {
  const rows = memoryRows();
  const [yes, no] = [verdictRow(rows, true), verdictRow(rows, false)];
  t.same(twoJudgings(yes, no), { first: "passed", second: "failed" });
  t.same(twoJudgings(yes, { ...yes, state: "asked", verdict: null }), { first: "passed", second: "pending" });
  t.same(twoJudgings({ ...yes, state: "none", verdict: null }, undefined), { first: null, second: null });
  const check = { passed: true, exitCode: 0, tail: "fine" };
  const recheck: ReplayRecheckRow = {
    ...key,
    state: "checked",
    runId: "run_9",
    lostRunIds: [],
    check: { ...check, passed: false },
    reason: null,
  };
  replayRechecks.insert(rows, workspaceId, recheck);
  t.same(twoChecks({ check }, recheck), { first: "passed", second: "failed" });
  t.same(twoChecks({ check }, { ...recheck, state: "asked", check: null }), { first: "passed", second: "pending" });
  t.same(twoChecks({ check }, { ...recheck, state: "none", check: null }), { first: "passed", second: null });
  t.same(recheckView(recheck, "brief"), { passed: false, exitCode: 0, output: "fine" });
  t.equal(recheckView({ ...recheck, check: null }, "brief"), null);
});
