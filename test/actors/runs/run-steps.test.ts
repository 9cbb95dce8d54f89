import { createHash } from "node:crypto";
import t from "tap";
import { runSteps } from "../../../actors/runs/run.table.js";
import { stepPageView } from "../../../actors/runs/run.view.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

const step = { kind: "tool", tool: null, spent: null };

/** Returns a run with these agent steps. */
function runWith(steps: readonly object[]) {
  const work = new SteppedWork();
  work.claim();
  work.say({ type: "run.started" });
  for (const [index, more] of steps.entries()) work.say({ type: "run.step", step: { ...step, index, ...more } });
  const { rows, runId } = work;
  return { rows, runId, shown: () => stepPageView(rows, workspaceId, runId, { after: -1, limit: 9 }).steps };
}

t.test("a step is stored and shown with the call that it is about, and the skill that was read", async (t) => {
  const call = { server: "tracker", tool: "find", failed: true, refusedBy: null };
  const { shown } = runWith([{ text: "find", call, skill: "greet" }]);
  t.match(shown(), [{ ...step, text: "find", call, skill: "greet" }]);
});

t.test("the long text of a step is a body, stored once and shown whole", async (t) => {
  const text = "ü".repeat(4_000);
  const { rows, runId, shown } = runWith([{ text: "short" }, { text }, { text }]);
  const texts = () => shown().map((one) => one.text);
  t.same(texts(), ["short", text, text]);
  const digest = createHash("sha256").update(text).digest("hex");
  const stored = rows.get<object>(runSteps.key(workspaceId, runId, 1));
  t.match(stored, { ...step, index: 1, text: { digest, length: 8_000 } });
  t.notOk("runId" in (stored ?? {}), "it is in the key");
  t.match(rows.get([workspaceId, "row", "blob-use", digest]), { count: 2 });
  rows.put(runSteps.key(workspaceId, runId, 2), { ...step, index: 2, text, at: "" });
  t.same(texts(), ["short", text, text], "a row of an earlier release holds its text");
});
