import t from "tap";
import { cellKey } from "../../../runtime/cells/cell-record.js";
import { GLOBAL_PARTITION, timerSpace } from "../../../storage/keys.js";
import { Harness } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";

const YEAR_MS = 365 * 24 * 3_600_000;

const sleeper = probe("sleeper", {
  wake: (_context, { name, inMs }, turn) => turn.wake(String(name), turn.now + Number(inMs)),
  wakeAt: (_context, { name, atMs }, turn) => turn.wake(String(name), Number(atMs)),
  cancel: (_context, { name }, turn) => turn.cancelWake(String(name)),
  woken: (context, { name, dueMs }, turn) => {
    if (context.again === true) turn.wake("again", turn.now + 1000);
    return { woken: [...((context.woken ?? []) as unknown[]), { name, lateMs: turn.now - Number(dueMs) }] };
  },
  repeat: () => ({ again: true }),
  woke: ({ woken }, _message, turn) => turn.reply(woken ?? []),
  stop: (_context, _message, turn) => turn.stop(),
});
const catalogue = { actors: [sleeper] };

async function woke(harness: Harness, id = "1"): Promise<{ name: string; lateMs: number }[]> {
  return (await harness.ask(harness.to("sleeper", id), { type: "woke" })) as { name: string; lateMs: number }[];
}

function rows(harness: Harness): number {
  return harness.durable.range({ prefix: [GLOBAL_PARTITION, timerSpace] }).length;
}

t.test("a wake-up comes once, at its time, years ahead", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "far", inMs: 30 * YEAR_MS } as Note);
  await harness.advance(30 * YEAR_MS - 10_000);
  t.same(await woke(harness), []);
  await harness.advance(10_000);
  const [first, ...others] = await woke(harness);
  t.equal(first?.name, "far");
  t.ok(first !== undefined && first.lateMs >= 0 && first.lateMs < 1000, "to the second");
  t.same(others, []);
  t.equal(rows(harness), 0);
});

t.test("a wake-up outlives crashes and comes late when nothing ran at its time", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "a", inMs: 60_000 } as Note);
  harness.crash();
  await harness.advance(3_600_000);
  await harness.start();
  await harness.advance();
  const [first, ...others] = await woke(harness);
  t.ok(first !== undefined && first.lateMs > 3_000_000);
  t.same(others, []);
});

t.test("a wake-up of the same name replaces the one that was set; a cancelled one does not come", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "a", inMs: 10_000 } as Note);
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "a", inMs: 30_000 } as Note);
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "b", inMs: 5_000 } as Note);
  await harness.ask(harness.to("sleeper"), { type: "cancel", name: "b" } as Note);
  await harness.ask(harness.to("sleeper"), { type: "cancel", name: "never-set" } as Note);
  await harness.advance(20_000);
  t.same(await woke(harness), []);
  await harness.advance(20_000);
  t.equal((await woke(harness)).length, 1);
  t.equal(rows(harness), 0);
});

t.test("a wake-up that is cancelled while it waits in the mailbox does not come", async (t) => {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
  await harness.start();
  const atMs = harness.world.nowMs + 60_000;
  await harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "a", atMs } as Note);
  harness.crash();
  await harness.advance(120_000);
  await harness.start();
  // The cancellation is in the mailbox before the runtime checks for due wake-ups.
  await harness.ask(harness.to("sleeper"), { type: "cancel", name: "a" } as Note);
  t.same(await woke(harness), []);
  t.equal(harness.runtime.stats().unhandled, 1);
});

t.test("setting the same wake-up for the same time again changes nothing", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const atMs = harness.world.nowMs + 60_000;
  await harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "a", atMs } as Note);
  await harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "a", atMs } as Note);
  t.equal(rows(harness), 1);
  await harness.advance(120_000);
  t.equal((await woke(harness)).length, 1);
});

