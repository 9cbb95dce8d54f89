import t from "tap";
import { readJudgedWork, readOwnChange } from "../../../../actors/replays/judging/judged-work.js";
import { runCheckouts } from "../../../../actors/runs/run.table.js";
import { base, diff, SteppedWork } from "../../../support/stepped-work.js";
import { workspaceId } from "../../../support/work.js";

const ownDiff = "diff --git a/b b/b\n";

/** Returns an ended run with a report of its changes. */
function endedRun(checkout: object | null, check: object | null = null) {
  const work = new SteppedWork();
  work.claim();
  work.say({ type: "run.started" });
  for (let index = 0; index < 120; index++) {
    const step = { index, kind: "tool", text: `Step ${index}.`, tool: "shell", spent: null };
    work.say({ type: "run.step", step });
  }
  const { runId } = work;
  const checkouts = checkout === null ? [] : [{ repository: "acme/app", base: base("b"), diff, ...checkout }];
  const ending = { kind: "finish", note: "" };
  const left = { ending, failure: null, checkouts, check, spent: null };
  work.say({ type: "run.ended", outcome: "completed", ...left });
  return { rows: work.rows, runId };
}

t.test("a judge sees the task as it was given, the last steps and the check, and nothing of the config", async (t) => {
  const { rows, runId } = endedRun({}, { passed: true, exitCode: 0, output: "fine" });
  const { steps, ...seen } = readJudgedWork(rows, workspaceId, runId);
  t.same(seen, {
    task: { title: "Do it", description: "Well." },
    change: [{ repository: "acme/app", diff }],
    given: [],
    check: { passed: true, exitCode: 0, output: "fine" },
  });
  t.equal(steps.length, 100);
  t.same(steps.at(-1), { index: 119, kind: "tool", text: "Step 119.", tool: "shell" });
});

t.test("what a run was given is no part of its change, where its runner tells them apart", async (t) => {
  const { rows, runId } = endedRun({ own: ownDiff });
  t.same(readOwnChange(rows, workspaceId, runId), [{ repository: "acme/app", diff: ownDiff }]);
  t.match(runCheckouts.list(rows, workspaceId, [runId]), [{ digest: /./, own: /./ }]);
  t.equal([...runCheckouts.referrals(rows, workspaceId)][0]?.length, 2, "both bodies are stored with it");
  const nothing = endedRun({ own: "" });
  t.same(readOwnChange(nothing.rows, workspaceId, nothing.runId), [{ repository: "acme/app", diff: "" }]);
});

t.test("what a run was given is shown apart", async (t) => {
  const work = new SteppedWork();
  work.claim();
  work.complete("review");
  work.claim();
  work.say({ type: "run.started" });
  const { given, change } = readJudgedWork(work.rows, workspaceId, work.runId);
  t.same(given, [{ repository: "acme/app", diff }]);
  t.same(change, [], "it has left nothing yet");
});

t.test("a run that did not come so far has no change", async (t) => {
  const { rows, runId } = endedRun(null);
  t.equal(readOwnChange(rows, workspaceId, runId), null);
});
