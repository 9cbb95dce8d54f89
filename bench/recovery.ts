import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assign, setup } from "xstate";
import { address } from "../runtime/cells/address.js";
import { type Clock, createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Delivered, Message } from "../runtime/turns/turn.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Store } from "../storage/store.js";
import { liveBytes } from "../test/support/live-heap.js";

const TIMERS = 100_000;
const IDLE_ACTORS = 1_000_000;
const IN_FLIGHT = 1_024;
const HOUR_MS = 3_600_000;
const MEGABYTE = 1_048_576;

const sleeper = setup({
  types: {
    context: {} as { readonly woken: number },
    events: {} as Delivered<Message & { readonly type: "sleep" | "woken" | "touch" }>,
  },
  actions: {
    sleep: ({ event }) => event.turn.wake("morning", event.turn.now + HOUR_MS),
    touch: assign({ woken: 0 }),
    count: assign({ woken: ({ context }) => context.woken + 1 }),
  },
}).createMachine({
  id: "sleeper",
  initial: "awake",
  context: { woken: 0 },
  states: {
    awake: { on: { sleep: { target: "asleep", actions: "sleep" }, touch: { actions: "touch" } } },
    asleep: { on: { woken: { target: "awake", actions: "count" } } },
  },
});

/** Measures the restart time with overdue wake-ups, and the memory of idle actors. */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    console.table({ ...(await recovery(store)), ...(await idleActors(store)) });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

/** Sets wake-ups and stops the runtime. Then measures a restart at a time when all wake-ups are due. */
async function recovery(store: Store): Promise<Record<string, Record<string, unknown>>> {
  const before = await start(store, 0);
  await askAll(before, TIMERS, "sleeper", "sleep");
  await before.stop();
  const begunMs = performance.now();
  const after = await start(store, 2 * HOUR_MS);
  await after.ask(address("ws_bench", "sleeper", "another"), { type: "touch" });
  const servingMs = performance.now() - begunMs;
  while (after.stats().turns < TIMERS + 1) await new Promise((resolve) => setImmediate(resolve));
  const deliveredMs = performance.now() - begunMs;
  const { timers } = after.stats();
  await after.stop();
  return {
    [`${TIMERS} wake-ups due: first answer`]: { value: Math.round(servingMs), unit: "ms" },
    [`${TIMERS} wake-ups due: all delivered`]: { value: Math.round(deliveredMs), unit: "ms" },
    "wake-ups left in memory": { value: timers, unit: "" },
  };
}

/** Sends a message to each of many actors, then measures their memory. */
async function idleActors(store: Store): Promise<Record<string, Record<string, unknown>>> {
  const runtime = await start(store, 0);
  await askAll(runtime, 1_000, "warm", "touch");
  const heldBefore = heapMegabytes();
  await askAll(runtime, IDLE_ACTORS, "idle", "touch");
  const heldAfter = heapMegabytes();
  const { cells } = runtime.stats();
  await runtime.stop();
  return {
    [`heap before ${IDLE_ACTORS} idle actors`]: { value: heldBefore, unit: "MB" },
    [`heap after ${IDLE_ACTORS} idle actors`]: { value: heldAfter, unit: "MB" },
    "actors in memory": { value: cells, unit: "" },
  };
}

async function askAll(runtime: Runtime, count: number, prefix: string, type: string): Promise<void> {
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) await runtime.ask(address("ws_bench", "sleeper", `${prefix}${begun++}`), { type });
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function start(store: Store, aheadMs: number): Promise<Runtime> {
  const clock = createSystemClock();
  const ahead: Clock = { now: () => clock.now() + aheadMs, at: (atMs, wake) => clock.at(atMs - aheadMs, wake) };
  return createRuntime({
    store,
    catalogue: { actors: [{ kind: "sleeper", machine: sleeper, version: 1 }], subscribers: [], gates: [], effects: [] },
    clock: ahead,
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: console,
  });
}

function heapMegabytes(): number {
  return Math.round(liveBytes() / MEGABYTE);
}
