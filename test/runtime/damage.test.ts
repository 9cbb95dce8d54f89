import t from "tap";
import { effectKey } from "../../runtime/effects/pending-effect.js";
import { topic } from "../../runtime/feeds/topic.js";
import {
  actorSpace,
  deadLetterSpace,
  dedupSpace,
  feedSpace,
  timerSpace,
  undeliveredSpace,
} from "../../storage/keys.js";
import type { Key } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { Harness, partition, settled } from "../support/harness.js";
import { plainEffect } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

const rows = table<{ readonly text: string }>("thing");

/** Handles test messages, for example writes a row or starts an effect. Its context counts such messages. */
const worker = probe("worker", {
  put: (context, { id }, turn) => {
    rows.put(turn, partition, String(id), { text: "written" });
    return { n: Number(context.n ?? 0) + 1 };
  },
  read: (_context, { id }, turn) => turn.reply(rows.get(turn, partition, String(id))?.text ?? null),
  list: (_context, _message, turn) => turn.reply(rows.list(turn, partition).length),
  count: (context, _message, turn) => turn.reply(context.n ?? 0),
  add: (context) => ({ n: Number(context.n ?? 0) + 1 }),
  start: (context, { id }, turn) => {
    turn.start({ name: "work", id: String(id), input: id });
    return { n: Number(context.n ?? 0) + 1 };
  },
  "effect.ended": (context, { id }) => ({ ended: [...((context.ended ?? []) as unknown[]), id] }),
  ended: ({ ended }, _message, turn) => turn.reply(ended ?? []),
  wake: (_context, { afterMs }, turn) => turn.wake("later", turn.now + Number(afterMs)),
  woken: (_context, _message, turn) => ({ isAwake: rows.get(turn, partition, "a") !== null }),
  attempt: (_context, _message, turn) => {
    const isDone = turn.attempt(() => {
      rows.put(turn, partition, "x", { text: "undone" });
      turn.publishChange(topic<unknown>("thing")("1"), turn.now);
      rows.get(turn, partition, "a");
    });
    rows.put(turn, partition, "y", { text: String(isDone) });
  },
  isAwake: ({ isAwake }, _message, turn) => turn.reply(isAwake ?? false),
  publish: (_context, _message, turn) => turn.publishChange(topic<unknown>("thing")("1"), turn.now),
});
const sender = probe("sender", {
  send: (_context, { to, messages }, turn) => {
    for (const message of messages as Note[]) turn.send({ partition, kind: "worker", id: String(to) }, message);
  },
});

async function started(limits = {}) {
  const runs: string[] = [];
  const work = plainEffect("work", 10, async (_input, { id }) => void runs.push(id));
  const harness = new Harness({ catalogue: { actors: [worker, sender], effects: [work] }, limits });
  await harness.start();
  const tell = (message: Note, id = "1") => harness.ask(harness.to("worker", id), message);
  const send = (to: string, ...messages: Note[]) =>
    harness.ask(harness.to("sender"), { type: "send", to, messages } as Note);
  const damage = (key: Key) => harness.disk.damaged.add(JSON.stringify(key));
  return { harness, runs, tell, send, damage };
}

const damaged = { name: "StoreError", code: "damaged" };
const thing = rows.key(partition, "a");
const record = (id: string): Key => [partition, actorSpace, "worker", id];
const letters = ({ durable }: Harness) => durable.range({ prefix: [partition, deadLetterSpace] }).length;

t.test("who asks for a turn that meets a damaged row is told so, and the actor goes on", async (t) => {
  const { harness, tell, damage } = await started();
  await tell({ type: "put", id: "a" });
  await tell({ type: "add" }, "2");
  damage(thing);
  for (let n = 0; n < 30; n++) {
    await t.rejects(tell({ type: "read", id: "a" }), damaged);
    await t.rejects(tell({ type: "list" }), damaged);
  }
  t.equal(await tell({ type: "read", id: "b" }), null, "it does not rest");
  t.equal(await tell({ type: "count" }), 1);
  t.equal(letters(harness), 0);
});

t.test("a message whose turn meets a damaged row is set aside at once", async (t) => {
  const { harness, tell, send, damage } = await started();
  await tell({ type: "put", id: "a" });
  await tell({ type: "add" }, "2");
  damage(thing);
  await send("1", { type: "read", id: "a" }, { type: "add" });
  t.equal(await tell({ type: "count" }), 2, "what comes after it is taken");
  t.match(harness.runtime.deadLetters.list(partition, 9), [{ message: { type: "read" }, error: /is damaged/ }]);
  t.match(harness.runtime.stats(), { crashes: 1, damagedRows: 1, damagedTurns: 1 });
});

t.test("an actor whose record is damaged takes no turn, and its record is not written over", async (t) => {
  const { harness, runs, tell, send, damage } = await started();
  await tell({ type: "add" });
  await tell({ type: "wake", afterMs: 50_000 });
  await tell({ type: "add" }, "2");
  harness.crash();
  damage(record("1"));
  await harness.start();
  for (let n = 0; n < 20; n++) await t.rejects(tell({ type: "add" }), damaged);
  await send("1", { type: "add" }, { type: "start", id: "e" });
  await harness.advance(60_000);
  t.equal(await tell({ type: "count" }, "2"), 1);
  t.equal(letters(harness), 2, "its messages are set aside");
  t.same(runs, []);
  t.same(harness.fatal, []);
  harness.crash();
  harness.disk.damaged.clear();
  await harness.start();
  await harness.advance();
  t.equal(await tell({ type: "count" }), 1, "repaired, it is what it was");
  t.equal(await tell({ type: "isAwake" }), true, "and the wake-up that came meanwhile is not lost");
});

