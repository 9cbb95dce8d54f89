import t from "tap";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";

t.test("the clock tells the time of day and never goes back", async (t) => {
  const clock = createSystemClock();
  const before = Date.now();
  const now = clock.now();
  t.ok(now >= before && now <= Date.now());
  const { now: wallClock } = Date;
  t.teardown(() => {
    Date.now = wallClock;
  });
  Date.now = () => now - 60_000;
  t.equal(clock.now(), now, "while the wall clock is set back it stands still");
});

t.test("an alarm rings once at its time or soon after, and one in the past at once", async (t) => {
  const clock = createSystemClock();
  const dueMs = clock.now() + 20;
  const rungMs = await new Promise<number>((resolve) => clock.at(dueMs, () => resolve(clock.now())));
  t.ok(rungMs >= dueMs);
  await new Promise<void>((resolve) => clock.at(0, resolve));
});

t.test("an alarm years ahead neither rings early nor overflows, and can be taken back", async (t) => {
  const waits: number[] = [];
  const { setTimeout: realSetTimeout } = globalThis;
  t.teardown(() => {
    globalThis.setTimeout = realSetTimeout;
  });
  let hop: () => void = () => undefined;
  globalThis.setTimeout = ((next: () => void, ms: number) => {
    waits.push(ms);
    hop = next;
    return realSetTimeout(() => undefined, 0);
  }) as typeof setTimeout;
  let rung = false;
  const cancel = createSystemClock().at(Date.now() + 50 * 365 * 86_400_000, () => {
    rung = true;
  });
  hop();
  hop();
  t.notOk(rung);
  t.ok(waits.length === 3 && waits.every((ms) => ms <= 60_000), "it goes there in hops");
  cancel();
});

t.test("work that is scheduled runs soon, never inside the call", async (t) => {
  let ran = false;
  const done = new Promise<void>((resolve) => {
    createEventLoopScheduler().defer(() => {
      ran = true;
      resolve();
    });
  });
  t.notOk(ran);
  await done;
  t.ok(ran);
});
