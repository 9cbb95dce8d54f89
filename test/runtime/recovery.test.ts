import { randomBytes } from "node:crypto";
import t from "tap";
import { address } from "../../runtime/cells/address.js";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import { offlineSend } from "../../runtime/messages/offline-send.js";
import type { Runtime } from "../../runtime/runtime.js";
import { effectSpace, undeliveredSpace } from "../../storage/keys.js";
import { createMemoryStore } from "../../storage/memory-store.js";
import type { Key, Range, Reading, Store } from "../../storage/store.js";
import { plainEffect } from "../support/plain-effect.js";
import { probe } from "../support/probe.js";
import { until } from "../support/until.js";

const worker = probe("worker", {
  begin: (_context, _message, turn) => turn.start({ name: "work", id: "w1", input: null }),
  // An actor that keeps sending this message to itself. With one turn per batch, each commit then has one undelivered
  // message.
  loop: (_context, _message, turn) => turn.send(turn.self, { type: "loop" }),
  touch: (_context, _message, turn) => turn.reply(true),
});

/**
 * Starts a process on the store. Records the owner's partition and the `mayHaveBegun` of each effect that begins, and
 * counts the searches of partitions.
 */
async function start(store: Store) {
  const began: string[] = [];
  const told: boolean[] = [];
  const work = plainEffect("work", 10, (_input, { owner, signal, mayHaveBegun }) => {
    began.push(owner.partition);
    told.push(mayHaveBegun);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  let searched = 0;
  const count = ({ prefix = [] }: { readonly prefix?: Key }): void => {
    if (prefix[1] === effectSpace || prefix[1] === undeliveredSpace) searched += 1;
  };
  const reading: Reading = {
    get: (key) => store.reading.get(key),
    range: (range: Range) => {
      count(range);
      return store.reading.range(range);
    },
  };
  const counted: Store = {
    reading,
    view: () => store.view(),
    commit: (changes) => store.commit(changes),
    backup: (folder) => store.backup(folder),
    close: () => store.close(),
  };
  const runtime = await createRuntime({
    store: counted,
    catalogue: { actors: [worker], subscribers: [], gates: [], effects: [work] },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: { warn: () => undefined, error: () => undefined },
    limits: { turnsPerBatch: 1 },
  });
  return { runtime, began, told, searched: () => searched };
}

const ask = (runtime: Runtime, partition: string, type: string) =>
  runtime.ask(address(partition, "worker", "1"), { type });

/**
 * Creates a store with many partitions, as a stopped process leaves it. One partition has a pending effect, and another
 * partition has an undelivered message.
 */
async function left(partitions: number): Promise<Store> {
  const store = createMemoryStore();
  const { runtime, began } = await start(store);
  for (let n = 0; n < partitions; n++) await ask(runtime, `ws_${n}`, "touch");
  await ask(runtime, "ws_0", "begin");
  await ask(runtime, "ws_1", "loop");
  await until("effects begin", () => began.length > 0);
  await runtime.stop();
  return store;
}

t.test("what a stopped process left is found, by a search that is as long among few partitions as many", async (t) => {
  const searches: number[] = [];
  for (const partitions of [3, 60]) {
    const store = await left(partitions);
    const { runtime, began, searched } = await start(store);
    await until("effects begin", () => began.length > 0);
    t.same(began, ["ws_0"]);
    await until("turns are taken", () => runtime.stats().turns > 1);
    searches.push(searched());
    await runtime.stop();
  }
  t.ok(Number(searches[1]) < 20, `${searches}`);
});

t.test("what a killed process left is found in any partition", async (t) => {
  const store = await left(20);
  const killed = await start(store);
  await ask(killed.runtime, "ws_19", "begin");
  const entries = store.reading.range({ prefix: [] });
  const asKilled = createMemoryStore();
  await asKilled.commit(entries.map(({ key, value }) => ({ op: "put", key, value })));
  await killed.runtime.stop();
  const { runtime, began, told, searched } = await start(asKilled);
  await until("effects begin", () => began.length > 1);
  t.same(began.sort(), ["ws_0", "ws_19"]);
  t.same(told, [true, true]);
  t.ok(searched() >= 20, String(searched()));
  await runtime.stop();
});

t.test("a message that a tool sends while no process runs is delivered", async (t) => {
  const store = await left(5);
  await store.commit(offlineSend(store.reading, address("ws_4", "worker", "1"), { type: "begin" }));
  const { runtime, began } = await start(store);
  await until("effects begin", () => began.length > 1);
  t.same(began.sort(), ["ws_0", "ws_4"]);
  await runtime.stop();
});

t.test("an effect is told that it may have begun when it was under way at the stop, or at a kill", async (t) => {
  const store = createMemoryStore();
  const first = await start(store);
  const [asked, stopped] = [ask(first.runtime, "ws_0", "begin"), first.runtime.stop()];
  await asked;
  await stopped;
  t.same(first.began, [], "the effect was left before it was begun");
  const told: boolean[] = [];
  for (let process = 0; process < 2; process++) {
    const next = await start(store);
    await until("an effect begins", () => next.began.length > 0);
    told.push(...next.told);
    await next.runtime.stop();
  }
  t.same(told, [false, true]);
});

t.test("a start that is killed before it wrote anything has begun nothing that the next begins as new", async (t) => {
  const store = createMemoryStore();
  const first = await start(store);
  await Promise.all([ask(first.runtime, "ws_0", "begin"), first.runtime.stop()]);
  let commits = 0;
  const hanging: Store = {
    reading: store.reading,
    view: () => store.view(),
    backup: (folder) => store.backup(folder),
    commit: () => new Promise<void>(() => (commits += 1)),
    close: () => store.close(),
  };
  const killed = await start(hanging);
  await until("it writes", () => commits > 0);
  for (let rounds = 0; rounds < 50; rounds++) await new Promise((resolve) => setImmediate(resolve));
  t.same(killed.began, []);
  const next = await start(store);
  await until("an effect begins", () => next.began.length > 0);
  t.same(next.told, [false]);
  await next.runtime.stop();
});

t.test("what stops before it has searched everything leaves that to the next", async (t) => {
  const store = await left(5);
  const { runtime } = await start(store);
  await runtime.stop();
  const { runtime: next, began } = await start(store);
  await until("effects begin", () => began.length > 0);
  t.same(began, ["ws_0"]);
  await next.stop();
});
