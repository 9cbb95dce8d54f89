import t from "tap";
import { resourceAddresses, resources } from "../../../actors/resources/resource.table.js";
import { dispatcherActor } from "../../../actors/runners/dispatcher.machine.js";
import { dispatcherRef } from "../../../actors/runners/dispatcher.messages.js";
import { whyWaiting } from "../../../actors/runners/placement.queries.js";
import { lanes } from "../../../actors/runners/run-queue.table.js";
import type { RunnerRow } from "../../../actors/runners/runner.js";
import { claims, type QueuedRun, runners } from "../../../actors/runners/runner.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { Writing } from "../../../storage/store.js";
import { countingRows } from "../../support/counting-rows.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const run = (runId: string, more: Partial<QueuedRun> = {}): QueuedRun => ({
  runId,
  poolId: "pool_1",
  labels: [],
  harness: "command",
  queuedAtMs: Number(runId.slice(4)),
  ...more,
});
const runner: RunnerRow = {
  runnerId: "runner_1",
  poolId: "pool_1",
  name: "one",
  labels: [],
  harnesses: ["command"],
  slots: 1,
  connected: true,
  since: "",
};
const queue = (queued: QueuedRun): Message => ({ type: "run.queue", run: queued }) as Message;
const unqueue = (queued: QueuedRun): Message => ({ type: "run.unqueue", run: queued }) as Message;
const offer = (more: Partial<RunnerRow> = {}): Message =>
  ({ type: "runner.offer", runner: { ...runner, ...more } }) as Message;
const forget = { type: "runner.forget", runnerId: "runner_1" } as Message;
const release = (runId: string): Message => ({ type: "claim.release", runnerId: "runner_1", runId }) as Message;
const poolsChanged = { type: "pools.changed" } as Message;

function dispatcher(concurrency: number | null = null, rows: Writing = memoryRows()): Stepping {
  putPool(rows, concurrency);
  return stepByHand(dispatcherActor, dispatcherRef(workspaceId), { rows });
}

function putPool(rows: Writing, concurrency: number | null): void {
  resourceAddresses.put(rows, workspaceId, ["runner-pool", "main"], "pool_1");
  resources.put(rows, workspaceId, ["runner-pool", "pool_1"], {
    id: "pool_1",
    kind: "runner-pool",
    version: 1,
    workspaceId,
    teamId: null,
    address: "main",
    fields: { key: "main", kind: "pull", labels: [], concurrency },
    hidden: {},
    added: {},
    createdAt: "",
    updatedAt: "",
  });
}

const placed = ({ sent }: TurnTaken) =>
  sent.map(({ to, message }) => `${to.id} ${message.type} ${(message as { runnerId?: string }).runnerId ?? ""}`);

t.test("a run is placed once, as soon as a runner has room for it, and never before", async (t) => {
  const stepping = dispatcher();
  t.same(placed(stepping.take(queue(run("run_1")))), []);
  t.same(placed(stepping.take(offer({ connected: false }))), []);
  t.same(placed(stepping.take(offer())), ["run_1 run.claim runner_1"]);
  t.same(placed(stepping.take(queue(run("run_2")))), [], "its one slot is taken");
  t.same(placed(stepping.take(poolsChanged)), []);
  t.same(placed(stepping.take(release("run_1"))), ["run_2 run.claim runner_1"]);
  t.match(claims.list(stepping.rows, workspaceId), [{ runId: "run_2", poolId: "pool_1" }]);
});

t.test("a run that left the queue is not placed; removing an unknown run changes nothing", async (t) => {
  const stepping = dispatcher();
  stepping.take(queue(run("run_1")));
  stepping.take(queue(run("run_2")));
  t.same(placed(stepping.take(unqueue(run("run_1")))), []);
  t.ok(stepping.take(unqueue(run("run_7"))).taken);
  t.same(placed(stepping.take(offer())), ["run_2 run.claim runner_1"]);
});

t.test("a removed runner gets no runs", async (t) => {
  const stepping = dispatcher();
  stepping.take(offer());
  stepping.take(forget);
  t.same(runners.list(stepping.rows, workspaceId), []);
  t.same(placed(stepping.take(queue(run("run_1")))), []);
  t.ok(stepping.take(forget).taken, "one that is not there is fine");
  t.ok(stepping.take(release("run_1")).taken, "and so is a claim that is not");
});

t.test("raising a pool's concurrency places the runs that waited for it", async (t) => {
  const stepping = dispatcher(1);
  stepping.take(offer({ slots: 3 }));
  for (const id of ["run_1", "run_2", "run_3"]) stepping.take(queue(run(id)));
  t.equal(claims.list(stepping.rows, workspaceId).length, 1);
  putPool(stepping.rows, 2);
  t.same(placed(stepping.take(poolsChanged)), ["run_2 run.claim runner_1"]);
});

