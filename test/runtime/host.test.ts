import { randomBytes } from "node:crypto";
import t from "tap";
import { address } from "../../runtime/cells/address.js";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import { Stopping, TurnFailed } from "../../runtime/runtime.js";
import { actorSpace, deadLetterSpace, rowSpace, undeliveredSpace } from "../../storage/keys.js";
import { createMemoryStore } from "../../storage/memory-store.js";
import type { Key } from "../../storage/store.js";
import { DrivenScheduler } from "../support/driven-scheduler.js";
import { Harness, partition, settled } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainEffect } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

const counter = probe("counter", {
  add: ({ n }, _message, turn) => {
    const sum = Number(n ?? 0) + 1;
    turn.reply(sum);
    return { n: sum };
  },
  loop: (_context, _message, turn) => turn.send(turn.self, { type: "loop" }),
  start: (_context, _message, turn) => turn.start({ name: "wait", id: "w", input: null }),
  end: (_context, _message, turn) => turn.stop(),
  write: (_context, { count }, turn) => {
    for (let n = 0; n < Number(count); n++) turn.put([turn.self.partition, rowSpace, "probe", turn.self.id, n], n);
  },
});
/** An actor that sends two messages `add` to the actor in `id`: the first with `sendFirst`, the second with `send`. */
const opener = probe("opener", {
  open: (_context, { id }, turn) => {
    const to = address(partition, "counter", String(id));
    turn.sendFirst(to, { type: "add" });
    turn.send(to, { type: "add" });
  },
});
const catalogue = { actors: [counter, opener] };

t.test("idle actors beyond the limit leave memory and come back as they were", async (t) => {
  const harness = new Harness({ catalogue, limits: { idleCells: 10 } });
  await harness.start();
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 100; n++) void harness.runtime.ask(harness.to("counter", `${n}`), { type: "add" });
    await harness.advance();
  }
  for (let n = 0; n < 30; n++) await harness.ask(harness.to("counter", "kept"), { type: "add" });
  t.ok(harness.runtime.stats().cells <= 11, `${harness.runtime.stats().cells} in memory`);
  t.equal(harness.durable.range({ prefix: [partition, actorSpace, "counter"] }).length, 101);
  t.equal(await harness.ask(harness.to("counter", "42"), { type: "add" }), 4);
});

t.test("an actor that has ended leaves memory with its flush, and not while anything waits for it", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const ask = (type: string) => harness.runtime.ask(harness.to("counter"), { type });
  void ask("add");
  const ended = ask("end");
  t.equal(harness.runtime.stats().cells, 1);
  await harness.advance();
  await ended;
  t.equal(harness.runtime.stats().cells, 0);
  t.same(harness.durable.range({ prefix: [partition, actorSpace, "counter"] }), []);
  const answers = [ask("add"), ask("end"), ask("add")];
  await harness.advance();
  t.same(await Promise.all(answers), [1, undefined, 1], "later messages meet a new actor");
  t.equal(harness.runtime.stats().cells, 1);
});

t.test("a hot actor is written once in a batch, whatever it took", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const asks = Array.from({ length: 50 }, () => harness.runtime.ask(harness.to("counter"), { type: "add" }));
  await harness.advance();
  t.equal((await Promise.all(asks)).at(-1), 50);
  t.equal(harness.batches.length, 1);
  t.equal(harness.batches[0]?.length, 1);
});

t.test(
  "after a while of turns the event loop goes on, and the batch waits for what is ready, up to a number",
  async (t) => {
    let looks = 0;
    const harness = new Harness({ catalogue, elapsedMs: () => 0.2 * looks++ });
    await harness.start();
    await harness.advance();
    const asks = Array.from({ length: 300 }, (_, n) =>
      harness.runtime.ask(harness.to("counter", String(n % 3)), { type: "add" }),
    );
    while (harness.runtime.stats().turns === 0) await harness.world.step();
    t.equal(harness.runtime.stats().turns, 3, "the third look was too late");
    t.equal(harness.batches.length, 0);
    await harness.advance();
    t.equal((await Promise.all(asks)).at(-1), 100);
    t.equal(harness.batches.length, 2, "256 turns, and the rest");
  },
);

t.test("an actor with many messages leaves each other one its turn in between", async (t) => {
  const order: string[] = [];
  const busy = probe("busy", { work: (_context, _message, turn) => void order.push(turn.self.partition) });
  const harness = new Harness({ catalogue: { actors: [busy] } });
  await harness.start();
  const ask = (workspace: string) => harness.runtime.ask(address(workspace, "busy", "1"), { type: "work" });
  const asks = [...Array.from({ length: 900 }, () => ask("ws_flood")), ask("ws_quiet"), ask("ws_quiet")];
  await harness.advance();
  await Promise.all(asks);
  t.same(order.slice(0, 5), ["ws_flood", "ws_quiet", "ws_flood", "ws_quiet", "ws_flood"]);
});

