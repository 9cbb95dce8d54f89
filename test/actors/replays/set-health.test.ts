import t from "tap";
import { notJudging } from "../../../actors/judging/judging-setup.js";
import { replayRechecks } from "../../../actors/replays/judging/replay-recheck.table.js";
import { type ReplayVerdictRow, replayVerdicts } from "../../../actors/replays/judging/replay-verdict.table.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { ReplayMemory } from "../../../actors/replays/replay/replay-memory.js";
import { readHealth } from "../../../actors/replays/sets/set-health.queries.js";
import { setHealthSchema, setHealthView } from "../../../actors/replays/sets/set-health.view.js";
import { changePrompt, liveSet, liveWorld, six } from "../../support/live-replays.js";
import { type PicturedReplay, picturedReplay, putReplay } from "../../support/pictured-replays.js";
import type { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

type Rows = ReturnType<typeof memoryRows>;

function getHealth(rows: Rows) {
  const health = readHealth(rows, workspaceId, liveSet, { judging: notJudging, memory: new ReplayMemory() });
  return setHealthSchema.parse(setHealthView(health));
}

t.test("health is of the live config as it is now, but for what the judge and the check do", async (t) => {
  const { rows, live } = liveWorld();
  const check = picturedReplay(six("+-+"), { id: "rep_1", ...live, probe: true });
  putReplay(rows, check);
  lookTwice(rows, check);
  const answer = {
    candidate: { id: "cand_2", name: "With the answer x", kind: "with-answer" },
    answers: "rep_1",
  } as const;
  putReplay(rows, picturedReplay(six("+++"), { id: "rep_2", ...live, ...answer }));
  const before = getHealth(rows);
  t.match(before, {
    noise: { replayId: "rep_1", repeats: 3, perRepeat: [1, 0, 1], spread: 1, flippedTasks: { length: 6 }, tasks: 6 },
    saturation: { replayId: "rep_1", saturated: false, few: false },
    judge: { replayId: "rep_1", compared: 2, agreed: 1, pending: 1, agreement: 0.5, unstable: true },
    checks: { replayId: "rep_1", rechecked: 2, pending: 1, flaky: { length: 1 } },
    oracle: {
      replayId: "rep_2",
      candidateId: "cand_2",
      againstReplayId: "rep_1",
      againstState: "finished",
      withAnswer: 1,
    },
  });
  t.same(before.checks?.flaky, [
    { taskId: "a", originalRunId: "run_a", runId: "rep_1/1/2", first: "failed", recheck: "passed" },
  ]);
  changePrompt(rows);
  const after = getHealth(rows);
  t.match(after, { noise: null, saturation: null, oracle: null });
  t.same([after.judge, after.checks], [before.judge, before.checks]);
});

t.test("a replay that does not cover the set says nothing of its saturation", async (t) => {
  const { rows, live } = liveWorld();
  putReplay(rows, picturedReplay({ a: "+", b: "+" }, { id: "rep_1", ...live, setVersion: 0 }));
  t.equal(getHealth(rows).saturation, null);
  putReplay(rows, picturedReplay({ ...six("+"), g: "-" }, { id: "rep_2", ...live, setVersion: 0 }));
  t.match(getHealth(rows).saturation, { replayId: "rep_2" }, "it covers more");
});

t.test("a check under way, and one of another set, is no check of the set", async (t) => {
  const { rows, live } = liveWorld();
  const running = picturedReplay(six("+.."), { id: "rep_1", ...live, state: "running", probe: true });
  putReplay(rows, running);
  lookTwice(rows, running);
  const other = picturedReplay(six("+++"), { id: "rep_2", ...live, setId: "rset_2", probe: true });
  putReplay(rows, other);
  lookTwice(rows, other);
  t.match(getHealth(rows), { judge: null, checks: null });
  replays.put(rows, workspaceId, running.replay, { ...running.replay, state: "finished" });
  t.match(getHealth(rows), { judge: { replayId: "rep_1" }, checks: { replayId: "rep_1" } });
});

/**
 * Adds second looks to the first task's copies. The first copy gets the same verdict twice, the second copy gets two
 * different verdicts, and the second look at the third copy is pending.
 */
function lookTwice(rows: Rows, { replay: { id: replayId } }: PicturedReplay): void {
  const place = 1;
  const verdict = (repeat: number, which: "first" | "second", passed: boolean | null): ReplayVerdictRow => ({
    replayId,
    place,
    repeat,
    which,
    state: passed === null ? "asked" : "judged",
    none: null,
    verdict:
      passed === null
        ? null
        : {
            scale: "yes-no",
            passed,
            score: passed ? 1 : 0,
            marks: null,
            model: "large",
            promptVersion: 1,
            cut: false,
            reasons: { brief: [], whole: null },
          },
    spent: { calls: 1, cost: null, isEstimate: false },
  });
  const second = [true, false, null];
  for (const [at, passed] of second.entries()) {
    const repeat = at + 1;
    replayVerdicts.insert(rows, workspaceId, verdict(repeat, "first", true));
    replayVerdicts.insert(rows, workspaceId, verdict(repeat, "second", passed));
    replayRechecks.insert(rows, workspaceId, {
      replayId,
      place,
      repeat,
      state: passed === null ? "asked" : "checked",
      runId: null,
      lostRunIds: [],
      check: passed === null ? null : { passed: true, exitCode: 0, tail: "" },
      reason: null,
    });
  }
}
