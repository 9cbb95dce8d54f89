import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "xstate";
import { resourceAddresses, resources } from "../actors/resources/resource.table.js";
import { dispatcherActor } from "../actors/runners/dispatcher.machine.js";
import {
  type DispatcherMessage,
  dispatcherRef,
  type OfferRunner,
  type QueueRun,
  type ReleaseClaim,
  type UnqueueRun,
} from "../actors/runners/dispatcher.messages.js";
import { claims, type QueuedRun, type RunnerRow } from "../actors/runners/runner.table.js";
import type { ActorType } from "../runtime/actor-type.js";
import { createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Delivered, Message } from "../runtime/turn.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Store } from "../storage/store.js";
import { percentile, printTable } from "./support/table.js";

const WORKSPACE = "ws_bench";
const POOL = "pool_main";
const FEW = 10;
const MANY = 1_000;
/** Runs that wait and no runner fits, and how many different needs they have. */
const WAITING = 1_000;
const NEEDS = 20;
/** Messages of a kind in one round. */
const MESSAGES = 2_000;
const ROUNDS = 5;
const IN_FLIGHT = 64;
/** Runs that are placed as fast as they come, on {@link MANY} runners of two places. */
const PLACED = 2_000;
const PLACED_ROUNDS = 3;

/** Which labels runners have beside `here`: the same for a tenth of them, or one of each runner's own. */
type Labelling = "shared" | "own";

/** Takes its claim, as a run does, and remembers its runner. */
const claimedRun: ActorType = {
  kind: "run",
  machine: setup({ types: { events: {} as Delivered<Message & { readonly type: "run.claim" }> } }).createMachine({
    id: "run",
    initial: "queued",
    states: { queued: { on: { "run.claim": "claimed" } }, claimed: { on: { "run.claim": "claimed" } } },
  }),
  version: 1,
};

/** A dispatcher with its runners, and the CPU it took, in microseconds a message, round by round. */
interface Scene {
  readonly runtime: Runtime;
  readonly runners: readonly RunnerRow[];
  readonly micros: Record<"run.queue" | "claim.release" | "runner.offer", number[]>;
  queued: number;
}

/** What a message costs the dispatcher while many runs wait that no runner fits, and what placing a run costs. */
export async function run(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const labelling of ["shared", "own"] as const) rows.push(...(await compare(labelling)));
  const placed = await inStore(placeAll);
  printTable({
    title: "Dispatcher",
    note:
      `Microseconds of CPU a message while ${WAITING} runs of ${NEEDS} different needs wait that no runner fits, at ` +
      `${FEW} and at ${MANY} runners: medians of ${ROUNDS} rounds of ${MESSAGES} messages in turns, commits included. ` +
      `Below them a run that is placed at once, ${PLACED} runs on ${MANY} runners of two places, from the first ` +
      `run.queue to the last durable claim: the median of ${PLACED_ROUNDS} rounds.`,
    columns: ["", `${FEW} runners`, `${MANY} runners`, "ratio"],
    rows: [...rows, ["a run placed", "", Math.round(placed), ""]],
  });
}

async function compare(labelling: Labelling): Promise<(string | number)[][]> {
  return inStore((few) =>
    inStore(async (many) => {
      const scenes = [await waitingScene(few, FEW, labelling), await waitingScene(many, MANY, labelling)];
      // By turns, so that what else the machine does falls on both. The first round only warms up.
      for (let round = 0; round <= ROUNDS; round++) for (const scene of scenes) await takeRound(scene, round > 0);
      for (const { runtime } of scenes) await runtime.stop();
      return (["run.queue", "claim.release", "runner.offer"] as const).map((type) => {
        const [atFew = 0, atMany = 0] = scenes.map(({ micros }) => percentile(micros[type], 0.5));
        const of = labelling === "own" ? ", each runner with a label of its own" : "";
        return [`${type}${of}`, Math.round(atFew), Math.round(atMany), (atMany / atFew).toFixed(2)];
      });
    }),
  );
}

async function waitingScene(store: Store, count: number, labelling: Labelling): Promise<Scene> {
  const runtime = await start(store);
  const waiting = Array.from({ length: WAITING }, (_, n) => queueRun(n, [`missing-${n % NEEDS}`]));
  await tell(runtime, waiting);
  const runners = Array.from({ length: count }, (_, n) =>
    runnerOf(n, { slots: 300, label: labelling === "own" ? `host-${n}` : `kind-${n % 10}` }),
  );
  await tell(
    runtime,
    runners.map((runner): OfferRunner => ({ type: "runner.offer", runner })),
  );
  return { runtime, runners, micros: { "run.queue": [], "claim.release": [], "runner.offer": [] }, queued: WAITING };
}