t.test("a workspace with many actors leaves each other one its turn in between", async (t) => {
  const order: string[] = [];
  const busy = probe("busy", { work: (_context, _message, turn) => void order.push(turn.self.partition) });
  const harness = new Harness({ catalogue: { actors: [busy] } });
  await harness.start();
  const ask = (workspace: string, id: number) =>
    harness.runtime.ask(address(workspace, "busy", String(id)), { type: "work" });
  const asks = [...Array.from({ length: 900 }, (_, id) => ask("ws_flood", id)), ask("ws_quiet", 1), ask("ws_quiet", 2)];
  await harness.advance();
  await Promise.all(asks);
  t.same(order.slice(0, 5), ["ws_flood", "ws_quiet", "ws_flood", "ws_quiet", "ws_flood"]);
});

t.test("turns go on during a flush, bounded, and form the next batch", async (t) => {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 10 } });
  await harness.start();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  const asks = Array.from({ length: 35 }, () => harness.runtime.ask(harness.to("counter"), { type: "add" }));
  await harness.advance();
  t.equal(harness.batches.length, 1, "one flush at a time");
  t.equal(harness.runtime.stats().turns, 20, "one batch under way, one full");
  release();
  harness.held = null;
  await harness.advance();
  t.same(
    await Promise.all(asks),
    Array.from({ length: 35 }, (_, index) => index + 1),
  );
  t.equal(harness.batches.length, 4);
});

t.test("a turn joins no batch that changes a thousand rows already", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const write = { type: "write", count: 400 } as Note;
  const asks = Array.from({ length: 7 }, (_, n) => harness.runtime.ask(harness.to("counter", `${n}`), write));
  await harness.advance();
  await Promise.all(asks);
  const written = harness.batches.map((changes) => changes.filter(({ key }) => key[1] === rowSpace).length);
  t.same(written, [1_200, 1_200, 400]);
});

t.test("batches are smaller while several clients are about, and nothing is answered before its flush", async (t) => {
  let isShared = true;
  const harness = new Harness({ catalogue, isShared: () => isShared });
  await harness.start();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  let answered = 0;
  const ask = async (): Promise<void> => {
    await harness.runtime.ask(harness.to("counter"), { type: "add" });
    answered += 1;
  };
  const asks = Array.from({ length: 100 }, ask);
  await harness.advance();
  t.equal(harness.batches.length, 1, "one flush at a time");
  t.equal(harness.runtime.stats().turns, 32, "one batch of 16 under way, one full");
  t.equal(answered, 0);
  isShared = false;
  release();
  harness.held = null;
  await harness.advance();
  await Promise.all(asks);
  t.equal(harness.batches.length, 2, "of a client alone all that is left goes together");
});

t.test("the longer flushes take, the more turns share one while several clients are about", async (t) => {
  let nowMs = 0;
  const harness = new Harness({ catalogue, isShared: () => true, elapsedMs: () => nowMs });
  await harness.start();
  const asks = Array.from({ length: 600 }, () => harness.runtime.ask(harness.to("counter"), { type: "add" }));
  const turns: number[] = [];
  for (const tookMs of [0.5, 10, 10, 0.5, 0.5]) {
    let release = () => {};
    harness.held = new Promise((resolve) => {
      release = resolve;
    });
    await harness.advance();
    turns.push(harness.runtime.stats().turns);
    nowMs += tookMs;
    release();
  }
  t.same(turns, [32, 48, 192, 272, 288], "batches of 16, 16, 80, 80, 80 and 16");
  harness.held = null;
  await harness.advance();
  t.equal((await Promise.all(asks)).length, 600);
});

t.test("stop finishes what was asked, refuses what comes, and leaves the rest for the next process", async (t) => {
  let aborted = false;
  const wait = plainEffect(
    "wait",
    1,
    (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(new Error("aborted"));
        });
      }),
  );
  const harness = new Harness({ catalogue: { ...catalogue, effects: [wait] } });
  await leaveDeadLetter(harness);
  const runtime = await harness.start();
  await harness.ask(harness.to("counter", "b"), { type: "start" });
  const asked = runtime.ask(harness.to("counter"), { type: "add" });
  const looping = runtime.ask(harness.to("counter", "loop"), { type: "loop" });
  const stopped = runtime.stop();
  await t.rejects(runtime.ask(harness.to("counter"), { type: "add" }), Stopping);
  await t.rejects(runtime.deadLetters.retry(partition, "dead_1"), Stopping);
  await harness.advance();
  t.equal(await asked, 1);
  await looping;
  await stopped;
  await runtime.stop();
  t.ok(aborted);
  t.equal(
    harness.durable.range({ prefix: [partition, undeliveredSpace] }).length,
    1,
    "an endless exchange is put to disk",
  );
  await t.rejects(runtime.ask(harness.to("counter"), { type: "add" }), Stopping);
  await harness.start();
  void settled(harness.runtime.stop());
  await harness.advance();
});

