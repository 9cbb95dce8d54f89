import t from "tap";
import { actorSpace, effectSpace } from "../../storage/keys.js";
import { Harness, type HarnessOptions, partition } from "../support/harness.js";
import { plainEffect } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

/** An actor that counts its messages. A test ends the actor's effects. */
const counter = probe("counter", {
  start: (context, { id }, turn) => {
    turn.start({ name: "work", id: String(id), input: "given" });
    return { n: Number(context.n ?? 0) + 1 };
  },
  restart: (context, { id, next }, turn) => {
    turn.cancelEffect(String(id));
    turn.start({ name: "work", id: String(next), input: "given" });
    return { n: Number(context.n) + 1 };
  },
  wake: (_context, _message, turn) => turn.wake("later", turn.now + 1_000_000),
  add: (context) => ({ n: Number(context.n ?? 0) + 1 }),
  cancel: (_context, { id }, turn) => turn.cancelEffect(String(id)),
  stop: (_context, _message, turn) => turn.stop(),
  "effect.ended": (context, { id, result }) => ({ ended: [...((context.ended ?? []) as unknown[]), { id, result }] }),
  get: (context, _message, turn) => turn.reply(context),
});

async function started(limits: HarnessOptions["limits"] = {}) {
  const runs: { readonly id: string; readonly input: unknown; end(): void }[] = [];
  const work = plainEffect(
    "work",
    10,
    (input, { id }) => new Promise((resolve) => runs.push({ id, input, end: () => resolve("done") })),
  );
  const harness = new Harness({ catalogue: { actors: [counter], effects: [work] }, limits });
  await harness.start();
  const tell = (message: Note, id = "1") => harness.ask(harness.to("counter", id), message);
  const restart = async () => {
    harness.crash();
    runs.length = 0;
    await harness.start();
  };
  return { harness, runs, tell, restart, get: (id?: string) => tell({ type: "get" }, id) };
}

function stored({ durable }: Harness): { readonly records: number; readonly effects: number } {
  const count = (space: string) => durable.range({ prefix: [partition, space] }).length;
  return { records: count(actorSpace), effects: count(effectSpace) };
}

t.test("an actor that begins with an effect and only waits for it is written once, in the effect's row", async (t) => {
  const { harness, runs, tell } = await started();
  await tell({ type: "start", id: "e1" });
  t.same(stored(harness), { records: 0, effects: 1 });
  t.equal(harness.batches.at(-1)?.length, 1, "with one change");
  runs[0]?.end();
  await harness.advance();
  t.same(stored(harness), { records: 1, effects: 0 }, "it goes on without the effect");
});

t.test("after a crash it is what it was, for its result and for whoever asks before", async (t) => {
  for (const asksFirst of [true, false]) {
    const { harness, runs, restart, tell, get } = await started();
    await tell({ type: "start", id: "e1" });
    await restart();
    if (asksFirst) t.same(await get(), { n: 1 });
    await harness.advance();
    t.match(runs, [{ id: "e1", input: "given" }]);
    runs[0]?.end();
    await harness.advance();
    t.same(await get(), { n: 1, ended: [{ id: "e1", result: { ok: true, output: "done" } }] });
    await restart();
    t.match(await get(), { n: 1, ended: [{ id: "e1" }] });
    t.same(stored(harness), { records: 1, effects: 0 });
  }
});

t.test("what it takes while the effect is pending counts, not what stands in the effect's row", async (t) => {
  const { harness, runs, restart, tell, get } = await started();
  await tell({ type: "start", id: "e1" });
  await tell({ type: "add" });
  t.same(stored(harness), { records: 1, effects: 1 });
  await restart();
  t.same(await get(), { n: 2 });
  await harness.advance();
  runs[0]?.end();
  await harness.advance();
  t.match(await get(), { n: 2, ended: [{ id: "e1" }] });
  await tell({ type: "stop" });
  t.same(stored(harness), { records: 0, effects: 0 });
});

t.test("one that memory forgot comes back from the effect's row", async (t) => {
  const { harness, runs, tell, get } = await started({ idleCells: 1 });
  await tell({ type: "start", id: "e1" }, "waits");
  for (let n = 0; n < 5; n++) await tell({ type: "add" }, `other-${n}`);
  t.ok(harness.runtime.stats().cells <= 2, "memory holds no more than it should");
  t.same(await get("waits"), { n: 1 });
  for (let n = 0; n < 5; n++) await tell({ type: "add" }, `other-${n}`);
  await tell({ type: "cancel", id: "e1" }, "waits");
  runs[0]?.end();
  await harness.advance();
  t.same(await get("waits"), { n: 1 }, "and could cancel what it had started");
  t.equal(stored(harness).effects, 0);
});

t.test("one that ends while the effect is pending leaves nothing", async (t) => {
  const { harness, restart, tell, get } = await started();
  await tell({ type: "start", id: "e1" });
  await tell({ type: "stop" });
  t.same(stored(harness), { records: 0, effects: 0 });
  await restart();
  t.same(await get(), {});
});

t.test("one that starts another effect when the first ends is in the row of the second", async (t) => {
  const { harness, runs, restart, tell, get } = await started();
  await tell({ type: "start", id: "e1" });
  await tell({ type: "restart", id: "e1", next: "e2" });
  t.same(stored(harness), { records: 0, effects: 1 });
  await restart();
  t.same(await get(), { n: 2 });
  await harness.advance();
  t.match(runs, [{ id: "e2" }]);
});

t.test("one that waits for more than the effect has a record of its own", async (t) => {
  const { harness, restart, tell, get } = await started();
  const together = async (id: string, messages: readonly Note[]) => {
    await Promise.all(messages.map((message) => tell(message, id)));
  };
  await together("two", [
    { type: "start", id: "e1" },
    { type: "start", id: "e2" },
  ]);
  await together("woken", [{ type: "start", id: "e1" }, { type: "wake" }]);
  await together("other", [
    { type: "start", id: "e1" },
    { type: "start", id: "e2" },
    { type: "cancel", id: "e2" },
  ]);
  t.same(stored(harness), { records: 3, effects: 4 });
  await restart();
  t.same(await get("two"), { n: 2 });
  t.same(await get("woken"), { n: 1 });
  await tell({ type: "stop" }, "woken");
  t.same(await get("other"), { n: 2 });
  t.same(stored(harness), { records: 2, effects: 3 });
});
