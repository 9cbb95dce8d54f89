import t from "tap";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import { excerptReasons, REASONS_BYTES } from "../../../actors/replays/figures/excerpt.js";
import { readFigures, type SetTerms } from "../../../actors/replays/figures/replay-figures.js";
import { type ReplayPairRow, replayPairs } from "../../../actors/replays/judging/replay-pair.table.js";
import { replayVerdicts } from "../../../actors/replays/judging/replay-verdict.table.js";
import { copyView, listedCopyView } from "../../../actors/replays/reads/copy.view.js";
import { listedReplayView, replayView, totalsView } from "../../../actors/replays/reads/replay.view.js";
import { getParts, readReplayRows } from "../../../actors/replays/reads/replay-parts.js";
import { listedReplaySchema, replaySchema } from "../../../actors/replays/reads/replay-schemas.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { ReplayMemory } from "../../../actors/replays/replay/replay-memory.js";
import { countSpending } from "../../../actors/statistics/spending.js";
import { successTotals } from "../../../actors/statistics/success.js";
import { picturedReplay, putReplay, replayPlace } from "../../support/pictured-replays.js";
import { memoryRows } from "../../support/turn.js";

const { workspaceId } = replayPlace;
const nowMs = Date.parse("2026-01-01T00:10:00.000Z");

type Rows = ReturnType<typeof memoryRows>;

function read(rows: Rows, replay: ReplayRow, given: Partial<SetTerms> = {}) {
  const terms = { workspaceId, baselineId: null, minGain: 0.05, ...given };
  const figures = readFigures(rows, terms, replay, new ReplayMemory());
  const kept = readReplayRows(rows, workspaceId, { replayId: replay.id });
  const parts = listCopies(rows, workspaceId, replay.id).map((copy) => getParts(kept, copy));
  const { counterpart } = figures;
  const other = counterpart === null ? [] : listCopies(rows, workspaceId, counterpart.id);
  return {
    whole: replaySchema.parse(
      replayView(figures, { parts, other, baselineId: terms.baselineId, nowMs, waiting: null }),
    ),
    listed: listedReplaySchema.parse(listedReplayView(figures, { parts, nowMs, waiting: null })),
    parts,
  };
}

t.test("a replay is read with its totals, its copies and how far it has come", async (t) => {
  const rows = memoryRows();
  const replay = putReplay(rows, picturedReplay({ a: "+-", b: "+j", c: "?." }));
  const { whole, listed } = read(rows, replay);
  t.match(whole, {
    id: "rep_1",
    setId: "rset_1",
    state: "running",
    repeats: 2,
    isBaseline: false,
    probe: false,
    search: null,
    candidate: { id: "cand_1", name: "Other words", kind: "proposed" },
    totals: {
      successRate: 0.75,
      tasks: 3,
      tasksScored: 2,
      few: true,
      entries: 6,
      settled: 4,
      scored: 3,
      unscored: 1,
      spent: { amount: 0.5, currency: "EUR" },
      interval: { rate: 0.75 },
    },
    pairedWith: null,
    pairsAgainstBaseline: null,
    comparedWith: null,
    againstBaseline: null,
    baselineId: null,
    progress: { settled: 5, of: 6, spent: { amount: 0.5, currency: "EUR" }, waiting: null },
  });
  t.equal(whole.progress.expectedEnd, "2026-01-01T00:11:58.000Z", "590 s for five, so 118 s for one");
  t.match(
    whole.entries.map(({ originalRunId, repeat, result }) => [originalRunId, repeat, result]),
    [
      ["run_a", 1, "succeeded"],
      ["run_a", 2, "failed"],
      ["run_b", 1, "succeeded"],
      ["run_b", 2, null],
      ["run_c", 1, "unscored"],
      ["run_c", 2, null],
    ],
  );
  t.match(whole.entries[1], { title: "Task a", check: { passed: false, exitCode: 1, output: "done" }, steps: 3 });
  t.match(whole.entries[5], {
    check: null,
    judge: { scale: null, claims: { length: 0 }, reasons: { length: 0 } },
    pair: null,
    spent: null,
  });
  t.same(
    whole.comparison.map(({ baseline }) => baseline.length),
    [0, 0, 0],
  );
  const { entries, ...rest } = whole;
  const { entries: listedEntries, ...listedRest } = listed;
  const { baselineId: _baseline, comparison: _rows, ...common } = rest;
  t.same(listedRest, common, "a list has the same but for what is long");
  t.notOk("output" in (listedEntries[0]?.check ?? {}));
  t.notOk("reasons" in (listedEntries[0]?.judge ?? {}));
  t.notOk("claims" in (listedEntries[0]?.judge ?? {}));
  t.equal(entries.length, listedEntries.length);
});

