import t from "tap";
import { MAX_PAIRED_CHANGE } from "../../../../actors/judging/pair-question.js";
import type { ModelOutcome, ModelQuestion } from "../../../../actors/outbound/models/model.effects.js";
import { replayCopies } from "../../../../actors/replays/copies/replay-copy.table.js";
import {
  lookAfterEnd,
  stopJudging,
  takeCounterpartEnded,
} from "../../../../actors/replays/judging/replay-judging.transitions.js";
import { replayPairs } from "../../../../actors/replays/judging/replay-pair.table.js";
import type { ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { answered, JudgedReplay, type JudgedReplayOptions, toDiff } from "../../../support/judged-replay.js";
import { judge } from "../../../support/run-config.js";
import { memoryRows } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const done = { state: "judged", result: "succeeded" } as const;
const nothing = { calls: 0, cost: { amount: 0, currency: "EUR" }, isEstimate: false };

/** Returns two replays of the same runs; `own` is to be paired with `theirs`. */
function twoReplays(own: JudgedReplayOptions = {}, theirs: JudgedReplayOptions = {}) {
  const rows = memoryRows();
  const usual = { runs: 2, copy: done };
  const other = new JudgedReplay(rows, { ...usual, id: "rep_1", ...theirs });
  return { other, replay: new JudgedReplay(rows, { ...usual, id: "rep_2", pairedWith: "rep_1", ...own }) };
}

function end(replay: JudgedReplay, state: ReplayRow["state"] = "finished") {
  return replay.act((scene) => {
    const { row } = replay;
    replays.put(scene.turn, workspaceId, row, { ...row, state });
    lookAfterEnd(scene);
  });
}

const listPairs = (replay: JudgedReplay) => replayPairs.list(replay.rows, workspaceId, [replay.id]);

/** Ends both replays, and lets the model read the pairs. */
function read(own: JudgedReplayOptions, theirs: JudgedReplayOptions, toOutcome = prefer("first")) {
  const { other, replay } = twoReplays(own, theirs);
  end(other);
  end(replay);
  replay.answerAll(toOutcome);
  return replay;
}

/** Returns a model that prefers the first or the second change that it is shown, or finds them equal. */
function prefer(
  better: "first" | "second" | "tie",
  cost: number | null = 0.001,
): (question: ModelQuestion) => ModelOutcome {
  return () => answered({ reasons: [{ text: "It is.", firstHunks: [1], secondHunks: [] }], better }, cost);
}

/** A model that prefers the change of `rep_2`, whether it is shown first or second. */
const preferOwn = ({ messages }: ModelQuestion): ModelOutcome => {
  const text = messages[1]?.content ?? "";
  return prefer(text.indexOf("+rep_2") < text.indexOf("+rep_1") ? "first" : "second")({} as ModelQuestion);
};

t.test("a copy wins when both orders say so, each reading by the same model, blind", async (t) => {
  const models: (string | null)[] = [];
  const replay = read({}, {}, (question) => {
    models.push(question.model);
    t.notMatch(JSON.stringify(question.messages), /"?rep_[12]"?(?! [12])|cand_|Another/, "neither side is named");
    return preferOwn(question);
  });
  const rows = listPairs(replay);
  t.match(rows, [
    { state: "judged", outcome: "win", model: "m", againstRunId: "run_rep_1_1_1", unpaired: null },
    { state: "judged", outcome: "win", model: "m", againstRunId: "run_rep_1_2_1" },
  ]);
  t.match(rows[0]?.readings, [
    { ownShownFirst: true, outcome: "win", reasons: { brief: [{ ownHunks: [1], theirHunks: { length: 0 } }] } },
    { ownShownFirst: false, outcome: "win", reasons: { brief: [{ ownHunks: { length: 0 }, theirHunks: [1] }] } },
  ]);
  t.same(
    models,
    [null, null, "m", "m"].sort(() => 0),
    "the second order is asked of the model that read the first",
  );
  t.match(replay.row, { judged: true, spending: { besides: "1/250" } }, "four readings");
});

t.test("a model that prefers a place makes a tie", async (t) => {
  t.match(listPairs(read({}, {}, prefer("first"))), [{ outcome: "tie" }, { outcome: "tie" }]);
});

t.test("two changes of nothing tie without a reading", async (t) => {
  const replay = read({ diffOf: () => "" }, { diffOf: () => "" }, () => {
    throw new Error("nobody needs to read them");
  });
  t.match(listPairs(replay), [{ state: "judged", outcome: "tie", readings: { length: 0 }, spent: { calls: 0 } }, {}]);
  t.equal(replay.row.judged, true);
});

t.test("copy k is set beside copy k, over as many as the other side has", async (t) => {
  const replay = read({ runs: 1, repeats: 5 }, { runs: 1, repeats: 2 });
  t.same(
    listPairs(replay).map(({ againstRunId }) => againstRunId),
    [1, 2, 1, 2, 1].map((repeat) => `run_rep_1_1_${repeat}`),
  );
});

t.test("why a copy is not compared", async (t) => {
  const toReasons = (replay: JudgedReplay) => {
    t.equal(replay.row.judged, true);
    return listPairs(replay).map(({ unpaired }) => unpaired);
  };
  const fails = (code: "refused" | "not-set-up"): ModelOutcome => ({
    state: "failed",
    code,
    reason: "no",
    spent: nothing,
  });
  t.same(toReasons(read({ judge: null }, {})), ["not-judged", "not-judged"]);
  t.same(toReasons(read({}, { judge: null })), ["not-judged", "not-judged"]);
  t.same(toReasons(read({ judge: { ...judge, rubric: "Other." } }, {})), ["other-rubric", "other-rubric"]);
  t.same(toReasons(read({ judge: { ...judge, claims: ["It."] } }, {})), ["other-rubric", "other-rubric"]);
  t.same(toReasons(read({ terms: null }, {})), ["not-set-up", "not-set-up"]);
  t.same(toReasons(read({}, {}, () => fails("not-set-up"))), ["not-set-up", "not-set-up"]);
  t.same(toReasons(read({}, {}, () => fails("refused"))), ["not-judged", "not-judged"]);
  t.same(toReasons(read({}, { copy: { state: "waiting", runId: null, result: null } })), ["unsettled", "unsettled"]);
  t.same(toReasons(read({ runs: 3 }, { runs: 2 })), [null, null, "unsettled"], "the other side has no such run");
  t.same(toReasons(read({ diffOf: (place) => (place === 1 ? null : toDiff("a")) }, {})), ["no-change", null]);
  t.same(toReasons(read({ ceiling: 0.001 }, {})), ["budget", "budget"]);
});

t.test("what does not fit the ceiling is skipped by itself: a shorter pair may fit", async (t) => {
  const long = "x".repeat(MAX_PAIRED_CHANGE / 2);
  const replay = read({ ceiling: 0.03, diffOf: (place) => toDiff(place === 1 ? long : "a") }, {});
  t.match(listPairs(replay), [{ unpaired: "budget" }, { state: "judged" }]);
});

t.test("there is room for both readings, or for none", async (t) => {
  const replay = read({ runs: 1, ceiling: 0.0173 }, { runs: 1 }, prefer("tie", 0.0001));
  t.match(listPairs(replay), [{ state: "judged", readings: { length: 2 } }]);
  const tight = read({ runs: 1, ceiling: 0.0161 }, { runs: 1 });
  t.match(listPairs(tight), [{ unpaired: "budget", readings: { length: 0 } }]);
});

t.test("pairs are read once both replays have ended, whichever ends last", async (t) => {
  const { other, replay } = twoReplays();
  t.same(end(replay).sent, []);
  t.same(listPairs(replay), []);
  t.equal(replay.row.judged, false, "it waits for the other one");
  for (const state of ["stopped", "over-budget", "finished"] as const) {
    const { sent } = end(other, state);
    t.match(sent, [{ to: { kind: "replay", id: "rep_2" }, message: { type: "counterpart.ended" } }]);
  }
  replay.act(takeCounterpartEnded);
  replay.act(takeCounterpartEnded);
  t.equal(listPairs(replay).length, 2);
  replay.answerAll(prefer("tie"));
  t.equal(replay.row.judged, true);
  const { other: first, replay: last } = twoReplays();
  t.same(end(first).sent, [], "nobody waits for it");
  end(last);
  t.equal(listPairs(last).length, 2);
});

t.test("of a side that was stopped, what settled is compared, and the rest is unsettled", async (t) => {
  const { other, replay } = twoReplays();
  const [, second] = other.copies;
  if (second === undefined) throw new Error("there is no second copy");
  replayCopies.put(other.rows, workspaceId, second, { ...second, state: "waiting", runId: null, result: null });
  end(other, "stopped");
  end(replay);
  replay.answerAll(prefer("tie"));
  t.match(listPairs(replay), [{ state: "judged" }, { unpaired: "unsettled", againstRunId: null }]);
});

t.test("a replay that was stopped or ended over budget is set beside none", async (t) => {
  for (const state of ["stopped", "over-budget"] as const) {
    const { other, replay } = twoReplays();
    end(other);
    end(replay, state);
    t.same(listPairs(replay), []);
    t.equal(replay.row.judged, true);
  }
});

t.test("a reading whose answer a crash took is asked again, and is one reading", async (t) => {
  let lost = 0;
  const replay = read({ runs: 1 }, { runs: 1 }, (question) => {
    lost += 1;
    const spent = { calls: 1, cost: { amount: 0.01, currency: "EUR" }, isEstimate: true };
    return lost % 2 === 1 ? { state: "interrupted", spent } : prefer("tie")(question);
  });
  t.equal(lost, 4);
  t.match(listPairs(replay), [{ readings: { length: 2 }, outcome: "tie", spent: { calls: 4, isEstimate: true } }]);
  t.equal(replay.row.spending.besides, "11/500", "two lost calls of 0.01, two answers of 0.001");
});

t.test("deleting its set ends the reading of pairs", async (t) => {
  const { other, replay } = twoReplays({ runs: 6 }, { runs: 6 });
  end(other);
  end(replay);
  replay.goOn();
  t.equal(replay.act(stopJudging).cancelledEffects.length, 4);
  t.same(
    listPairs(replay).map(({ state }) => state),
    Array(6).fill("unpaired"),
  );
});

t.test("a run that was taken out of the set and added again is paired though it has another place", async (t) => {
  const { other, replay } = twoReplays();
  const [first, second] = replayCopies.list(other.rows, workspaceId, [other.id]);
  if (first === undefined || second === undefined) throw new Error("there are two copies");
  for (const copy of [first, second]) replayCopies.remove(other.rows, workspaceId, copy);
  replayCopies.insert(other.rows, workspaceId, { ...first, place: 3 });
  replayCopies.insert(other.rows, workspaceId, { ...second, place: 1 });
  end(other);
  end(replay);
  replay.answerAll(prefer("first"));
  t.same(
    listPairs(replay).map(({ againstRunId }) => againstRunId),
    [first.runId, second.runId],
  );
});