/** As many messages of each kind, with what they need made before and taken back afterwards. */
async function takeRound(scene: Scene, isKept: boolean): Promise<void> {
  const { runtime, runners, micros } = scene;
  const from = scene.queued;
  scene.queued += 2 * MESSAGES;
  const waiting = Array.from({ length: MESSAGES }, (_, n) => queueRun(from + n, [`missing-${n % NEEDS}`]));
  const placed = Array.from({ length: MESSAGES }, (_, n) => queueRun(from + MESSAGES + n, ["here"]));
  await tell(runtime, placed);
  const held = claims.list(runtime.reading, WORKSPACE);
  if (held.length !== MESSAGES) throw new Error(`${held.length} runs were placed`);
  const taken = {
    "run.queue": await cpuMicros(() => tell(runtime, waiting)),
    "claim.release": await cpuMicros(() =>
      tell(
        runtime,
        held.map(({ runnerId, runId }): ReleaseClaim => ({ type: "claim.release", runnerId, runId })),
      ),
    ),
    "runner.offer": await cpuMicros(() => tell(runtime, offers(runners))),
  };
  await tell(
    runtime,
    waiting.map(({ run }): UnqueueRun => ({ type: "run.unqueue", run })),
  );
  for (const type of ["run.queue", "claim.release", "runner.offer"] as const) {
    if (isKept) micros[type].push(taken[type] / MESSAGES);
  }
}

/** Each runner says anew what it offers: one place less, or one more. */
function offers(runners: readonly RunnerRow[]): OfferRunner[] {
  return Array.from({ length: MESSAGES }, (_, n) => {
    const runner = runners[n % runners.length];
    if (runner === undefined) throw new Error("there are no runners");
    return { type: "runner.offer", runner: { ...runner, slots: runner.slots - (Math.floor(n / runners.length) % 2) } };
  });
}

/** Microseconds of CPU a run. */
async function placeAll(store: Store): Promise<number> {
  const runtime = await start(store);
  const runners = Array.from({ length: MANY }, (_, n) => runnerOf(n, { slots: 2, label: `kind-${n % 10}` }));
  await tell(
    runtime,
    runners.map((runner): OfferRunner => ({ type: "runner.offer", runner })),
  );
  const micros: number[] = [];
  for (let round = 0; round < PLACED_ROUNDS; round++) {
    const queued = Array.from({ length: PLACED }, (_, n) => queueRun(round * PLACED + n, ["here"]));
    micros.push((await cpuMicros(() => tell(runtime, queued))) / PLACED);
    const held = claims.list(runtime.reading, WORKSPACE);
    if (held.length !== PLACED) throw new Error(`${held.length} runs were placed`);
    await tell(
      runtime,
      held.map(({ runnerId, runId }): ReleaseClaim => ({ type: "claim.release", runnerId, runId })),
    );
  }
  await runtime.stop();
  return percentile(micros, 0.5);
}

/** Sends messages to the dispatcher, so many at once, until what each did is durable. */
async function tell(runtime: Runtime, messages: readonly DispatcherMessage[]): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let message = messages[next++]; message !== undefined; message = messages[next++]) {
      await runtime.ask(dispatcherRef(WORKSPACE), message);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
}

async function cpuMicros(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function queueRun(n: number, labels: readonly string[]): QueueRun {
  const run: QueuedRun = { runId: `run_${n}`, poolId: POOL, labels, harness: "command", queuedAtMs: n };
  return { type: "run.queue", run };
}

function runnerOf(n: number, { slots, label }: { readonly slots: number; readonly label: string }): RunnerRow {
  return {
    ...{ runnerId: `runner_${String(n).padStart(4, "0")}`, poolId: POOL, name: `runner ${n}`, slots },
    ...{ labels: ["here", label], harnesses: ["command"], features: [], connected: true, since: "" },
  };
}

async function start(store: Store): Promise<Runtime> {
  const fields = { key: "main", kind: "pull", labels: ["linux"], concurrency: null, push: null };
  await store.commit([
    { op: "put", key: resourceAddresses.key(WORKSPACE, "runner-pool", "main"), value: POOL },
    {
      op: "put",
      key: resources.key(WORKSPACE, "runner-pool", POOL),
      value: {
        ...{ id: POOL, kind: "runner-pool", version: 1, workspaceId: WORKSPACE, teamId: null, address: "main" },
        ...{ fields, hidden: {}, added: {}, createdAt: "", updatedAt: "" },
      },
    },
  ]);
  return createRuntime({
    store,
    catalogue: { actors: [dispatcherActor, claimedRun], subscribers: [], gates: [], effects: [] },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: console,
  });
}

async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    return await work(store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
