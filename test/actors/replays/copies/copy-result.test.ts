import t from "tap";
import { toCopyResult } from "../../../../actors/replays/copies/copy-result.js";
import { failureCodeSchema } from "../../../../actors/runners/protocol.js";
import type { RunRow } from "../../../../actors/runs/run.js";
import { replayConfig, replayInput } from "../../../support/replay-rows.js";

type Run = Parameters<typeof toCopyResult>[0];

const completed: Run = {
  outcome: "completed",
  reason: null,
  ending: { kind: "finish", note: "" },
  failure: null,
  check: null,
};
const judge = { rubric: "Good?", scale: "yes-no", passScore: null, claims: [], passShare: null, model: null } as const;
const withStation = (station: object) => ({
  ...replayInput(),
  config: { ...replayConfig, station: { ...replayConfig.station, ...station } },
});
const checked = withStation({ check: "make test" });
const check = (passed: boolean) => ({ passed, exitCode: passed ? 0 : 1, output: "" });

/** The run of a copy, and the copy's expected result. Null means that the copy is to be judged. */
const rows: readonly [what: string, run: Partial<Run>, input: ReturnType<typeof replayInput>, result: unknown][] = [
  ["completed", {}, replayInput(), ["succeeded", null]],
  ["handed over", { ending: { kind: "handover", to: "review", note: "" } }, replayInput(), ["succeeded", null]],
  ["asked a person", { ending: { kind: "ask", question: "Why?" } }, checked, ["failed", "asked"]],
  ["its check passed", { check: check(true) }, checked, ["succeeded", null]],
  ["its check failed", { check: check(false) }, checked, ["failed", "check-failed"]],
  ["its check did not run", {}, checked, ["unscored", "runner-error"]],
  ["to be judged", {}, withStation({ judge }), [null, null]],
  [
    "its check failed, not judged",
    { check: check(false) },
    withStation({ judge, check: "x" }),
    ["failed", "check-failed"],
  ],
  ["runner lost", { outcome: "abandoned", ending: null }, replayInput(), ["unscored", "runner-lost"]],
  ["stopped", { outcome: "stopped", ending: null }, replayInput(), ["unscored", "stopped"]],
  ["withdrawn", { outcome: "withdrawn", ending: null }, replayInput(), ["unscored", "withdrawn"]],
  ["superseded", { outcome: "superseded", ending: null }, replayInput(), ["unscored", "superseded"]],
  ["failed without a failure", { outcome: "failed", ending: null }, replayInput(), ["unscored", "runner-error"]],
];

t.test("the result of a copy follows from its run", async (t) => {
  for (const [what, run, input, expected] of rows) {
    const { result, why } = toCopyResult({ ...completed, ...run }, input);
    t.same([result, why?.code ?? null], expected, what);
  }
});

const failed = (code: string): Run => {
  const failure = { code, message: "It broke.", output: "" } as RunRow["failure"];
  return { outcome: "failed", reason: "It broke.", ending: null, failure, check: null };
};

t.test("a failure of the work fails its copy, one of its surroundings says nothing", async (t) => {
  const findResult = (code: string, input = replayInput()) => toCopyResult(failed(code), input).result;
  const fails = failureCodeSchema.options.filter((code) => findResult(code) === "failed");
  t.same(fails, ["harness-failed", "timed-out", "check-failed", "diff-too-large"]);
  t.same(toCopyResult(failed("timed-out"), replayInput()).why, { code: "timed-out", text: "It broke." });
});

t.test("a setup or image that the candidate changed is its own failure", async (t) => {
  const [repository] = replayConfig.repositories;
  if (repository === undefined) throw new Error("there is no repository");
  const under = (more: object) => ({
    ...replayInput(),
    config: { ...replayConfig, repositories: [{ ...repository, ...more }] },
  });
  for (const code of ["setup-failed", "no-image"]) {
    t.equal(toCopyResult(failed(code), under({})).result, "unscored", `${code}, unchanged`);
    for (const more of [{ setup: "npm ci" }, { image: "node:20" }, { name: "acme/other" }]) {
      t.equal(toCopyResult(failed(code), under(more)).result, "failed", `${code}, ${JSON.stringify(more)}`);
    }
  }
  t.equal(toCopyResult(failed("checkout-failed"), under({ setup: "npm ci" })).result, "unscored");
});
