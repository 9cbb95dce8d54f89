import t from "tap";
import { effect } from "../../runtime/effects/effect-type.js";
import { Effects } from "../../runtime/effects/effects.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";
import { createPendingEffect } from "../../runtime/effects/pending-effect.js";
import { DrivenScheduler } from "../support/driven-scheduler.js";
import { Harness } from "../support/harness.js";
import { pending, startedWith, worker } from "./effect-scene.js";

/** Creates an effect whose input is its target. Records preparations and runs. */
function placed(lane: LaneLimits, more: { readonly bytes?: number; readonly untilMs?: number } = {}) {
  const prepared: unknown[] = [];
  const runs: { readonly input: unknown; end(): void }[] = [];
  let target = (input: unknown) => String(input);
  const made = effect<unknown, unknown>("work").implementPrepared((input) => {
    prepared.push(input);
    const place = { lane, target: target(input), bytes: more.bytes ?? 0 };
    const patience = { untilMs: more.untilMs ?? 0, output: "no place" };
    return {
      place: more.untilMs === undefined ? place : { ...place, patience },
      begin: () => new Promise((resolve) => runs.push({ input, end: () => resolve("done") })),
    };
  });
  const retarget = (to: typeof target) => {
    target = to;
  };
  return { effect: made, prepared, runs, retarget };
}

const one: LaneLimits = { name: "one", places: 8, kept: 2, perClient: 4, perTarget: 1 };

t.test("what hangs at one target holds up none of the same actor's other targets, and is said to wait", async (t) => {
  const { effect: work, runs } = placed(one);
  const { harness, tell } = await startedWith(work);
  for (const [id, input] of Object.entries({ e1: "x", e2: "x", e3: "y" })) await tell({ type: "start", id, input });
  t.same(
    runs.map(({ input }) => input),
    ["x", "y"],
  );
  const owner = harness.to("worker");
  t.match(harness.runtime.lookUpWait(owner, "e2"), { bound: "target", target: "x" });
  t.equal(harness.runtime.lookUpWait(owner, "e1"), null, "it is under way");
  t.equal(harness.runtime.lookUpWait(owner, "e9"), null, "it is none");
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 2, waiting: 1 }]);
  runs[0]?.end();
  await harness.advance();
  t.equal(runs.length, 3);
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 2, waiting: 0 }]);
});

t.test("a wait is as long as it was before a crash", async (t) => {
  const { effect: work } = placed(one);
  const { harness, tell } = await startedWith(work);
  await tell({ type: "start", id: "e1", input: "x" });
  await tell({ type: "start", id: "e2", input: "x" });
  const lookUpWait = (id: string) => harness.runtime.lookUpWait(harness.to("worker"), id);
  const before = lookUpWait("e2");
  await harness.advance(5_000);
  harness.crash();
  await harness.start({ effects: [placed(one).effect], actors: [worker] });
  await harness.advance();
  // Now one of the two effects can start, and the other effect waits. The order is not defined.
  const [after] = [lookUpWait("e1"), lookUpWait("e2")].filter((wait) => wait !== null);
  t.match(after, { bound: "target", target: "x" });
  t.ok((after?.sinceMs ?? Number.POSITIVE_INFINITY) <= (before?.sinceMs ?? 0));
});

t.test("what has waited long is prepared again, and so is what would take too much memory", async (t) => {
  for (const [bytes, waitMs, times] of [
    [1_000, 29_000, 1],
    [1_000, 31_000, 2],
    [40 * 1024 * 1024, 0, 2],
  ] as const) {
    const { effect: work, prepared, runs } = placed(one, { bytes });
    const { harness, tell } = await startedWith(work);
    await tell({ type: "start", id: "e1", input: "x" });
    await tell({ type: "start", id: "e2", input: "x" });
    await harness.advance(waitMs);
    runs[0]?.end();
    await harness.advance();
    t.equal(runs.length, 2);
    t.equal(prepared.length, 1 + times, `${bytes} bytes, ${waitMs} ms`);
  }
});

t.test("what goes somewhere else by the time it has its place gives the place back, and waits there", async (t) => {
  const { effect: work, runs, retarget } = placed(one);
  const { harness, tell } = await startedWith(work);
  for (const [id, input] of Object.entries({ e1: "x", e2: "x", e3: "y", e4: "x" })) {
    await tell({ type: "start", id, input });
  }
  await harness.advance(31_000);
  retarget(() => "y");
  runs[0]?.end();
  await harness.advance();
  t.equal(runs.length, 2, "both wait for y now");
  t.match(harness.runtime.lookUpWait(harness.to("worker"), "e2"), { bound: "target", target: "y" });
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 1, waiting: 2 }]);
  for (let n = 1; n < 4; n++) {
    runs[n]?.end();
    await harness.advance();
  }
  t.equal(runs.length, 4);
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 0, waiting: 0 }]);
});

t.test("what waits no longer than until a time ends then as it said, and takes no place", async (t) => {
  const untilMs = new Harness({ catalogue: {} }).world.clock.now() + 10_000;
  const { effect: work, runs } = placed(one, { untilMs });
  const { harness, tell, ended } = await startedWith(work);
  await tell({ type: "start", id: "e1", input: "x" });
  await tell({ type: "start", id: "e2", input: "x" });
  await harness.advance(untilMs - harness.world.clock.now() - 1_000);
  t.same(await ended(), []);
  await harness.advance(1_000);
  t.match(await ended(), [{ id: "e2", result: { ok: true, output: "no place" } }]);
  runs[0]?.end();
  await harness.advance();
  t.equal(runs.length, 1);
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 0, waiting: 0 }]);
});

