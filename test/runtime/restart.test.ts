import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { Effect } from "../../runtime/cells/actor-type.js";
import { address } from "../../runtime/cells/address.js";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";
import { topic } from "../../runtime/feeds/topic.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime } from "../../runtime/runtime.js";
import { undeliveredSpace } from "../../storage/keys.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Store } from "../../storage/store.js";
import { type PlainRun, plainEffect } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

const partition = "ws_1";
const worker = probe("worker", {
  begin: (_context, _message, turn) => {
    turn.start({ name: "work", id: "w1", input: { n: 1 } });
    turn.wake("later", turn.now + 3_600_000);
    turn.publishChange(topic<unknown>("worker")("1"), "begun");
    for (let n = 0; n < 3; n++) turn.send(address("ws_0", "worker", "waits"), { type: "hear", n } as Note);
    turn.send(turn.self, { type: "loop" });
  },
  loop: (_context, _message, turn) => turn.send(turn.self, { type: "loop" }),
  end: (_context, _message, turn) => turn.stop(),
  hear: ({ heard }, { n }) => ({ heard: [...((heard ?? []) as unknown[]), n] }),
  heard: ({ heard }, _message, turn) => turn.reply(heard),
});

function start(store: Store, effect: Effect): Promise<Runtime> {
  return createRuntime({
    store,
    catalogue: { actors: [worker], subscribers: [], gates: [], effects: [effect] },
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes,
    log: { warn: () => undefined, error: () => undefined },
    limits: { turnsPerBatch: 1 },
  });
}

/** Creates an effect that ends only when it is aborted, and a promise that resolves at the effect's next run. */
function neverEnding(): { effect: Effect; began: Promise<{ readonly id: string; readonly input: unknown }> } {
  let tell: (run: { readonly id: string; readonly input: unknown }) => void = () => undefined;
  const began = new Promise<{ readonly id: string; readonly input: unknown }>((resolve) => {
    tell = resolve;
  });
  const run: PlainRun = (input, { id, signal }) =>
    new Promise((_resolve, reject) => {
      tell({ id, input });
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  return { effect: plainEffect("work", 1, run), began };
}

t.test("on LMDB, what a process leaves undone is taken up by the next one", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-restart-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const store = await openLmdbStore({ folder });
  const first = neverEnding();
  const before = await start(store, first.effect);
  await before.ask(address(partition, "worker", "1"), { type: "begin" });
  await first.began;
  await before.stop();
  t.ok(store.reading.range({ prefix: [partition, undeliveredSpace] }).length > 0, "the endless exchange is on disk");
  await store.close();

  const reopened = await openLmdbStore({ folder });
  const second = neverEnding();
  const after = await start(reopened, second.effect);
  t.same(await second.began, { id: "w1", input: { n: 1 } }, "the effect runs again under its id");
  t.same(await after.ask(address("ws_0", "worker", "waits"), { type: "heard" }), [0, 1, 2]);
  t.equal(after.feed.lastSeq(partition), 1);
  t.match(after.stats(), { timers: 1, pendingEffects: 1 });
  t.ok(after.stats().turns > 1, "and the exchange goes on");
  await after.ask(address(partition, "worker", "1"), { type: "end" });
  await after.stop();
  await reopened.close();
});