t.test("a wake-up may be set for the past, for a fraction, and again in its own turn", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sleeper"), { type: "repeat" });
  await harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "a", atMs: -5.5 } as Note);
  await harness.advance(5_000);
  t.ok((await woke(harness)).length >= 5);
  await t.rejects(harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "a", atMs: Number.NaN } as Note));
  await t.rejects(harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "~rest", atMs: 1 } as Note));
  await t.rejects(harness.ask(harness.to("sleeper"), { type: "wakeAt", name: "x".repeat(3000), atMs: 1 } as Note));
});

t.test(
  "thousands that fell due during an outage come in due order, each once, whatever fits into memory",
  async (t) => {
    const harness = new Harness({ catalogue, limits: { timersInMemory: 16, idleCells: 10 } });
    await harness.start();
    const count = 2_000;
    const base = harness.world.nowMs + 10_000;
    for (let n = 0; n < count; n++) {
      // Many wake-ups share a millisecond, and they are set in mixed order.
      const atMs = base + (((n * 7919) % count) >> 3);
      void harness.runtime.ask(harness.to("sleeper", `${n}`), { type: "wakeAt", name: "a", atMs } as Note);
    }
    await harness.advance(5_000);
    t.equal(rows(harness), count);
    t.ok(harness.runtime.stats().timers <= 32, "the rest is on disk, however many share a millisecond");
    harness.crash();
    await harness.advance(3_600_000);
    const from = harness.batches.length;
    await harness.start();
    await harness.advance(10_000);
    t.equal(rows(harness), 0);
    const due = harness.batches
      .slice(from)
      .flat()
      .filter(({ op, key }) => op === "remove" && key[1] === timerSpace)
      .map(({ key }) => Number(key[2]));
    t.equal(due.length, count);
    t.same(
      due,
      due.toSorted((a, b) => a - b),
    );
    t.equal((await woke(harness, "77")).length, 1);
  },
);

t.test("an earlier wake-up that is set later comes first, when memory holds only a part", async (t) => {
  const harness = new Harness({ catalogue, limits: { timersInMemory: 2 } });
  await harness.start();
  for (const inMs of [50_000, 40_000, 30_000, 20_000, 10_000, 60_000, 5_000]) {
    await harness.ask(harness.to("sleeper"), { type: "wake", name: `${inMs}`, inMs } as Note);
  }
  await harness.advance(120_000);
  const names = (await woke(harness)).map(({ name }) => Number(name));
  t.same(names, [5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
});

t.test("an actor that stops takes its wake-ups and its snapshot with it", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sleeper"), { type: "wake", name: "a", inMs: 10_000 } as Note);
  await harness.ask(harness.to("sleeper"), { type: "stop" });
  t.equal(rows(harness), 0);
  t.equal(harness.durable.get(cellKey(harness.to("sleeper"))), undefined);
  await harness.advance(20_000);
  t.same(await woke(harness), [], "what comes later meets a new actor");
});

for (const restarts of [false, true]) {
  const how = restarts ? "by the next process" : "while it runs";
  t.test(`what was set while the clock was ahead is due in its time once that is put right ${how}`, async (t) => {
    const harness = new Harness({ catalogue });
    await harness.start();
    const set = (name: string, inMs: number) =>
      harness.ask(harness.to("sleeper"), { type: "wake", name, inMs } as Note);
    await set("before", 2 * YEAR_MS);
    await harness.advance(YEAR_MS);
    await set("mark", 1_000);
    await harness.advance(2_000);
    await set("lease", 30_000);
    await set("later", 3_600_000);
    if (restarts) harness.crash();
    harness.world.setBack(YEAR_MS);
    if (restarts) await harness.start();
    await set("after", 10_000);
    await harness.advance(20_000);
    const names = async () => (await woke(harness)).map(({ name }) => name);
    t.same(await names(), ["mark", "after"]);
    await harness.advance(20_000);
    t.same(await names(), ["mark", "after", "lease"]);
    await harness.advance(3_600_000);
    t.same(await names(), ["mark", "after", "lease", "later"]);
    await harness.advance(2 * YEAR_MS);
    t.same(
      await names(),
      ["mark", "after", "lease", "later", "before"],
      "each once, and what was set before in its own",
    );
    t.equal(rows(harness), 0);
  });
}