t.test("a runtime has stopped only when everyone who was to be answered is", async (t) => {
  const scheduler = new DrivenScheduler();
  const runtime = await createRuntime({
    store: createMemoryStore(),
    catalogue: { actors: [counter], subscribers: [], gates: [], effects: [] },
    clock: new ManualClock(),
    scheduler,
    randomBytes: (count) => new Uint8Array(count),
    log: { warn: () => undefined, error: () => undefined },
  });
  let answered = 0;
  const asks = Array.from({ length: 100 }, (_, n) =>
    runtime.ask(address(partition, "counter", `${n}`), { type: "add" }).then(() => {
      answered += 1;
    }),
  );
  const answeredAtStop = runtime.stop().then(() => answered);
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal(await answeredAtStop, 100);
  await Promise.all(asks);
});

/** Writes a dead letter to disk, as if an earlier process had left it. */
async function leaveDeadLetter(harness: Harness): Promise<void> {
  const value = { kind: "counter", actor: "1", message: { type: "add" }, error: "", atMs: 0 };
  const written = harness.disk.open().commit([{ op: "put", key: [partition, deadLetterSpace, "dead_1"], value }]);
  await harness.advance();
  await written;
}

t.test("when the store fails, whoever waits is told, nothing more is taken, and the owner hears it once", async (t) => {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 2 } });
  const runtime = await harness.start();
  harness.disk.fail();
  const asks = Array.from({ length: 6 }, () => settled(runtime.ask(harness.to("counter"), { type: "add" })));
  await harness.advance();
  for (const outcome of await Promise.all(asks)) t.match(outcome, { error: Stopping });
  t.match(harness.fatal, [{ name: "StoreError", code: "failed" }]);
  await t.rejects(runtime.ask(harness.to("counter"), { type: "add" }), Stopping);
  await runtime.stop();
  harness.crash();
  await harness.start();
  t.type(await harness.ask(harness.to("counter"), { type: "add" }), "number");
});

t.test("a store that throws while it is read stops the runtime too", async (t) => {
  const harness = new Harness({ catalogue });
  harness.readsFail = false;
  await harness.start();
  await harness.advance();
  const asked = settled(harness.runtime.ask(harness.to("counter"), { type: "loop" }));
  harness.readsFail = true;
  void settled(harness.runtime.ask(harness.to("counter"), { type: "add" }, { messageId: "m" }));
  await harness.advance();
  t.match(await asked, { error: Stopping });
  t.equal(harness.fatal.length, 1);
});

t.test("the owner need not listen for the failure", async (t) => {
  const harness = new Harness({ catalogue, listens: false });
  await harness.start();
  harness.disk.fail();
  await t.rejects(harness.ask(harness.to("counter"), { type: "add" }), Stopping);
  t.same(harness.fatal, []);
});

t.test("an actor's first message is taken without a look for the actor, and kept like the others", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const open = (id: string) => settled(harness.ask(harness.to("opener"), { type: "open", id } as Note));
  await open("new");
  t.equal(await harness.ask(harness.to("counter", "new"), { type: "add" }), 3);
  await harness.advance();
  harness.crash();
  await harness.start();
  t.match(await open("new"), { error: TurnFailed }, "tests and simulation look, and say that it is not new");
  t.equal(await harness.ask(harness.to("counter", "new"), { type: "add" }), 4);

  const asked: Key[] = [];
  const store = createMemoryStore();
  const get = <Value>(key: Key): Value | undefined => {
    asked.push(key);
    return store.reading.get<Value>(key);
  };
  const runtime = await createRuntime({
    store: { ...store, reading: { get, range: (range) => store.reading.range(range) } },
    randomBytes,
    catalogue: { actors: [counter, opener], subscribers: [], gates: [], effects: [] },
    log: console,
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
  });
  await runtime.ask(address(partition, "opener", "1"), { type: "open", id: "new" } as Note);
  t.equal(await runtime.ask(address(partition, "counter", "new"), { type: "add" }), 3);
  t.notOk(asked.some(([, space, kind]) => space === actorSpace && kind === "counter"));
  await runtime.stop();
});
