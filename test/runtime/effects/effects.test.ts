import t from "tap";
import type { Effect } from "../../../runtime/cells/actor-type.js";
import { address } from "../../../runtime/cells/address.js";
import { cellName } from "../../../runtime/cells/cell-record.js";
import { createSystemClock } from "../../../runtime/clock.js";
import { effect } from "../../../runtime/effects/effect-type.js";
import { Effects } from "../../../runtime/effects/effects.js";
import { createPendingEffect, effectKey } from "../../../runtime/effects/pending-effect.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { Harness, partition } from "../../support/harness.js";
import { plainEffect, plainLane } from "../../support/plain-effect.js";
import type { Note } from "../../support/probe.js";
import { byHand, pending, started, startedWith, worker } from "../effect-scene.js";

t.test("an effect starts after its flush and its result comes back once", async (t) => {
  const { harness, runs, ended, tell } = await started();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  void tell({ type: "start", id: "e1", input: { a: 1 } }).catch(() => undefined);
  await harness.advance();
  t.equal(runs.length, 0, "nothing starts before the flush");
  release();
  await harness.advance();
  t.match(runs, [{ id: "e1", input: { a: 1 } }]);
  t.ok(harness.durable.get(effectKey(harness.to("worker"), "e1")));
  t.match(harness.runtime.stats(), { pendingEffects: 1, runningEffects: 1 });
  runs[0]?.end({ b: 2 });
  await harness.advance();
  t.same(await ended(), [{ id: "e1", effect: "work", result: { ok: true, output: { b: 2 } } }]);
  t.equal(pending(harness), 0);
  t.match(harness.runtime.stats(), { pendingEffects: 0, runningEffects: 0 });
});

t.test("a rejection comes back as an error, whatever was thrown", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1" });
  await tell({ type: "start", id: "e2" });
  runs[0]?.fail(new Error("no route"));
  runs[1]?.fail("just text");
  await harness.advance();
  t.match(await ended(), [{ result: { ok: false, error: "no route" } }, { result: { ok: false, error: "just text" } }]);
});

t.test("a pending effect runs again after a crash, under the same id and input, and ends once", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1", input: 5 });
  harness.crash();
  await harness.start();
  await harness.advance();
  t.match(runs, [
    { id: "e1", input: 5 },
    { id: "e1", input: 5 },
  ]);
  runs[1]?.end("done");
  await harness.advance();
  t.match(await ended(), [{ id: "e1", result: { output: "done" } }]);
  harness.crash();
  await harness.start();
  await harness.advance();
  t.equal(runs.length, 2, "and never again");
});

t.test(
  "before a stop the results of runs that are not made again are waited for, and no other run begins",
  async (t) => {
    const runs: { readonly id: string; end(output: unknown): void }[] = [];
    const work = effect<unknown, unknown>("work").implementPrepared((_input, { id }) => ({
      place: null,
      isMadeOnce: id === "once",
      begin: () => new Promise((end) => runs.push({ id, end })),
    }));
    const { harness, ended, tell } = await startedWith(work);
    await tell({ type: "start", id: "once" });
    await tell({ type: "start", id: "again" });
    let isFinished = false;
    const finishing = harness.runtime.finishEffects().then(() => {
      isFinished = true;
    });
    await tell({ type: "start", id: "later" });
    t.same([runs.map(({ id }) => id), isFinished], [["once", "again"], false]);
    runs[0]?.end("done");
    await harness.advance();
    await finishing;
    t.match(await ended(), [{ id: "once", result: { output: "done" } }]);
    await harness.runtime.finishEffects();
    harness.crash();
    await harness.start();
    await harness.advance();
    t.same(
      runs
        .slice(2)
        .map(({ id }) => id)
        .sort(),
      ["again", "later"],
    );
  },
);

