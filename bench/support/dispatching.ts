import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "xstate";
import { resourceAddresses, resources } from "../../actors/resources/resource.table.js";
import { dispatcherActor } from "../../actors/runners/dispatcher.machine.js";
import {
  type DispatcherMessage,
  dispatcherRef,
  type OfferRunner,
  type QueueRun,
} from "../../actors/runners/dispatcher.messages.js";
import type { RunnerRow } from "../../actors/runners/runner.js";
import { type QueuedRun, runners } from "../../actors/runners/runner.table.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { reference } from "../../runtime/cells/reference.js";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Delivered, Message } from "../../runtime/turns/turn.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Store } from "../../storage/store.js";

/** Id of the workspace that has the pool and the dispatcher. */
export const WORKSPACE = "ws_bench";
const POOL = "pool_main";
const IN_FLIGHT = 64;

/** An actor that accepts a claim, like a run, and does nothing else. */
const claimedRun: ActorType = {
  kind: "run",
  machine: setup({ types: { events: {} as Delivered<Message & { readonly type: "run.claim" }> } }).createMachine({
    id: "run",
    initial: "queued",
    states: { queued: { on: { "run.claim": "claimed" } }, claimed: { on: { "run.claim": "claimed" } } },
  }),
  version: 1,
};

/** An actor that only writes a runner's row, as the dispatcher does for an offer. */
const rowWriter: ActorType = {
  kind: "row-writer",
  machine: setup({
    types: { events: {} as Delivered<OfferRunner> },
    actions: {
      write: ({ event: { turn, runner } }) => runners.put(turn, turn.self.partition, runner.runnerId, runner),
    },
  }).createMachine({
    id: "row-writer",
    initial: "writing",
    states: { writing: { on: { "runner.offer": { actions: "write" } } } },
  }),
  version: 1,
};

const rowWriterRef = reference<OfferRunner, [workspaceId: string]>("row-writer", (workspaceId) => [workspaceId, "1"]);

/** Starts a runtime over an empty store, with the pool in it. */
export async function start(store: Store): Promise<Runtime> {
  const fields = { key: "main", kind: "pull", labels: ["linux"], concurrency: null, push: null };
  await store.commit([
    { op: "put", key: resourceAddresses.key(WORKSPACE, "runner-pool", "main"), value: POOL },
    {
      op: "put",
      key: resources.key(WORKSPACE, "runner-pool", POOL),
      value: {
        id: POOL,
        kind: "runner-pool",
        version: 1,
        workspaceId: WORKSPACE,
        teamId: null,
        address: "main",
        fields,
        hidden: {},
        added: {},
        createdAt: "",
        updatedAt: "",
      },
    },
  ]);
  return createRuntime({
    store,
    catalogue: { actors: [dispatcherActor, claimedRun, rowWriter], subscribers: [], gates: [], effects: [] },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: console,
  });
}

/** Sends messages to the dispatcher, several at once; resolves when all are durable. */
export async function sendToDispatcher(runtime: Runtime, messages: readonly DispatcherMessage[]): Promise<void> {
  await sendAll(messages, (message) => runtime.ask(dispatcherRef(WORKSPACE), message));
}

/** Writes the rows of offers through an actor that does nothing else, in another workspace. */
export async function write(runtime: Runtime, offers: readonly OfferRunner[]): Promise<void> {
  await sendAll(offers, (offer) => runtime.ask(rowWriterRef("ws_rows"), offer));
}

async function sendAll<Sent>(messages: readonly Sent[], send: (message: Sent) => Promise<unknown>): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let message = messages[next++]; message !== undefined; message = messages[next++]) await send(message);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
}

/** Returns the CPU time of `work` over all threads, in microseconds. */
export async function cpuMicros(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

export function queueRun(n: number, labels: readonly string[]): QueueRun {
  const run: QueuedRun = { runId: `run_${n}`, poolId: POOL, labels, harness: "command", queuedAtMs: n };
  return { type: "run.queue", run };
}

export function offerRunner(
  n: number,
  { slots, label }: { readonly slots: number; readonly label: string },
): OfferRunner {
  const runner: RunnerRow = {
    runnerId: `runner_${String(n).padStart(4, "0")}`,
    poolId: POOL,
    name: `runner ${n}`,
    slots,
    labels: ["here", label],
    harnesses: ["command"],
    features: [],
    connected: true,
    since: "",
  };
  return { type: "runner.offer", runner };
}

/** Runs `work` with a new store on disk, and removes the store afterwards. */
export async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    return await work(store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
