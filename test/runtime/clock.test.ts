import { mock } from "node:test";
import t from "tap";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";

t.test("the clock tells the time of day, and follows it back when that is put right", async (t) => {
  let wallMs = 1_000_000;
  const clock = createSystemClock({ wallMs: () => wallMs, elapsedMs: () => 0 });
  t.equal(clock.now(), 1_000_000);
  wallMs -= 4_999;
  t.equal(clock.now(), 1_000_000, "it stands still over a small correction");
  wallMs = 1_000_001;
  t.equal(clock.now(), 1_000_001);
  wallMs -= 5_000;
  t.equal(clock.now(), 995_001);
});

t.test(
  "an alarm rings after the time that was left when the clock goes back, and at its time when it goes ahead",
  async (t) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    t.teardown(() => mock.timers.reset());
    let [wallMs, elapsedMs] = [1_000_000, 0];
    const clock = createSystemClock({ wallMs: () => wallMs, elapsedMs: () => elapsedMs });
    const pass = (ms: number) => {
      wallMs += ms;
      elapsedMs += ms;
      mock.timers.tick(ms);
    };
    const rung: string[] = [];
    clock.at(wallMs + 90_000, () => rung.push("a"));
    wallMs -= 3_600_000;
    pass(60_000);
    t.same(rung, []);
    pass(30_000);
    t.same(rung, ["a"]);
    clock.at(wallMs + 3_600_000, () => rung.push("b"));
    wallMs += 3_600_000;
    pass(60_000);
    t.same(rung, ["a", "b"], "within a minute");
  },
);

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
