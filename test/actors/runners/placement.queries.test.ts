import t from "tap";
import { readPlacement, whyWaiting } from "../../../actors/runners/placement.queries.js";
import { storeQueued, toLineKey } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import { claims, type QueuedRun, runners } from "../../../actors/runners/runner.table.js";
import { waitingReason } from "../../../actors/runners/waiting-reason.js";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { Overlay } from "../../../runtime/turns/overlay.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Writing } from "../../../storage/store.js";
import { CountingReading } from "../../support/counting-reading.js";
import { putPool, workspaceId } from "../../support/work.js";

/** Waiting runs, each with different requirements that no runner meets. */
const waiting = Array.from(
  { length: 20 },
  (_, n): QueuedRun => ({
    runId: `run_${n}`,
    poolId: null,
    labels: [`missing-${n}`],
    harness: "command",
    queuedAtMs: n,
  }),
);

function runnerRow(n: number, connected = true): RunnerRow {
  return {
    runnerId: `runner_${n}`,
    poolId: "pool_1",
    name: "",
    labels: [`host-${n}`],
    harnesses: ["command"],
    slots: 1,
    connected,
    since: "",
  };
}

/** Returns the rows of a workspace with a queue and this many runners, each with a claim. */
function listRows(count: number): Change[] {
  const changes: Change[] = [];
  const writing: Writing = {
    get: () => undefined,
    range: () => [],
    put: (key, value) => void changes.push({ op: "put", key, value }),
    remove: (key) => void changes.push({ op: "remove", key }),
  };
  putPool(writing, "pool_1");
  for (let n = 0; n < count; n++) {
    const runner = runnerRow(n);
    runners.put(writing, workspaceId, runner.runnerId, runner);
    const claim = { runnerId: runner.runnerId, runId: `held_${n}`, poolId: "pool_1" };
    claims.put(writing, workspaceId, [claim.runnerId, claim.runId], claim);
  }
  for (const run of waiting) storeQueued(writing, workspaceId, toLineKey(run), run);
  return changes;
}

/**
 * Returns how many rows the product reads to explain why the runs wait: the first time, and again around each change of
 * runners and claims.
 */
async function countReads(count: number) {
  const store = createMemoryStore();
  await store.commit(listRows(count));
  const counting = new CountingReading(store.reading);
  const reading = new RowCache(counting, { tables: [], freezes: true });
  const list = () => {
    const told: (string | null)[] = [];
    const rows = counting.during(() => told.push(...waiting.map((run) => whyWaiting(reading, workspaceId, run))));
    const built = readPlacement(store.reading, workspaceId);
    t.same(
      told,
      waiting.map((run) => waitingReason(run, built)),
    );
    return rows;
  };
  const first = list();
  const later = [list()];
  for (const change of [
    { op: "remove", key: claims.key(workspaceId, "runner_1", "held_1") },
    { op: "put", key: runners.key(workspaceId, "runner_2"), value: runnerRow(2, false) },
    { op: "put", key: runners.key(workspaceId, "runner_2"), value: runnerRow(2) },
  ] as const) {
    const batch = new Overlay();
    batch.set(change);
    reading.committing(batch);
    later.push(list());
    await store.commit([change]);
    later.push(list());
    reading.flushed();
    reading.applied([change], "here");
    later.push(list());
  }
  return { first, later };
}

t.test("why runs wait is read from as many rows with 1,000 runners and claims as with 10", async (t) => {
  const [few, many] = [await countReads(10), await countReads(1_000)];
  t.ok(many.first > 2_000, "the first read of a workspace reads them all");
  t.same(many.later, few.later);
  t.ok(Math.max(...many.later) <= 2 * waiting.length + 2, "a row or two for each run");
});