t.test("runs are placed oldest first over different needs, and labels count in any order", async (t) => {
  const stepping = dispatcher();
  stepping.take(queue(run("run_3", { labels: ["a", "b"] })));
  stepping.take(queue(run("run_2", { poolId: null })));
  stepping.take(queue(run("run_1", { labels: ["b", "a", "a"] })));
  const turn = stepping.take(offer({ labels: ["a", "b"], slots: 2 }));
  t.same(placed(turn), ["run_1 run.claim runner_1", "run_2 run.claim runner_1"]);
  t.same(placed(stepping.take(release("run_1"))), ["run_3 run.claim runner_1"]);
});

t.test("a lane holds no more than its limit, which may change, and leaves nothing once it is idle", async (t) => {
  const stepping = dispatcher();
  const limit = (maxClaims: number | null) => ({ type: "lane.limit", lane: "replay:a", maxClaims }) as Message;
  const copy = (runId: string) => run(runId, { lane: "replay:a" });
  stepping.take(offer({ slots: 6 }));
  stepping.take(limit(1));
  t.same(placed(stepping.take(queue(copy("run_1")))), ["run_1 run.claim runner_1"]);
  t.same(placed(stepping.take(queue(copy("run_2")))), []);
  t.same(placed(stepping.take(queue(run("run_3")))), ["run_3 run.claim runner_1"], "work does not wait for it");
  t.same(placed(stepping.take(limit(2))), ["run_2 run.claim runner_1"]);
  t.match(claims.list(stepping.rows, workspaceId), [{ lane: "replay:a" }, { lane: "replay:a" }, { runId: "run_3" }]);
  t.notOk("lane" in (claims.list(stepping.rows, workspaceId)[2] ?? {}), "of work no lane is written");
  t.same(lanes.list(stepping.rows, workspaceId), [{ lane: "replay:a", maxClaims: 2, served: 2 }]);
  stepping.take(release("run_1"));
  stepping.take(limit(null));
  t.equal(lanes.list(stepping.rows, workspaceId).length, 1, "it holds a claim still");
  stepping.take(release("run_2"));
  t.same(lanes.list(stepping.rows, workspaceId), []);
});

t.test("a copy that comes back goes behind the others of its lane", async (t) => {
  const stepping = dispatcher();
  const copy = (runId: string, queuedAtMs: number) => run(runId, { lane: "replay:a", queuedAtMs });
  stepping.take(offer());
  for (const n of [1, 2, 3]) stepping.take(queue(copy(`run_${n}`, n)));
  stepping.take(queue(copy("run_1", 4)));
  const order = ["run_1", "run_2", "run_3"].map((runId) => placed(stepping.take(release(runId)))[0]);
  t.same(order, ["run_2 run.claim runner_1", "run_3 run.claim runner_1", "run_1 run.claim runner_1"]);
});

t.test("runs that were queued by a clock that was ahead are placed in the order in which they came", async (t) => {
  const stepping = dispatcher();
  const minute = 60_000;
  const start = stepping.now;
  const come = (runId: string, atMs: number, labels: readonly string[] = []): QueuedRun => {
    stepping.now = start + atMs;
    const queued = run(runId, { queuedAtMs: stepping.now, labels });
    stepping.take(queue(queued));
    return queued;
  };
  come("run_9", 0);
  come("run_8", 60 * minute);
  const left = come("run_7", 61 * minute);
  come("run_6", minute, ["gpu"]);
  const waiting = come("run_5", 2 * minute);
  come("run_4", -minute);
  const gone = come("run_3", 0, ["gpu"]);
  come("run_2", minute);
  const why = () => whyWaiting(stepping.rows, workspaceId, waiting);
  t.equal(why(), "No runner of pool main is connected.");
  for (const one of [left, gone]) stepping.take(unqueue(one));
  const order = placed(stepping.take(offer({ labels: ["gpu"] })));
  for (let n = 0; n < 5; n++) order.push(...placed(stepping.take(release(order.at(-1)?.split(" ")[0] ?? ""))));
  t.same(
    order,
    [9, 8, 6, 5, 4, 2].map((n) => `run_${n} run.claim runner_1`),
  );
  t.equal(why(), null);
  t.same(stepping.rows.range({ prefix: [workspaceId, "row", "queued-run"] }), [], "none is left behind");
});

t.test("thousands of runs that no runner fits do not slow down the others", async (t) => {
  const rows = countingRows(memoryRows());
  const stepping = dispatcher(null, rows);
  for (let n = 1; n <= 2_000; n++) stepping.take(queue(run(`run_${n}`, { labels: ["gpu"] })));
  stepping.take(offer());
  rows.reset();
  t.same(placed(stepping.take(queue(run("run_9999")))), ["run_9999 run.claim runner_1"]);
  t.ok(rows.read < 20, `${rows.read} rows were read`);
});