t.test("after a stop it is known which effects were begun: what waited for its place was not", async (t) => {
  const prepared: [id: string, mayHaveBegun: boolean][] = [];
  const lane = plainLane(1);
  const work = effect<unknown, unknown>("work").implementPrepared((_input, { id, mayHaveBegun }) => {
    prepared.push([id, mayHaveBegun]);
    return { place: { lane, target: "", bytes: 0 }, begin: () => new Promise(() => undefined) };
  });
  const { harness, tell } = await startedWith(work);
  await tell({ type: "start", id: "begun" });
  await tell({ type: "start", id: "waiting" });
  const stopping = harness.runtime.stop();
  await harness.advance();
  await stopping;
  prepared.splice(0);
  await harness.start();
  await harness.advance();
  t.same(prepared.sort(), [
    ["begun", true],
    ["waiting", false],
  ]);
});

t.test("nothing is waited for once the runtime has stopped", async () => {
  const work = effect<unknown, unknown>("work").implementPrepared(() => ({
    place: null,
    isMadeOnce: true,
    begin: () => new Promise(() => undefined),
  }));
  const { harness, tell } = await startedWith(work);
  await tell({ type: "start", id: "once" });
  const finishing = harness.runtime.finishEffects();
  const stopping = harness.runtime.stop();
  await harness.advance();
  await Promise.all([finishing, stopping]);
});

t.test("at most so many of a name run at once; inputs of those far back are read from disk", async (t) => {
  const { harness, runs, tell } = await started(3);
  await tell({ type: "startMany", count: 400 });
  t.equal(runs.length, 3);
  for (let index = 0; index < 400; index++) {
    t.equal(runs[index]?.input, index);
    runs[index]?.end(index);
    await harness.advance(50);
  }
  t.equal(runs.length, 400);
  t.equal(pending(harness), 0);
});

t.test("hundreds of pending effects all run after a crash", async (t) => {
  const { harness, runs, tell } = await started(1_000);
  await tell({ type: "startMany", count: 300 });
  harness.crash();
  await harness.start();
  await harness.advance();
  const again = runs.slice(300).map(({ id }) => id);
  t.equal(new Set(again).size, 300);
});

t.test("a cancelled effect is aborted after the flush, and its result never comes", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1" });
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  void tell({ type: "cancel", id: "e1" }).catch(() => undefined);
  await harness.advance();
  t.notOk(runs[0]?.signal.aborted, "not before the flush");
  release();
  await harness.advance();
  harness.held = null;
  t.ok(runs[0]?.signal.aborted);
  runs[0]?.end("late");
  await harness.advance();
  t.same(await ended(), []);
  t.equal(pending(harness), 0);
  await tell({ type: "cancel", id: "e1" });
  await tell({ type: "cancel", id: "never-started" });
});

t.test("an effect that is cancelled before it began never begins", async (t) => {
  const { harness, runs, tell } = await started(1);
  await tell({ type: "start", id: "e1" });
  await tell({ type: "start", id: "e2" });
  await tell({ type: "cancel", id: "e2" });
  await tell({ type: "startAndCancel", id: "e3" });
  runs[0]?.end(1);
  await harness.advance();
  t.equal(runs.length, 1);
  t.equal(pending(harness), 0);
});

t.test("a result that ends in the moment of its cancellation is dropped", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1" });
  const cancelled = harness.runtime.ask(harness.to("worker"), { type: "cancel", id: "e1" } as Note);
  runs[0]?.end("too late");
  await harness.advance();
  await cancelled;
  t.same(await ended(), []);
});

t.test("an id that is pending cannot be started; one that ended or was cancelled can", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1", input: "first" });
  await t.rejects(tell({ type: "start", id: "e1" }), { name: "TurnFailed" });
  await t.rejects(tell({ type: "startTwice", id: "e2" }), { name: "TurnFailed" });
  await tell({ type: "restart", id: "e1" });
  t.match(
    runs.map(({ input }) => input),
    ["first", "again"],
  );
  runs[0]?.end("of the first");
  runs[1]?.end("of the second");
  await harness.advance();
  t.match(await ended(), [{ result: { output: "of the second" } }]);
  await tell({ type: "start", id: "e1" });
  t.equal(runs.length, 3);
});