t.test("totals from the replay's row are those of its copies", async (t) => {
  const made = picturedReplay({ a: "+-", b: "??", c: "+." });
  const totals = successTotals(made.copies);
  t.match(totalsView(made.replay, totals), countSpending(made.copies.map(measured), "EUR"));
  const unpriced = made.copies.map((copy, at) => (at === 0 ? { ...copy, priced: false } : copy));
  const spending = { ...made.replay.spending, unpriced: 1 };
  t.match(totalsView({ ...made.replay, spending }, totals), countSpending(unpriced.map(measured), "EUR"));
  t.equal(totalsView({ ...made.replay, spending }, totals).costPerRun, null);
});

const measured = <Copy extends object>(copy: Copy) => ({ ...copy, pairOutcome: null });

t.test("a replay stands beside its baseline, regressions first", async (t) => {
  const rows = memoryRows();
  const live = { candidate: { id: "cand_live", name: "Live config", kind: "live" }, state: "finished" } as const;
  const base = putReplay(rows, picturedReplay({ a: "++", b: "--", c: "+-" }, { id: "rep_1", ...live }));
  const replay = putReplay(
    rows,
    picturedReplay({ a: "--", b: "++", c: "+-" }, { id: "rep_2", scoringFingerprint: "t" }),
  );
  const { whole } = read(rows, replay, { baselineId: "rep_1" });
  t.match(whole, {
    baselineId: "rep_1",
    comparedWith: { replayId: "rep_1", successRate: 0.5, interval: { rate: 0.5 }, tasks: 3, few: true },
    againstBaseline: { gain: 0, verdict: "within-noise", minGain: 0.05, tasks: 3, few: true, otherScoring: true },
    detectableGain: null,
  });
  t.match(whole.comparison, [
    { taskId: "a", title: "Task a", regressed: true, candidateSuccess: 0, baselineSuccess: 1, costDelta: 0 },
    { taskId: "c", regressed: false, candidateScored: 2, baselineScored: 2, msDelta: 0, stepsDelta: 0, pair: null },
    { taskId: "b", regressed: false, candidate: [{ runId: "rep_2/2/1", result: "succeeded" }, { repeat: 2 }] },
  ]);
  t.match(read(rows, base, { baselineId: "rep_1" }).whole, {
    isBaseline: true,
    comparedWith: null,
    againstBaseline: null,
    detectableGain: null,
  });
  const gone = putReplay(rows, picturedReplay({ a: "+" }, { id: "rep_3", pairedWith: "rep_0" }));
  t.match(read(rows, gone, { baselineId: "rep_1" }).whole, {
    pairedWith: "rep_0",
    comparedWith: null,
    againstBaseline: null,
    pairsAgainstBaseline: { wins: 0, losses: 0, ties: 0 },
  });
});

t.test("how much a live config varies is of all its replays under the other side's config", async (t) => {
  const rows = memoryRows();
  const live = { candidate: { id: "cand_live", name: "Live config", kind: "live" }, state: "finished" } as const;
  const six = (results: string) => Object.fromEntries([..."abcdef"].map((task) => [task, results]));
  putReplay(rows, picturedReplay(six("+"), { id: "rep_1", ...live }));
  putReplay(rows, picturedReplay(six("-"), { id: "rep_2", ...live }));
  putReplay(rows, picturedReplay(six("-"), { id: "rep_3", ...live, runningFingerprint: "other" }));
  const replay = putReplay(rows, picturedReplay(six("+"), { id: "rep_4" }));
  const { detectableGain } = read(rows, replay, { baselineId: "rep_2" }).whole;
  // One copy of each task succeeded and one failed: a variance of 1/2.
  t.equal(detectableGain, 1.96 * Math.sqrt((0.5 * 2) / 6));
});

