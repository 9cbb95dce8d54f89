import t from "tap";
import type { ModelOutcome, ModelQuestion } from "../../../../actors/outbound/models/model.effects.js";
import { estimateCost } from "../../../../actors/replays/judging/model-terms.js";
import { replayJudgings } from "../../../../actors/replays/judging/replay-judging.table.js";
import { stopJudging } from "../../../../actors/replays/judging/replay-judging.transitions.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { answered, JudgedReplay, pricedModel, verdict } from "../../../support/judged-replay.js";
import { judge } from "../../../support/run-config.js";
import { workspaceId } from "../../../support/work.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const nothing = { calls: 0, cost: { amount: 0, currency: "EUR" }, isEstimate: false };
const down: ModelOutcome = { state: "waiting", reason: "the model answered 503", retryAtMs: null, spent: nothing };

/** Returns the estimated cost of a question. The replay counts this amount while the question is in progress. */
function toEstimate(question: ModelQuestion | undefined): number {
  const { messages = [], model = null } = question ?? {};
  return estimateCost(pricedModel, { messages, model })?.amount ?? 0;
}

/** Returns the only question in progress. */
function theQuestion(replay: JudgedReplay): readonly [id: string, question: ModelQuestion] {
  const [only, ...others] = replay.asked;
  if (only === undefined || others.length > 0) throw new Error(`${replay.asked.size} questions are under way`);
  return only;
}

const toFraction = (text: string): number => Number(text.split("/")[0]) / Number(text.split("/")[1]);

t.test("the verdict gives a copy its result", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 3 });
  replay.judgeAll();
  t.match(replay.copies, [{ state: "judging", result: null }, { result: null }, { result: null }]);
  const refused: ModelOutcome = { state: "failed", code: "unreadable", reason: "it was no JSON", spent: nothing };
  const outcomes = [verdict(true), verdict(false), refused];
  replay.answerAll(() => outcomes.shift() ?? refused);
  t.match(replay.copies, [
    { state: "judged", result: "succeeded", why: null },
    { state: "judged", result: "failed", why: { code: "judge-failed" } },
    { state: "judged", result: "unscored", why: { code: "unreadable", text: "it was no JSON" } },
  ]);
  t.match(replay.row.counts, { settled: 3, succeeded: 1, failed: 1, unscored: 1 });
  const rows = replayVerdicts.list(replay.rows, workspaceId, ["rep_1"]);
  t.match(rows[1], { state: "judged", verdict: { scale: "claims", score: 0, marks: [false], model: "m" } });
  t.match(rows[1]?.verdict?.reasons, { brief: [{ text: "It does not.", claim: 0 }], whole: null });
  t.match(rows[2], { state: "none", none: { code: "unreadable" } });
});

t.test("all copies are judged by the model of the start, whatever is set up meanwhile", async (t) => {
  const replay = new JudgedReplay(undefined, { judgeModel: "first", terms: { ...pricedModel, name: "another" } });
  replay.judgeAll();
  t.equal(theQuestion(replay)[1].model, "first");
  const own = new JudgedReplay(undefined, { judgeModel: "own", judge: { ...judge, model: "own" } });
  own.judgeAll();
  t.equal(theQuestion(own)[1].model, "own");
});

t.test("at most four questions of a replay are stored at a time, each made in a turn of its own", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 10 });
  replay.judgeAll();
  replay.goOn();
  t.equal(replay.asked.size, 4);
  let most = 0;
  replay.answerAll(() => {
    replay.goOn();
    most = Math.max(most, replay.asked.size);
    return verdict(true);
  });
  t.equal(most, 4);
  t.match(replay.row.counts, { succeeded: 10 });
  t.equal(replay.wakeMs, null, "nothing is left to do");
  const many = new JudgedReplay(undefined, { id: "rep_2", runs: 3 });
  many.judgeAll();
  const turns = replayJudgings.get(many.rows, workspaceId, "rep_2");
  t.equal(turns?.asked.length, 3, "three turns made three questions");
});

t.test("what is shown differs between questions by a mark that no one can guess", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 2, diffOf: () => "diff --git a/x b/x\n" });
  replay.judgeAll();
  const [first, second] = [...replay.asked.values()].map(({ messages }) => JSON.stringify(messages));
  t.not(first, second);
  t.notMatch(first, /rep_1|cand_1|Another/, "nor is the replay named");
});

t.test("a question counts its estimate until its cost is known, which the copy spent then", async (t) => {
  const replay = new JudgedReplay(undefined, { copy: { spent: { amount: 0.1, currency: "EUR" } } });
  replay.judgeAll();
  const [id, question] = theQuestion(replay);
  t.equal(toFraction(replay.row.spending.besides), toEstimate(question));
  t.equal(toFraction(replay.row.spending.spent), 0);
  replay.answer(id, verdict(true, 0.002));
  t.same(replay.row.spending, { spent: "1/500", besides: "0/1", unpriced: 0 });
  t.match(replay.copies, [{ spent: { amount: 0.102, currency: "EUR" }, priced: true }]);
});

