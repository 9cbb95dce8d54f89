import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { whyWaiting } from "../../../actors/runners/placement.queries.js";
import { findYoungest, listOldest, toLineKey } from "../../../actors/runners/run-queue.table.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const needs = { poolId: null, labels: ["gpu"], harness: "command" };
const line = toLineKey(needs);

t.test("queued runs of earlier releases wait on, in the order of their times", async (t) => {
  const step = migrations.find(({ title }) => title === "runs are queued in eras of the clock");
  if (step === undefined) throw new Error("there is no such step");
  const queued = [1_000, 2_000, 2_000, 10_000].map((queuedAtMs, n) => ({ ...needs, runId: `run_${n}`, queuedAtMs }));
  const before = queued.map(
    (run): Entry => ({
      key: [workspaceId, "row", "queued-run", line, run.queuedAtMs, run.runId],
      value: run,
    }),
  );
  const needed: Entry = { key: [workspaceId, "row", "queued-needs", line], value: needs };
  const rows = memoryRows();
  for (const { key, value } of await stepped(step, [needed, ...before])) rows.put(key, value);
  t.same(listOldest(rows, workspaceId, line, 10), queued);
  t.same(findYoungest(rows, workspaceId), queued.at(-1));
  for (const run of queued) t.equal(whyWaiting(rows, workspaceId, run), "No runner of the workspace is connected.");
});
