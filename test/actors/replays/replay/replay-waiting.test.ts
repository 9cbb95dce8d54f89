import t from "tap";
import type { ReplayCopyRow, ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { whatItWaitsFor } from "../../../../actors/replays/replay/replay-waiting.js";
import { removeQueued, storeQueued, toLineKey } from "../../../../actors/runners/run-queue.table.js";
import { claims, runners } from "../../../../actors/runners/runner.table.js";
import type { RunRow } from "../../../../actors/runs/run.js";
import { runs, toQueuedRun } from "../../../../actors/runs/run.table.js";
import { copyRow } from "../../../support/pictured-replays.js";
import { replayRow } from "../../../support/replay-rows.js";
import { memoryRows } from "../../../support/turn.js";
import { putPool, workspaceId } from "../../../support/work.js";

const counts = { queued: 2, running: 0, settled: 1, succeeded: 1, failed: 0, unscored: 0 };
const waits = replayRow({ state: "running", runs: 3, counts, endedAt: null, judged: false });
const copies = ["+", ".", "."].map((picture, at): ReplayCopyRow => {
  const copy = copyRow({ replayId: "rep_1", place: at + 1, repeat: 1, taskId: `task_${at}` }, picture);
  return picture === "." ? { ...copy, state: "queued", runId: `run_${at}` } : copy;
});

/** Returns a workspace that has the replay's runs in its queue, `run_1` first. */
function queued() {
  const rows = memoryRows();
  putPool(rows, "pool_1");
  const queuedRuns = [1, 2].map((n) => {
    const needs = { poolId: "pool_1", labels: [], harness: "command" };
    const run = { id: `run_${n}`, state: "queued", taskId: null, queuedAtMs: n, needs, lane: "replay:rep_1", steps: 0 };
    runs.insert(rows, workspaceId, run as unknown as RunRow);
    return toQueuedRun(run as unknown as RunRow);
  });
  for (const run of queuedRuns) storeQueued(rows, workspaceId, toLineKey(run), run);
  const ask = (replay: ReplayRow = waits) => whatItWaitsFor(rows, workspaceId, { replay, copies });
  const connect = (connected: boolean) =>
    runners.put(rows, workspaceId, "runner_1", {
      runnerId: "runner_1",
      poolId: "pool_1",
      name: "",
      labels: [],
      harnesses: ["command"],
      slots: 2,
      since: "",
      connected,
    });
  return { rows, queuedRuns, ask, connect };
}

t.test("a replay waits for a runner while none takes its oldest run, and none has one", async (t) => {
  const { rows, ask, connect } = queued();
  t.equal(ask(), "runner", "none is connected");
  t.equal(ask({ ...waits, state: "queued" }), "runner", "as it starts too");
  connect(true);
  t.equal(ask(), null, "one has a free slot");
  for (const runId of ["work_1", "work_2"]) {
    claims.put(rows, workspaceId, ["runner_1", runId], { runnerId: "runner_1", runId, poolId: "pool_1" });
  }
  t.equal(ask(), "runner", "it has other work");
  connect(false);
  t.equal(ask(), "runner", "it left");
});

t.test("a replay goes on with a run at a runner, none in the queue, and after its end", async (t) => {
  const { rows, queuedRuns, ask } = queued();
  t.equal(ask({ ...waits, counts: { ...counts, queued: 1, running: 1 } }), null);
  t.equal(ask({ ...waits, counts: { ...counts, queued: 0 } }), null);
  t.equal(ask({ ...waits, state: "stopped" }), null);
  const [oldest] = queuedRuns;
  if (oldest === undefined) throw new Error("no run is queued");
  removeQueued(rows, workspaceId, toLineKey(oldest), oldest);
  t.equal(ask(), null, "a runner is taking it");
});

t.test("a replay that waits for the model says so first", async (t) => {
  const waiting = { for: "model", since: "2026-01-01T00:00:00.000Z" } as const;
  t.equal(queued().ask({ ...waits, waiting }), "model");
});
