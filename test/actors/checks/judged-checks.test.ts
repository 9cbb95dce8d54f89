import t from "tap";
import { checkView } from "../../../actors/checks/check.view.js";
import type { ModelReply } from "../../../actors/outbound/models/model.js";
import type { ModelRequest } from "../../../actors/outbound/models/model-request.js";
import { toReplayJudging } from "../../../actors/replays/judging/model-terms.js";
import { runs } from "../../../actors/runs/run.table.js";
import { inForm } from "../../../http/demo/scripted-model.js";
import { openCheckWorld, startCheck, toCheck } from "../../support/check-world.js";
import type { ReplayWorld, ReplayWorldOptions } from "../../support/replay-world.js";
import { base } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

/** Checks of a station with a judge, over simulated time. The test acts as the runner and the model. */

const judge = { rubric: "Is it good?", scale: "yes-no", passScore: null, claims: [], passShare: null, model: null };
const judging = toReplayJudging({ name: "m", prices: { in: 10, out: 10, currency: "EUR", models: {} } });
const usage = { in: 1_000, out: 100 };

/** Answers as a model that rejects a change containing "worse" and prefers the first change of a pair. */
function says({ messages, schema }: ModelRequest): ModelReply {
  const asked = JSON.stringify(messages);
  const isPair = asked.includes("Two programmers");
  const form = { json_schema: { schema: { ...schema } } };
  const value = isPair
    ? inForm({ model: "m", messages: [], headers: {}, response_format: form })
    : { reasons: [{ text: "It forgets the index.", citations: [] }], passes: !asked.includes("+worse") };
  return { kind: "completion", text: JSON.stringify(value), isCut: false, usage };
}

/** Works on all jobs. The jobs of `replayId` leave a change that the model rejects. */
async function work(world: ReplayWorld, replayId: string): Promise<void> {
  for (const job of world.jobs()) {
    const isWorse = runs.get(world.harness.durable, workspaceId, job.runId)?.owner.id === replayId;
    const diff = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${isWorse ? "worse" : "well"}\n`;
    await world.work(job, 0.1, { checkouts: [{ repository: "acme/app", base: base("b"), diff }] });
  }
}

const view = (world: ReplayWorld, id: string) =>
  checkView(world.harness.durable, workspaceId, toCheck(world, id), { reused: false, latest: null });

const open = (options: ReplayWorldOptions = {}) => openCheckWorld({ station: { judge }, slots: 4, ...options });

t.test("a verdict of the judge makes a task regress, with what the judge said", async (t) => {
  const world = await open({ judging, model: says });
  const id = await startCheck(world);
  const { replayId } = toCheck(world, id);
  while (world.replay(replayId)?.counts.settled !== 2) await work(world, replayId);
  t.match(toCheck(world, id), { verdict: "running" }, "nothing is judged yet");
  await world.harness.advance(10_000);
  t.match(toCheck(world, id), { verdict: "failed", regressed: 2, compared: 2 });
  t.match(view(world, id), {
    baseline: { state: "finished", succeeded: 2, spent: { amount: 0.222 } },
    regressions: [{ reasons: [{ code: "judge-failed", detail: "It forgets the index." }] }, {}],
    warnings: [{ kind: "false-failure" }],
  });
});

t.test("without a model nothing is scored, and a check says so at its start and in the end", async (t) => {
  const world = await open();
  const id = await startCheck(world);
  t.match(view(world, id).warnings, [{ kind: "false-failure" }, { kind: "judging-not-set-up", chance: null }]);
  while (toCheck(world, id).verdict === "running") await work(world, toCheck(world, id).replayId);
  t.match(toCheck(world, id), { verdict: "undecided", undecidedBecause: "too-few-scored" });
});
