import t from "tap";
import { type CheckSides, type CheckVerdict, decide, undecidedReasons } from "../../../actors/checks/verdict.js";
import type { ReplayState } from "../../../actors/replays/replay/replay.js";
import type { Copy, CopyResult } from "../../../actors/statistics/copy.js";

const results = [null, "succeeded", "failed", "unscored"] as const;
/** Two tasks with one run each and two copies per run. */
const places = [
  { taskId: "task_1", originalRunId: "run_1", repeat: 1 },
  { taskId: "task_1", originalRunId: "run_1", repeat: 2 },
  { taskId: "task_2", originalRunId: "run_2", repeat: 1 },
  { taskId: "task_2", originalRunId: "run_2", repeat: 2 },
];
const runs = ["run_1", "run_2"];

/** The results of one side, as a number of four base-4 digits. */
type Code = number;
const CODES = 4 ** 4;
const toCopies = (code: Code): readonly Copy[] =>
  places.map((place, index) => ({ ...place, result: resultAt(code, index) }));
const resultAt = (code: Code, index: number): CopyResult => results[Math.floor(code / 4 ** index) % 4] ?? null;
const copiesOf = Array.from({ length: CODES }, (_, code) => toCopies(code));

function toSides(own: Code, other: Code, state: ReplayState = "running"): CheckSides {
  return {
    candidate: { state, copies: copiesOf[own] ?? [] },
    baseline: { state, copies: copiesOf[other] ?? [] },
    runs,
  };
}

/**
 * Whether a task regressed. Follows the definition in the reference documentation, and calls no function of the
 * product.
 */
function regressedIn(own: Code, other: Code, first: number): boolean {
  const [mine, theirs] = [own, other].map((code) => [resultAt(code, first), resultAt(code, first + 1)]);
  if (mine === undefined || theirs === undefined || [...mine, ...theirs].includes(null)) return false;
  const count = (side: readonly CopyResult[], wanted: CopyResult) => side.filter((each) => each === wanted).length;
  if (count(theirs, "failed") > 0 || count(theirs, "succeeded") === 0) return false;
  const scored = count(mine, "succeeded") + count(mine, "failed");
  return scored > 0 && count(mine, "succeeded") / scored < 1 / 2;
}

t.test("every state of two tasks, two copies and two sides, and every settlement from it", (t) => {
  let [states, settlements] = [0, 0];
  for (const mostRegressions of [0, 1]) {
    const verdictOf = new Map<number, CheckVerdict>();
    for (let own = 0; own < CODES; own++) {
      for (let other = 0; other < CODES; other++) {
        const { verdict, regressed } = decide(toSides(own, other), mostRegressions);
        const expected = [0, 2].filter((first) => regressedIn(own, other, first)).length;
        if (regressed !== expected || verdict !== (expected > mostRegressions ? "failed" : "running")) {
          t.fail(`${own} beside ${other} is ${verdict} with ${regressed}, of ${expected}`);
        }
        verdictOf.set(own * CODES + other, verdict);
        states += 1;
      }
    }
    for (const [key, verdict] of verdictOf) {
      for (const next of settledFrom(key)) {
        settlements += 1;
        if (verdict === "failed" && verdictOf.get(next) !== "failed") t.fail(`failed is left from ${key} to ${next}`);
      }
    }
  }
  t.same([states, settlements], [2 * 65_536, 2 * 8 * 4 ** 7 * 3]);
  t.end();
});

/** Returns the states that can follow the state `key`: in each of them, one more copy has its result. */
function settledFrom(key: number): readonly number[] {
  const next: number[] = [];
  for (let index = 0; index < 8; index++) {
    const digit = 4 ** index;
    if (Math.floor(key / digit) % 4 === 0) for (const result of [1, 2, 3]) next.push(key + result * digit);
  }
  return next;
}

t.test("failed is decided while replays run, whatever ends them afterwards", (t) => {
  const [failed, fine] = [toCode("ffff"), toCode("ssss")];
  const ends = ["queued", "running", "finished", "stopped", "over-budget"] as const;
  for (const own of ends) {
    for (const other of ends) {
      const { runs: of, ...sides } = toSides(failed, fine);
      const ended = {
        candidate: { state: own, copies: sides.candidate?.copies ?? [] },
        baseline: { state: other, copies: sides.baseline?.copies ?? [] },
        runs: of,
      };
      t.equal(decide(ended, 1).verdict, "failed", `${own} ${other}`);
    }
  }
  t.end();
});

/** Reads results of copies, one letter each: `s` is succeeded, `f` failed, `u` unscored, and `-` no result yet. */
function toCode(letters: string): Code {
  return [...letters].reduce((code, letter, index) => code + "-sfu".indexOf(letter) * 4 ** index, 0);
}

t.test("ended replays are judged in the order of the reference", (t) => {
  type Row = readonly [own: ReplayState | null, other: ReplayState | null, ownCode: string, otherCode: string];
  const cases: readonly (readonly [...Row, verdict: string])[] = [
    ["finished", "finished", "ssss", "ssss", "passed"],
    ["finished", "finished", "ssuu", "ssss", "passed"],
    ["finished", "finished", "uuuu", "ssss", "too-few-scored"],
    ["finished", "finished", "ssuu", "uuss", "too-few-scored"],
    ["finished", "stopped", "ssss", "ss--", "baseline-unfinished"],
    ["finished", "over-budget", "ssss", "s---", "baseline-unfinished"],
    ["finished", null, "ssss", "----", "no-baseline"],
    ["over-budget", "finished", "ss--", "ssss", "over-ceiling"],
    ["over-budget", null, "ss--", "----", "over-ceiling"],
    ["stopped", "over-budget", "ss--", "ssss", "stopped"],
    [null, "finished", "----", "ssss", "replay-gone"],
    [null, null, "----", "----", "replay-gone"],
    [null, "running", "----", "s---", "running"],
    ["stopped", "running", "ss--", "s---", "running"],
    ["finished", "queued", "ssss", "----", "running"],
    ["queued", "finished", "----", "ssss", "running"],
    ["queued", null, "----", "----", "running"],
    ["stopped", "finished", "ff--", "ssss", "stopped"],
  ];
  const seen = new Set<string>();
  for (const [own, other, ownCode, otherCode, expected] of cases) {
    const toSide = (state: ReplayState | null, code: string) =>
      state === null ? null : { state, copies: copiesOf[toCode(code)] ?? [] };
    const sides = { candidate: toSide(own, ownCode), baseline: toSide(other, otherCode), runs };
    const { verdict, undecidedBecause } = decide(sides, 1);
    t.equal(undecidedBecause ?? verdict, expected, `${own} ${other} ${ownCode} ${otherCode}`);
    t.equal(verdict === "undecided", undecidedBecause !== null);
    seen.add(undecidedBecause ?? verdict);
  }
  for (const reason of undecidedReasons) t.ok(seen.has(reason), reason);
  const { regressed, compared } = decide(toSides(toCode("ffss"), toCode("ssss"), "finished"), 1);
  t.same([regressed, compared], [1, 2], "as many as are allowed");
  t.end();
});