t.test("pairs count by task", async (t) => {
  const rows = memoryRows();
  putReplay(rows, picturedReplay({ a: "+++", b: "+++" }, { id: "rep_1" }));
  const replay = putReplay(rows, picturedReplay({ a: "+++", b: "+++" }, { id: "rep_2", pairedWith: "rep_1" }));
  const outcomes = { 1: ["win", "win", "loss"], 2: ["tie", "loss", "win"] } as const;
  for (const place of [1, 2] as const) {
    for (const [at, outcome] of outcomes[place].entries()) {
      const pair: ReplayPairRow = {
        replayId: "rep_2",
        place,
        repeat: at + 1,
        state: "judged",
        againstRunId: "run_x",
        outcome,
        unpaired: null,
        model: "large",
        promptVersion: 1,
        readings: [true, false].map((ownShownFirst) => ({
          ownShownFirst,
          outcome,
          reasons: { brief: [], whole: null },
        })),
        spent: { calls: 2, cost: { amount: 0.02, currency: "EUR" }, isEstimate: false },
      };
      replayPairs.insert(rows, workspaceId, pair);
    }
  }
  const { whole, parts } = read(rows, replay);
  t.same(whole.pairsAgainstBaseline, { wins: 1, losses: 0, ties: 1 });
  t.match(whole.comparison, [
    { taskId: "b", pair: "tie" },
    { taskId: "a", pair: "win", candidate: [{ pair: "win" }, {}, { pair: "loss" }] },
  ]);
  t.match(whole.entries[0], {
    pair: { state: "judged", againstRunId: "run_x", outcome: "win", unpaired: null, readings: [{}, {}] },
    pairingSpent: { amount: 0.02, currency: "EUR" },
  });
  const [first] = parts;
  if (first === undefined) throw new Error("no copy");
  t.same(
    copyView(first).pair?.readings?.map(({ reasons }) => reasons),
    [[], []],
  );
  t.same(listedCopyView(first).pair?.readings, [
    { ownShownFirst: true, outcome: "win" },
    { ownShownFirst: false, outcome: "win" },
  ]);
});

t.test("an entry has a bound, however much was said of its copy", async (t) => {
  const rows = memoryRows();
  const judge = { ...noJudge, claims: Array.from({ length: 50 }, () => "It does that. ".repeat(140)) };
  const made = picturedReplay({ a: "+" }, { id: "rep_1" });
  const config = { ...made.input.config, station: { ...made.input.config.station, judge } };
  const [copy] = made.copies.map((one) => ({ ...one, check: { passed: true, exitCode: 0, tail: "x".repeat(1_024) } }));
  if (copy === undefined) throw new Error("no copy");
  const replay = putReplay(rows, { ...made, input: { ...made.input, config }, copies: [copy] });
  const { replayId, place, repeat } = copy;
  const reason = { text: "It does what was asked for. ".repeat(60), claim: 0, citations: [] };
  const long = Array.from({ length: 20 }, () => reason);
  for (const which of ["first", "second"] as const) {
    replayVerdicts.insert(rows, workspaceId, {
      replayId,
      place,
      repeat,
      which,
      state: "judged",
      none: null,
      spent,
      verdict: {
        scale: "claims",
        passed: true,
        score: 1,
        marks: judge.claims.map(() => true),
        model: "large",
        promptVersion: 1,
        cut: false,
        reasons: { brief: excerptReasons(long, REASONS_BYTES), whole: null },
      },
    });
  }
  const { whole, listed } = read(rows, replay);
  const toSize = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  t.ok(toSize(whole.entries[0]) < 12_000, `${toSize(whole.entries[0])} bytes`);
  t.ok(toSize(listed.entries[0]) < 2_500, `${toSize(listed.entries[0])} bytes in a list`);
  t.equal(whole.entries[0]?.judge.claims.length, 50, "each claim has a part");
});

const spent = { calls: 1, cost: null, isEstimate: false };
const noJudge = { rubric: "", scale: "yes-no", passScore: null, passShare: null, model: null } as const;
