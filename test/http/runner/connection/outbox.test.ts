import t from "tap";
import type { RunnerMessage } from "../../../../actors/runners/protocol.js";
import { OUTBOX_CAPACITY, OUTBOX_CHARACTERS, Outbox } from "../../../../http/runner/connection/outbox.js";

const started = { type: "run.started", runId: "a", fence: 1 } as const;
const step = (characters: number): RunnerMessage => ({
  type: "run.step",
  runId: "a",
  fence: 1,
  step: { index: 0, kind: "output", text: "x".repeat(characters), tool: null, spent: null },
});
const { signal } = new AbortController();

/** Whether a promise is already settled. */
function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
  ]);
}

t.test("makers wait from a thousand messages on, until one is acknowledged", async (t) => {
  const outbox = new Outbox();
  for (let count = 1; count < OUTBOX_CAPACITY; count += 1) t.equal(outbox.add(started), count);
  t.ok(await isSettled(outbox.waitForCapacity(signal)));
  outbox.add(started);
  const room = outbox.waitForCapacity(signal);
  t.notOk(await isSettled(room));
  outbox.acknowledged(1);
  t.ok(await isSettled(room));
  t.equal(outbox.entries[0]?.n, 2);
});

t.test("makers wait from sixteen million characters on, until they are acknowledged", async (t) => {
  const outbox = new Outbox();
  for (let count = 0; count < OUTBOX_CHARACTERS / 2 ** 20; count += 1) {
    t.ok(await isSettled(outbox.waitForCapacity(signal)));
    outbox.add(step(2 ** 20));
  }
  const room = outbox.waitForCapacity(signal);
  t.notOk(await isSettled(room));
  outbox.acknowledged(1);
  t.ok(await isSettled(room));
});

t.test("whoever is told to end waits no longer, and nobody waits for an outbox that is closed", async (t) => {
  const outbox = new Outbox();
  for (let count = 0; count < OUTBOX_CAPACITY; count += 1) outbox.add(started);
  const ending = new AbortController();
  const one = outbox.waitForCapacity(ending.signal);
  const other = outbox.waitForCapacity(signal);
  const settled = outbox.settled();
  ending.abort();
  t.ok(await isSettled(one));
  t.notOk(await isSettled(other));
  t.notOk(await isSettled(settled));
  outbox.close();
  t.ok(await isSettled(other));
  t.ok(await isSettled(settled));
});
