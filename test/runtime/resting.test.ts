import t from "tap";
import { topic } from "../../runtime/feeds/topic.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { Harness, partition } from "../support/harness.js";
import { plainEffect } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

/** Ids of the effects that ran, in order. */
const left: string[] = [];
const worker = probe("worker", {
  begin: (_context, _message, turn) => {
    turn.start({ name: "call", id: "c1", input: { n: 1 } });
    turn.wake("soon", turn.now + 60_000);
    turn.send({ partition, kind: "worker", id: "2" }, { type: "hear" } as Note);
  },
  hear: ({ heard = 0 }) => ({ heard: Number(heard) + 1 }),
  heard: ({ heard = 0, woken = 0 }, _message, turn) => turn.reply({ heard, woken }),
  woken: ({ woken = 0 }) => ({ woken: Number(woken) + 1 }),
  "effect.ended": () => ({}),
});
const account = probe("account", {
  visit: ({ visits = 0 }, _message, turn) => {
    turn.start({ name: "call", id: `v${visits}`, input: {} });
    turn.wake("expire", turn.now + 1_000);
    turn.publishChange(topic<unknown>("account")("1"), "visited");
    turn.reply("welcome");
    return { visits: Number(visits) + 1 };
  },
  visits: ({ visits = 0, woken = 0 }, _message, turn) => turn.reply({ visits, woken }),
  woken: ({ woken = 0 }) => ({ woken: Number(woken) + 1 }),
  "effect.ended": () => ({}),
});
const call = plainEffect("call", 5, async (_input, { id }) => {
  left.push(id);
  return null;
});
const resting = { takes: ({ kind }: { readonly kind: string }) => kind === "account" };

async function stop(harness: Harness): Promise<void> {
  const stopping = harness.runtime.stop();
  await harness.advance();
  await stopping;
}

t.test(
  "a runtime that rests continues nothing, takes what it is told to take, and leaves the rest to the next",
  async (t) => {
    const harness = new Harness({ catalogue: { actors: [worker, account], effects: [call] } });
    await harness.start();
    harness.killAt = { commit: 1, when: "after" };
    void harness.runtime.ask(harness.to("worker"), { type: "begin" }).catch(() => undefined);
    await harness.advance();
    harness.crash();
    harness.killAt = null;
    t.same(left, []);

    const before = harness.durable.range({ prefix: [] });
    await harness.start(undefined, { resting });
    await harness.advance(24 * 3_600_000);
    t.same(harness.durable.range({ prefix: [] }), before, "nothing is changed by looking");
    await t.rejects(harness.ask(harness.to("worker", "2"), { type: "heard" }), { name: "Resting" });
    t.same(harness.durable.range({ prefix: [] }), before);
    t.equal(await harness.ask(harness.to("account"), { type: "visit" }), "welcome");
    t.same(left, ["v0"], "the effect of what it takes runs, and none that was left");
    t.equal(harness.runtime.feed.lastSeq(partition), 1);
    await harness.advance(3_600_000);
    t.same(await harness.ask(harness.to("account"), { type: "visits" }), { visits: 1, woken: 0 });
    await stop(harness);

    await harness.start();
    await harness.advance(120_000);
    t.same([...left].sort(), ["c1", "v0"]);
    t.same(await harness.ask(harness.to("worker", "2"), { type: "heard" }), { heard: 1, woken: 0 });
    t.same(await harness.ask(harness.to("worker"), { type: "heard" }), { heard: 0, woken: 1 });
    t.same(await harness.ask(harness.to("account"), { type: "visits" }), { visits: 1, woken: 1 });
  },
);

t.test("after a stop, the next process searches where the resting one took messages too", async (t) => {
  left.length = 0;
  const harness = new Harness({ catalogue: { actors: [worker, account], effects: [call] } });
  await harness.start();
  await harness.ask(harness.to("account"), { type: "visits" });
  await stop(harness);
  const mark = [GLOBAL_PARTITION, metaSpace, "stopped"];
  t.match(harness.durable.get(mark), { left: { length: 0 } });
  await harness.start(undefined, { resting });
  harness.killAt = { commit: harness.batches.length + 1, when: "after" };
  void harness.runtime.ask(harness.to("account"), { type: "visit" }).catch(() => undefined);
  await harness.advance();
  harness.crash();
  harness.killAt = null;
  t.same([left, harness.durable.get(mark)], [[], { left: [partition], begun: [] }]);
  await harness.start();
  await harness.advance();
  t.same(left, ["v0"]);
});
