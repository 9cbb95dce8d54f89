import t from "tap";
import { TimeLimits } from "../../../http/transport/time-limits.js";
import { settled } from "../../support/driven-scheduler.js";

function arrange() {
  const state = { nowMs: 0 };
  const wakes: { readonly atMs: number; readonly wake: () => void }[] = [];
  const limits = new TimeLimits({
    elapsedMs: () => state.nowMs,
    wakeAfter: (ms, wake) => void wakes.push({ atMs: state.nowMs + ms, wake }),
  });
  const unused: string[] = [];
  const within = (work: Promise<string>, mostMs: number) =>
    new Promise<string>((resolve, reject) => {
      const ends = { done: resolve, failed: reject, late: () => resolve("late") };
      limits.watch(work, mostMs, { ...ends, unused: (result) => void unused.push(result) });
    });
  /** Advances the clock to this time. The timers that are due fire in order. */
  const passTo = async (ms: number) => {
    for (;;) {
      const next = wakes.sort((left, right) => left.atMs - right.atMs)[0];
      if (next === undefined || next.atMs > ms) break;
      wakes.shift();
      state.nowMs = next.atMs;
      next.wake();
      await settled();
    }
    state.nowMs = ms;
  };
  return { within, passTo, unused, wakes };
}

t.test("what is in time settles as it does, and one timer is for all", async (t) => {
  const { within, wakes } = arrange();
  const results = Array.from({ length: 100 }, (_, n) => within(Promise.resolve(String(n)), 1_000));
  const failed = within(Promise.reject(new Error("canary")), 1_000);
  t.same(
    await Promise.all(results),
    Array.from({ length: 100 }, (_, n) => String(n)),
  );
  await t.rejects(failed, { message: "canary" });
  t.equal(wakes.length, 1);
});

t.test("each is late by its own limit, and what comes of it then is handed over or dropped", async (t) => {
  const { within, passTo, unused } = arrange();
  let answer: (result: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended: string[] = [];
  const watch = (name: string, work: Promise<string>) => void work.then((result) => ended.push(`${name} ${result}`));
  watch(
    "first",
    within(
      new Promise((resolve) => {
        answer = resolve;
      }),
      1_000,
    ),
  );
  await passTo(500);
  watch(
    "second",
    within(
      new Promise((_, reject) => {
        fail = reject;
      }),
      1_000,
    ),
  );
  watch("short", within(new Promise(() => undefined), 100));
  await passTo(599);
  t.same(ended, []);
  await passTo(600);
  t.same(ended, ["short late"]);
  await passTo(1_000);
  t.same(ended, ["short late", "first late"]);
  await passTo(1_500);
  t.same(ended, ["short late", "first late", "second late"]);
  answer("too late");
  fail(new Error("too late"));
  await settled();
  t.same([ended.length, unused], [3, ["too late"]]);
});

t.test("limits that begin out of order leave no more than one timer in use", async (t) => {
  const { within, passTo, wakes } = arrange();
  const begin = (mostMs: number) => void within(new Promise<string>(() => undefined), mostMs);
  for (let earlier = 0; earlier < 50; earlier += 1) begin(1_000 - earlier);
  begin(10_000);
  t.equal(wakes.length, 50);
  await passTo(1_000);
  t.equal(wakes.length, 1, "only one is set again");
});
