import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assign, setup } from "xstate";
import { address } from "../runtime/cells/address.js";
import { createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Answered, Delivered } from "../runtime/turns/turn.js";
import { openLmdbStore } from "../storage/lmdb-store.js";

type Counted = Delivered<Answered<number> & { readonly type: "add" | "pass" }>;

const ACTORS = 5_000;
const ASKS = 200_000;
const IN_FLIGHT = 256;
/** Number of actors that send messages to themselves. Below it, the number of messages that each actor sends. */
const RINGS = 64;
const PASSES = 2_000;

/** A small machine that handles many messages: two states, a counter, and one transition per message. */
const counter = setup({
  types: { context: {} as { readonly count: number }, events: {} as Counted },
  actions: {
    add: assign(({ context, event }) => {
      event.turn.reply(context.count);
      return { count: context.count + 1 };
    }),
    pass: assign(({ context, event }) => {
      if (context.count < PASSES) event.turn.send(event.turn.self, { type: "pass" });
      return { count: context.count + 1 };
    }),
  },
}).createMachine({
  id: "counter",
  initial: "even",
  context: { count: 0 },
  states: {
    even: { on: { add: { target: "odd", actions: "add" }, pass: { target: "odd", actions: "pass" } } },
    odd: { on: { add: { target: "even", actions: "add" }, pass: { target: "even", actions: "pass" } } },
  },
});

/**
 * Measures turns per second on LMDB. In one case, messages come from outside the runtime (asks). In the other case,
 * actors send messages to themselves.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  const runtime = await createRuntime({
    store,
    catalogue: {
      actors: [{ kind: "counter", machine: counter, version: 1 }],
      subscribers: [],
      gates: [],
      effects: [],
    },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: console,
  });
  try {
    await asks(runtime, ASKS / 4);
    console.table({
      [`asks, ${IN_FLIGHT} in flight`]: await measured(ASKS, () => asks(runtime, ASKS)),
      [`messages between actors, ${RINGS} at once`]: await measured(RINGS * PASSES, () => passes(runtime)),
    });
  } finally {
    await runtime.stop();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function asks(runtime: Runtime, count: number): Promise<void> {
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) {
      const id = `c${(begun++ * 7919) % ACTORS}`;
      await runtime.ask(address("ws_bench", "counter", id), { type: "add" });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

async function passes(runtime: Runtime): Promise<void> {
  const before = runtime.stats().turns;
  for (let ring = 0; ring < RINGS; ring++) {
    await runtime.ask(address("ws_bench", "counter", `ring${ring}`), { type: "pass" });
  }
  while (runtime.stats().turns - before < RINGS * PASSES) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns one table row: the number of turns, the rate per second, and the CPU time per turn. */
async function measured(turns: number, work: () => Promise<void>): Promise<Record<string, number>> {
  const cpu = process.cpuUsage();
  const begunMs = performance.now();
  await work();
  const seconds = (performance.now() - begunMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    turns,
    "turns a second": Math.round(turns / seconds),
    "microseconds of CPU a turn": Math.round((10 * (user + system)) / turns) / 10,
  };
}
