import t from "tap";
import { type PairSide, planPair, toOpponent, toPairOutcome } from "../../../actors/judging/pair.js";
import {
  MAX_PAIRED_CHANGE,
  type PairedWork,
  type Pairing,
  type PairReading,
  pairQuestion,
  readPairing,
} from "../../../actors/judging/pair-question.js";
import type { Judge } from "../../../actors/judging/scales.js";
import type { PairOutcome } from "../../../actors/statistics/comparison.js";

const mark = "00112233445566778899aabbccddeeff";
const judge: Judge = {
  rubric: "Is it well made?",
  scale: "yes-no",
  passScore: null,
  claims: ["It works."],
  passShare: null,
  model: null,
};
const changing = (text: string, hunks = 1) => {
  const lines = Array.from({ length: hunks }, (_, n) => `@@ -${n} +${n} @@\n+${text}\n`).join("");
  return [{ repository: "app", diff: `--- a/x\n+++ b/x\n${lines}` }];
};
const side = (text: string, hunks?: number): PairedWork => ({
  change: changing(text, hunks),
  check: { passed: text === "own", exitCode: 1, output: "secret output" },
});
const pairing: Pairing = {
  judge,
  task: { title: "Count", description: "Words" },
  own: side("own", 2),
  theirs: side("theirs", 3),
};
const question = (ownShownFirst: boolean, of = pairing) => pairQuestion(of, { mark, ownShownFirst });

/** Returns the outcome of a pair when a model answers each of the two orders with `answer(ownShownFirst)`. */
function toOutcome(answer: (ownShownFirst: boolean) => "first" | "second" | "tie"): PairOutcome {
  const [first, second] = [true, false].map((ownShownFirst) => {
    const reading = readPairing(question(ownShownFirst).shown, { reasons: [], better: answer(ownShownFirst) });
    if (reading === null) throw new Error("no reading");
    return reading;
  });
  return toPairOutcome([first, second] as [PairReading, PairReading]);
}

t.test("both orders have to agree: a judge that prefers a place never makes a winner", async (t) => {
  t.equal(
    toOutcome(() => "first"),
    "tie",
  );
  t.equal(
    toOutcome(() => "second"),
    "tie",
  );
  t.equal(
    toOutcome(() => "tie"),
    "tie",
  );
  t.equal(
    toOutcome((ownShownFirst) => (ownShownFirst ? "first" : "second")),
    "win",
  );
  t.equal(
    toOutcome((ownShownFirst) => (ownShownFirst ? "second" : "first")),
    "loss",
  );
  t.equal(
    toOutcome((ownShownFirst) => (ownShownFirst ? "first" : "tie")),
    "tie",
  );
});

t.test("a pair is shown as a first and a second change, by nothing else", async (t) => {
  for (const ownShownFirst of [true, false]) {
    const [system, user] = question(ownShownFirst).messages;
    const [first, second] = ownShownFirst ? ["own", "theirs"] : ["theirs", "own"];
    const shown = user?.content ?? "";
    t.match(shown, new RegExp(`${mark} the first change\\n.*${mark} hunk 1\\n@@ -0 \\+0 @@\\n\\+${first}\\n`, "s"));
    t.match(shown, new RegExp(`${mark} the second change\\n.*${mark} hunk 1\\n@@ -0 \\+0 @@\\n\\+${second}\\n`, "s"));
    t.ok(shown.endsWith(`${mark} end`));
    t.notMatch(shown, "secret output");
    t.match(system?.content, "Rubric:\nIs it well made?\n\nClaims:\n1. It works.");
  }
  const [forward, backward] = [question(true), question(false)].map(({ messages }) => messages[0]);
  t.same(forward, backward, "the instructions do not say which is which");
  const long = question(true, { ...pairing, own: side("x".repeat(500_000)), theirs: side("y".repeat(500_000)) });
  t.ok((long.messages[1]?.content.length ?? 0) < 2 * MAX_PAIRED_CHANGE + 2_000);
});

t.test("a reading's reasons are mapped back to the hunks of each side", async (t) => {
  const reasons = [
    { text: "Better.", firstHunks: [2, 2, 3, -1, 1e300], secondHunks: [1, 3, 0, 1.5, -0.5] },
    { text: " ", firstHunks: [], secondHunks: [] },
  ];
  const read = (ownShownFirst: boolean) => readPairing(question(ownShownFirst).shown, { reasons, better: "first" });
  t.same(read(true), {
    ownShownFirst: true,
    outcome: "win",
    reasons: [{ text: "Better.", ownHunks: [2], theirHunks: [1, 3] }],
  });
  t.same(read(false), {
    ownShownFirst: false,
    outcome: "loss",
    reasons: [{ text: "Better.", ownHunks: [1], theirHunks: [2, 3] }],
  });
  for (const junk of [null, {}, { reasons: [], better: "own" }, { reasons, better: "tie", note: "x" }])
    t.equal(readPairing(question(true).shown, junk), null);
});

t.test("a pair is read unless there is a reason why not; what no wait could change is said first", async (t) => {
  const own: PairSide = { judge, isSettled: true, change: changing("own") };
  const open = { isSetUp: true, hasRoom: true };
  const none = { isSettled: false, change: null };
  const cases: [Partial<PairSide>, Partial<PairSide>, Partial<typeof open>, object][] = [
    [{}, {}, {}, { state: "asked" }],
    [{}, { change: [] }, {}, { state: "asked" }],
    [{ judge: null, ...none }, none, { isSetUp: false }, { state: "unpaired", unpaired: "not-judged" }],
    [{}, { judge: null }, {}, { state: "unpaired", unpaired: "not-judged" }],
    [none, { judge: { ...judge, rubric: "Other" } }, {}, { state: "unpaired", unpaired: "other-rubric" }],
    [{}, { judge: { ...judge, claims: [] } }, {}, { state: "unpaired", unpaired: "other-rubric" }],
    [{}, { judge: { ...judge, scale: "number", model: "other", passShare: 0.5 } }, {}, { state: "asked" }],
    [none, {}, { isSetUp: false }, { state: "unpaired", unpaired: "not-set-up" }],
    [{}, none, { hasRoom: false }, { state: "unpaired", unpaired: "unsettled" }],
    [{}, { change: null }, { hasRoom: false }, { state: "unpaired", unpaired: "no-change" }],
    [
      { change: [] },
      { change: [{ repository: "app", diff: "" }] },
      { hasRoom: false },
      { state: "judged", outcome: "tie" },
    ],
    [{}, {}, { hasRoom: false }, { state: "unpaired", unpaired: "budget" }],
  ];
  for (const [ours, theirs, more, plan] of cases)
    t.same(planPair({ ...own, ...ours }, { ...own, ...theirs }, { ...open, ...more }), plan, JSON.stringify(plan));
});

t.test("copies are set beside each other in turn", async (t) => {
  t.same(
    [1, 2, 3, 4, 5].map((repeat) => toOpponent(repeat, 3)),
    [1, 2, 3, 1, 2],
  );
  t.same(
    [1, 2].map((repeat) => toOpponent(repeat, 1)),
    [1, 1],
  );
});