t.test("an id is the actor's own: two actors' effects of one id are two", async (t) => {
  const { harness, runs, ended, tell } = await started();
  await tell({ type: "start", id: "e1", input: "of one" });
  await tell({ type: "start", id: "e1", input: "of two" }, "2");
  await tell({ type: "cancel", id: "e1" }, "2");
  t.match(
    runs.map(({ input, signal }) => [input, signal.aborted]),
    [
      ["of one", false],
      ["of two", true],
    ],
  );
  runs[0]?.end("done");
  await harness.advance();
  t.match(await ended(), [{ id: "e1", result: { output: "done" } }]);
  t.equal(pending(harness), 0);
});

t.test("an effect that does not exist fails the turn; one that a release has lost ends with an error", async (t) => {
  const { harness, ended, tell } = await started();
  await t.rejects(tell({ type: "start", id: "e1", name: "nothing" }), { name: "TurnFailed" });
  await tell({ type: "start", id: "e1" });
  harness.crash();
  await harness.start({ actors: [worker] });
  await harness.advance();
  t.match(await ended(), [{ id: "e1", result: { ok: false, error: /no effect named work/ } }]);
});

t.test("an actor that stops cancels its effects", async (t) => {
  const { harness, runs, tell } = await started();
  await tell({ type: "start", id: "e1" });
  await tell({ type: "stop" });
  t.ok(runs[0]?.signal.aborted);
  t.equal(pending(harness), 0);
});

t.test("many effects of one name are started a few at a time, and keep no other name's waiting", async (t) => {
  const begun: string[] = [];
  const noting = (name: string): Effect => plainEffect(name, 1_000, async () => void begun.push(name));
  const later: (() => void)[] = [];
  const effects = new Effects({
    effects: [noting("work"), noting("other")],
    reading: createMemoryStore().reading,
    clock: createSystemClock(),
    defer: (work) => void later.push(work),
    ended: () => undefined,
  });
  const enqueue = (name: string, id: string) => {
    const owner = address(partition, "worker", "1");
    const pending = createPendingEffect({ to: owner, name: cellName(owner) }, { name, id, input: null }, 0);
    effects.register(pending);
    effects.enqueue(pending);
  };
  for (let n = 0; n < 500; n++) enqueue("work", `many-${n}`);
  enqueue("other", "one");
  t.ok(begun.length < 50, `${begun.length} are started before the event loop has its turn`);
  t.ok(begun.includes("other"), "one of another name is among them");
  for (let turn = 0; later.length > 0 && turn < 1_000; turn++) for (const work of later.splice(0)) work();
  t.equal(begun.length, 501, "all are started in the end");
});

t.test("two effects of one name are refused at the start", async (t) => {
  const { effect } = byHand("work", 1);
  const harness = new Harness({ catalogue: { effects: [effect, effect] } });
  await t.rejects(harness.start(), /two effects are named work/);
});

t.test("a partition whose effects never end keeps no other's waiting, also after a crash", async (t) => {
  const lane = { name: "fair", places: 8, kept: 2, perClient: 6, perTarget: 6 };
  const { effect: work, runs } = byHand("work", 8, lane);
  const { harness, tell } = await startedWith(work);
  const other = { ...harness.to("worker"), partition: "ws_2" };
  await tell({ type: "startMany", count: 20 });
  await harness.advance();
  t.equal(runs.length, 6, "two of eight are left for others");
  await harness.ask(other, { type: "start", id: "theirs" } as Note);
  await harness.advance();
  t.match(runs.at(-1), { id: "theirs" });
  harness.crash();
  runs.length = 0;
  await harness.start();
  await harness.advance();
  t.equal(runs.length, 7);
  t.ok(runs.some(({ id }) => id === "theirs"));
  runs[0]?.end(null);
  await harness.advance();
  t.equal(runs.length, 8, "the next of its own takes the place");
});