t.test("a question whose answer a crash took stays counted, and is asked again in the same words", async (t) => {
  const replay = new JudgedReplay();
  replay.judgeAll();
  const [id, question] = theQuestion(replay);
  const estimate = toEstimate(question);
  const lost = { calls: 1, cost: { amount: estimate, currency: "EUR" }, isEstimate: true };
  replay.answer(id, { state: "interrupted", spent: lost });
  const [again, repeated] = theQuestion(replay);
  t.same(repeated, question);
  t.ok(Math.abs(toFraction(replay.row.spending.besides) - 2 * estimate) < 1e-12);
  t.equal(replay.row.waiting, null, "it does not wait for the model");
  replay.answer(again, verdict(true, 0.001));
  t.equal(toFraction(replay.row.spending.besides), 0);
  t.ok(Math.abs((replay.copies[0]?.spent?.amount ?? 0) - estimate - 0.001) < 1e-12);
  t.match(replayVerdicts.list(replay.rows, workspaceId, ["rep_1"]), [{ spent: { calls: 2, isEstimate: true } }]);
});

t.test("a model without a price counts nothing, and leaves the copy priced", async (t) => {
  const replay = new JudgedReplay(undefined, { terms: { name: "m", prices: null } });
  replay.judgeAll();
  t.equal(replay.row.spending.besides, "0/1");
  replay.answerAll(() => verdict(true, null));
  t.same(replay.row.spending, { spent: "0/1", besides: "0/1", unpriced: 0 });
  t.match(replay.copies, [{ result: "succeeded", spent: null, priced: true }]);
});

t.test("the cost of judging a copy that spent another currency counts beside it", async (t) => {
  const replay = new JudgedReplay(undefined, { copy: { spent: { amount: 7, currency: "SEK" }, priced: false } });
  replay.judgeAll();
  replay.answerAll(() => verdict(true, 0.25));
  t.match(replay.copies, [{ result: "succeeded", spent: { amount: 7, currency: "SEK" } }]);
  t.match(replay.row.spending, { spent: "0/1", besides: "1/4" });
});

t.test("while the model is down for an hour, the replay waits and says so, and loses nothing", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 10 });
  replay.judgeAll();
  const since = new Date(replay.now).toISOString();
  const back = replay.now + HOUR_MS;
  let asked = 0;
  for (; replay.now < back; replay.now += MINUTE_MS) {
    replay.answerAll(() => {
      asked += 1;
      return down;
    });
    t.same(replay.row.waiting, { for: "model", since });
    t.match(replay.row.counts, { succeeded: 0, unscored: 0 });
  }
  t.ok(asked >= 40 && asked <= 80, `${asked} askings of four questions in an hour`);
  t.match(replay.row.spending, { besides: "0/1" }, "a call that was not begun costs nothing");
  for (let round = 0; round < 12; round++, replay.now += MINUTE_MS) replay.answerAll(() => verdict(true));
  t.match(replay.row, { waiting: null, counts: { succeeded: 10 } });
});

t.test("after a day without the model, what waited has no verdict, nor what is asked then", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 6 });
  replay.judgeAll();
  const end = replay.now + 25 * HOUR_MS;
  for (; replay.now < end; replay.now += 5 * MINUTE_MS) replay.answerAll(() => down);
  t.match(replay.row, { waiting: null, counts: { unscored: 6 } }, "the two that were asked last waited no other day");
  t.match(replay.copies[0]?.why, { code: "unavailable", text: "the model answered 503" });
});

t.test("where no model is set up, nothing is asked and copies are unscored", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 30, terms: null });
  replay.judgeAll();
  replay.goOn();
  t.equal(replay.asked.size, 0);
  t.match(replay.row.counts, { unscored: 30 });
  t.match(replay.copies[29]?.why, { code: "not-set-up" });
  const gone = new JudgedReplay(undefined, { id: "rep_2" });
  gone.judgeAll();
  gone.answerAll(() => ({ state: "failed", code: "not-set-up", reason: "no model is configured", spent: nothing }));
  t.match(gone.copies[0], { result: "unscored", why: { code: "not-set-up" } }, "one that was taken away meanwhile");
});

t.test("a stop ends the judging: copies without a verdict are unscored, and late answers are not taken", async (t) => {
  const replay = new JudgedReplay(undefined, { runs: 6 });
  replay.judgeAll();
  replay.goOn();
  const [first = ""] = replay.asked.keys();
  replay.answer(first, verdict(true));
  const [late = ""] = replay.asked.keys();
  const estimates = [...replay.asked.values()].map(toEstimate);
  const { cancelledEffects } = replay.act(stopJudging);
  t.equal(cancelledEffects.length, estimates.length);
  t.match(replay.row.counts, { succeeded: 1, unscored: 5 });
  t.match(replay.copies[5]?.why, { code: "stopped" });
  t.equal(replay.wakeMs, null);
  const counted = toFraction(replay.row.spending.besides);
  const sum = estimates.reduce((total, each) => total + each, 0);
  t.ok(Math.abs(counted - sum) < 1e-12, "what was under way may cost its estimate");
  replay.asked.set(late, { messages: [], schema: {}, model: null, maxTokens: 1 });
  replay.answer(late, answered({}));
  t.match(replay.row.counts, { succeeded: 1, unscored: 5 });
});

t.test("a question whose effect failed is no verdict, and counts its estimate", async (t) => {
  const replay = new JudgedReplay();
  replay.judgeAll();
  const [id, question] = theQuestion(replay);
  replay.fail(id);
  t.match(replay.copies, [{ result: "unscored", why: { code: "refused" } }]);
  t.equal(replay.copies[0]?.spent?.amount, toEstimate(question));
});

t.test("a judge's own model is asked", async (t) => {
  const replay = new JudgedReplay(undefined, { judge: { ...judge, model: "small" } });
  replay.judgeAll();
  t.equal(theQuestion(replay)[1].model, "small");
});