t.test("what is cancelled while it waits takes no place", async (t) => {
  const { effect: work, runs } = placed(one);
  const { harness, tell } = await startedWith(work);
  await tell({ type: "start", id: "e1", input: "x" });
  await tell({ type: "start", id: "e2", input: "x" });
  await tell({ type: "cancel", id: "e2" });
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 1, waiting: 0 }]);
  runs[0]?.end();
  await harness.advance();
  t.equal(runs.length, 1);
  t.equal(pending(harness), 0);
});

t.test("what cannot be prepared ends with why, now or when its place comes", async (t) => {
  let fails = false;
  const runs: (() => void)[] = [];
  const work = effect<unknown, unknown>("work").implementPrepared(() => {
    if (fails) throw new Error("not readable");
    const place = { lane: one, target: "x", bytes: 0 };
    return { place, begin: () => new Promise((resolve) => runs.push(() => resolve("done"))) };
  });
  const { harness, tell, ended } = await startedWith(work);
  await tell({ type: "start", id: "e1" });
  await tell({ type: "start", id: "e2" });
  fails = true;
  await tell({ type: "start", id: "e3" });
  await harness.advance(31_000);
  t.match(await ended(), [{ id: "e3", result: { ok: false, error: "not readable" } }]);
  runs[0]?.();
  await harness.advance();
  t.match((await ended()) as unknown[], [{}, { id: "e1" }, { id: "e2", result: { ok: false, error: "not readable" } }]);
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 0, waiting: 0 }]);
});

t.test("thousands that need no place any more, once one comes free, all end", async (t) => {
  let isNeeded = true;
  let ran = 0;
  const runs: (() => void)[] = [];
  const work = effect<unknown, unknown>("work").implementPrepared(() =>
    isNeeded
      ? {
          place: { lane: one, target: "x", bytes: 0 },
          begin: () => new Promise((resolve) => runs.push(() => resolve("done"))),
        }
      : {
          place: null,
          begin: async () => {
            ran += 1;
          },
        },
  );
  const { harness, tell } = await startedWith(work);
  await tell({ type: "start", id: "e1" });
  await tell({ type: "startMany", count: 5_000 });
  await harness.advance(31_000);
  isNeeded = false;
  runs[0]?.();
  await harness.advance(1_000);
  t.equal(ran, 5_000);
  t.equal(pending(harness), 0);
  t.same(harness.runtime.stats().lanes, [{ name: "one", taken: 0, waiting: 0 }]);
});

t.test("what comes only after the time until which it may wait is not begun, though there is a place", async (t) => {
  const { effect: work, runs } = placed(one, { untilMs: 1 });
  const { harness, tell, ended } = await startedWith(work);
  await tell({ type: "start", id: "e1", input: "x" });
  await harness.advance();
  t.equal(runs.length, 0);
  t.match(await ended(), [{ id: "e1", result: { ok: true, output: "no place" } }]);
});

t.test("what was cancelled is not begun, though its place comes before the cancellation is durable", async (t) => {
  const harness = new Harness({ catalogue: {} });
  const runs: { readonly id: string; end(): void }[] = [];
  const work = effect<unknown, unknown>("work").implement(
    { ...one, name: "cancelled" },
    (_input, { id }) => new Promise((resolve) => runs.push({ id, end: () => resolve("done") })),
  );
  const { clock } = harness.world;
  const reading = harness.durable;
  const effects = new Effects({ effects: [work], reading, clock, defer: setImmediate, ended: () => undefined });
  const owner = harness.to("worker");
  const [first, second] = ["e1", "e2"].map((id) =>
    createPendingEffect({ to: owner, name: "worker" }, { name: "work", id, input: 1 }, 1),
  );
  for (const each of [first, second]) {
    if (each === undefined) continue;
    effects.register(each);
    effects.enqueue(each);
  }
  if (second !== undefined) second.cancelled = true;
  runs[0]?.end();
  await new Promise((done) => setImmediate(done));
  t.equal(effects.lookUpWait("worker", "e1"), null, "it has run");
  t.same(
    runs.map(({ id }) => id),
    ["e1"],
  );
  t.match(effects.lanes, [{ taken: 0, waiting: 0 }]);
});

t.test("effects are prepared in turns of the event loop, bounded by their number and by time", async (t) => {
  for (const [costMs, atOnce] of [
    [0, 16],
    [0.3, 4],
    [5, 1],
  ] as const) {
    const loop = new DrivenScheduler();
    let nowMs = 100;
    let prepared = 0;
    const work = effect<unknown, unknown>("work").implementPrepared(() => {
      prepared += 1;
      nowMs += costMs;
      return { place: null, begin: async () => "done" };
    });
    const harness = new Harness({ catalogue: {} });
    const effects = new Effects({
      effects: [work],
      reading: harness.durable,
      clock: harness.world.clock,
      elapsedMs: () => nowMs,
      defer: (more) => loop.defer(more),
      ended: () => undefined,
    });
    const owner = { to: harness.to("worker"), name: "worker" };
    for (let n = 0; n < 40; n++) {
      const each = createPendingEffect(owner, { name: "work", id: `e${n}`, input: 1 }, 1);
      effects.register(each);
      effects.enqueue(each);
    }
    t.equal(prepared, atOnce);
    await loop.turn();
    t.equal(prepared, 2 * atOnce);
    while (!loop.isIdle) await loop.turn();
    t.equal(prepared, 40, "none is left");
  }
});