t.test("a damaged message, found after a crash, is left out, and the others are delivered", async (t) => {
  const { harness, tell, damage } = await started({ turnsPerBatch: 2 });
  harness.held = Promise.resolve();
  const messages = [1, 2, 3, 4, 5, 6].map(() => ({ type: "add" }));
  void settled(harness.runtime.ask(harness.to("sender"), { type: "send", to: "1", messages } as Note));
  const stored = () => harness.durable.range({ prefix: [partition, undeliveredSpace] });
  for (let steps = 0; stored().length === 0 && steps < 10_000; steps++) await harness.world.step();
  harness.crash();
  const left = stored();
  const before = harness.durable.get<{ state: { context: { n: number } } }>(record("1"))?.state.context.n ?? 0;
  t.ok(left.length > 1, `${left.length} are left`);
  damage(left[0]?.key ?? []);
  await harness.start();
  await harness.advance();
  t.equal(await tell({ type: "count" }), before + left.length - 1);
  t.match(harness.logged, [
    { message: "a row is damaged", details: { key: `${partition} mail worker … ${String(left[0]?.key.at(-1))}` } },
  ]);
  t.same(harness.fatal, []);
});

t.test(
  "a damaged effect is left out, the others start, and an actor that lived in its row is not begun anew",
  async (t) => {
    const { harness, runs, tell, damage } = await started();
    const never = plainEffect("work", 10, () => new Promise(() => undefined));
    harness.crash();
    await harness.start({ actors: [worker, sender], effects: [never] });
    for (const id of ["1", "2"]) await tell({ type: "start", id: `e${id}` }, id);
    harness.crash();
    damage(effectKey(harness.to("worker", "1"), "e1"));
    await harness.start();
    await harness.advance();
    t.same(runs, ["e2"]);
    await t.rejects(tell({ type: "count" }), damaged);
    t.same(await tell({ type: "ended" }, "2"), ["e2"]);
    t.same(harness.fatal, []);
  },
);

t.test("a wake-up whose row is damaged still comes: the actor's record has it too", async (t) => {
  const { harness, tell, damage } = await started();
  await tell({ type: "wake", afterMs: 5_000 });
  harness.crash();
  for (const { key } of harness.durable.range({ prefix: ["~", timerSpace] })) damage(key);
  await harness.start();
  await harness.advance(10_000);
  t.equal(await tell({ type: "isAwake" }), true);
  t.same(harness.fatal, []);
});

t.test(
  "readers of a feed with a damaged row are told that they are too far behind, and its numbers go on",
  async (t) => {
    const { harness, tell, damage } = await started();
    for (let n = 0; n < 4; n++) await tell({ type: "publish" });
    for (const seq of [2, 4]) damage([partition, feedSpace, seq]);
    harness.crash();
    await harness.start();
    const { feed } = harness.runtime;
    const since = (after: number) => feed.since(partition, "thing/1", after);
    t.equal(feed.lastSeq(partition), 4);
    t.equal(since(1), "too-old");
    t.same(since(4), []);
    await tell({ type: "publish" });
    t.match(since(4), [{ seq: 5 }]);
    t.same(harness.fatal, []);
  },
);

t.test("a feed whose last row is damaged is kept no longer than any other", async (t) => {
  const { harness, tell, damage } = await started({ feedEntries: 5 });
  for (let n = 0; n < 4; n++) await tell({ type: "publish" });
  damage([partition, feedSpace, 4]);
  harness.crash();
  await harness.start();
  for (let n = 0; n < 20; n++) await tell({ type: "publish" });
  const kept = harness.durable.range({ prefix: [partition, feedSpace], onDamaged: () => undefined });
  t.same(
    kept.map(({ key }) => key[2]),
    [20, 21, 22, 23, 24],
  );
});

t.test("an ask under a message id that cannot be read is refused as damaged", async (t) => {
  const { harness, tell, damage } = await started();
  const add = () => harness.ask(harness.to("worker"), { type: "add" }, { messageId: "m" });
  await add();
  damage([partition, dedupSpace, "worker", "1", "m"]);
  await t.rejects(add(), damaged);
  t.equal(await tell({ type: "count" }), 1);
  t.same(harness.fatal, []);
});

t.test("a wake-up whose turn meets a damaged row is delivered again an hour later", async (t) => {
  const { harness, tell, damage } = await started();
  await tell({ type: "put", id: "a" });
  await tell({ type: "wake", afterMs: 5_000 });
  damage(thing);
  await harness.advance(10_000);
  t.equal(await tell({ type: "isAwake" }), false);
  t.equal(letters(harness), 0, "it is not set aside");
  harness.disk.damaged.clear();
  await harness.advance(60 * 60 * 1_000);
  t.equal(await tell({ type: "isAwake" }), true);
});

t.test("an attempt that meets a damaged row leaves nothing behind, and its turn continues", async (t) => {
  const { harness, tell, damage } = await started();
  await tell({ type: "put", id: "a" });
  await tell({ type: "add" }, "2");
  damage(thing);
  await tell({ type: "attempt" });
  t.equal(await tell({ type: "read", id: "x" }), null);
  t.equal(await tell({ type: "read", id: "y" }), "false");
  t.same(harness.runtime.feed.since(partition, "thing/1", 0), []);
  t.match(harness.runtime.stats(), { crashes: 0, damagedRows: 1 });
  harness.disk.damaged.clear();
  await tell({ type: "attempt" });
  t.equal(await tell({ type: "read", id: "x" }), "undone");
  t.equal(await tell({ type: "read", id: "y" }), "true");
});
