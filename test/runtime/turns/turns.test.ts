import t from "tap";
import { cellKey } from "../../../runtime/cells/cell-record.js";
import { directory } from "../../../runtime/directories/directory.js";
import { topic } from "../../../runtime/feeds/topic.js";
import { NotAccepted, TurnFailed } from "../../../runtime/runtime.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import { table } from "../../../storage/table.js";
import { Harness, partition, settled } from "../../support/harness.js";
import { probe } from "../../support/probe.js";

const counts = table<{ readonly n: number }>("count");
const leads = directory<{ readonly n: number }>("lead");

const counter = probe("counter", {
  add: (context, { by }, turn) => {
    const n = Number(context.n ?? 0) + Number(by);
    counts.put(turn, partition, turn.self.id, { n });
    turn.publishChange(topic<unknown>("counter")("1"), { n });
    turn.reply(n);
    return { n };
  },
  spoil: (_context, _message, turn) => {
    counts.put(turn, partition, turn.self.id, { n: -1 });
    turn.send({ partition, kind: "counter", id: "other" }, { type: "add", by: 1 } as never);
    turn.wake("never", turn.now);
    turn.publishChange(topic<unknown>("counter")("1"), "never");
    throw new Error("spoiled");
  },
  look: (_context, { id }, turn) => turn.reply(counts.get(turn, partition, String(id)) ?? null),
  list: (_context, _message, turn) => turn.reply(counts.list(turn, partition)),
  replace: (_context, _message, turn) => {
    counts.put(turn, partition, "b", { n: 2 });
    counts.put(turn, partition, "c", { n: 3 });
    counts.remove(turn, partition, "c");
    turn.reply([
      counts.list(turn, partition).map(({ n }) => n),
      counts.list(turn, partition, [], { reverse: true, limit: 1 }).map(({ n }) => n),
      counts.list(turn, partition, [], { after: ["a"], before: ["c"] }).map(({ n }) => n),
      turn.range({ prefix: [partition] }).length > 0,
    ]);
  },
  foreign: (_context, { where }, turn) => counts.put(turn, String(where), "x", { n: 1 }),
  foreignRead: (_context, { where }, turn) => turn.reply(counts.get(turn, String(where), "x") ?? null),
  foreignRange: (_context, { prefix }, turn) => turn.reply(turn.range({ prefix: prefix as string[] }).length),
  direct: (_context, _message, turn) => turn.direct(leads.entry("x", { n: 2 })),
  undirect: (_context, _message, turn) => turn.undirect(leads.entry("x", { n: 2 })),
  otherSpace: (_context, _message, turn) => turn.put([partition, "actor", "x", "y"], 1),
  badKey: (_context, { id }, turn) => counts.put(turn, partition, id as string, { n: 1 }),
  nothing: (_context, _message, turn) => turn.put([partition, "row", "count", "x"], undefined),
  class: () => ({ when: new URL("http://localhost/") }),
  code: (_context, _message, turn) => turn.reply({ run: () => 1 }),
  twice: (_context, _message, turn) => {
    turn.reply(1);
    turn.reply(2);
  },
  quiet: () => undefined,
  count: (_context, { fails }, turn) => {
    turn.count("counted");
    turn.count("counted");
    if (fails === true) throw new Error("on purpose");
  },
  report: (_context, { fails, n }, turn) => {
    turn.report({ name: "happened", line: null, details: { n: Number(n) } });
    if (fails === true) throw new Error("on purpose");
  },
  chance: (_context, _message, turn) =>
    turn.reply({ id: turn.newId("x"), random: turn.random(), bytes: turn.randomBytes(3).length, now: turn.now }),
});

async function started() {
  const harness = new Harness({ catalogue: { actors: [counter] } });
  await harness.start();
  return harness;
}

t.test("state and rows of a turn are durable together before its answer comes", async (t) => {
  const harness = await started();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  let answered = false;
  const answer = harness.runtime.ask(harness.to("counter"), { type: "add", by: 2 } as never).then((value) => {
    answered = true;
    return value;
  });
  await harness.advance();
  t.equal(harness.batches.length, 1, "the batch is under way");
  t.notOk(answered, "and nothing is answered");
  release();
  await harness.advance();
  t.equal(await answer, 2);
  t.same(counts.get(harness.durable, partition, "1"), { n: 2 });
  t.match(harness.durable.get(cellKey(harness.to("counter"))), { version: 1, state: { context: { n: 2 } } });
});

t.test("a refusal waits for the flush too", async (t) => {
  const harness = await started();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  const first = settled(harness.runtime.ask(harness.to("counter"), { type: "add", by: 2 } as never));
  await harness.advance();
  let told = false;
  const second = settled(harness.runtime.ask(harness.to("counter"), { type: "unknown" })).then((outcome) => {
    told = true;
    return outcome;
  });
  await harness.advance();
  t.notOk(told);
  release();
  await harness.advance();
  t.same(await first, { value: 2 });
  t.match(await second, { error: NotAccepted });
});

t.test("turns read what earlier turns wrote, before the flush", async (t) => {
  const harness = await started();
  harness.held = new Promise(() => undefined);
  void settled(harness.runtime.ask(harness.to("counter", "a"), { type: "add", by: 1 } as never));
  await harness.advance();
  t.same(counts.get(harness.runtime.reading, partition, "a"), undefined, "readers see durable rows only");
  harness.crash();
  await harness.start();
  harness.held = null;
  t.equal(((await harness.ask(harness.to("counter", "a"), { type: "add", by: 1 } as never)) as number) > 0, true);
  const looked = settled(harness.runtime.ask(harness.to("counter", "z"), { type: "look", id: "b" } as never));
  void settled(harness.runtime.ask(harness.to("counter", "b"), { type: "add", by: 4 } as never));
  const later = settled(harness.runtime.ask(harness.to("counter", "y"), { type: "look", id: "b" } as never));
  await harness.advance();
  t.same(await looked, { value: null });
  t.same(await later, { value: { n: 4 } });
});

t.test("a turn reads its own writes, in ranges too", async (t) => {
  const harness = await started();
  await harness.ask(harness.to("counter", "a"), { type: "add", by: 1 } as never);
  await harness.ask(harness.to("counter", "c"), { type: "add", by: 9 } as never);
  t.same(await harness.ask(harness.to("counter", "q"), { type: "replace" }), [[1, 2], [2], [2], true]);
  t.same(await harness.ask(harness.to("counter", "q"), { type: "list" }), [{ n: 1 }, { n: 2 }]);
});

t.test("a turn that throws leaves nothing behind", async (t) => {
  const harness = await started();
  await harness.ask(harness.to("counter"), { type: "add", by: 1 } as never);
  await t.rejects(harness.ask(harness.to("counter"), { type: "spoil" }), TurnFailed);
  await harness.advance();
  t.same(counts.get(harness.durable, partition, "1"), { n: 1 });
  t.equal(counts.get(harness.durable, partition, "other"), undefined);
  t.equal(harness.runtime.feed.lastSeq(partition), 1);
  t.equal(await harness.ask(harness.to("counter"), { type: "add", by: 1 } as never), 2, "and the actor goes on");
});

t.test("a message that no transition takes changes nothing, and its asker is told", async (t) => {
  const harness = await started();
  await t.rejects(harness.ask(harness.to("counter"), { type: "unknown" }), NotAccepted);
  t.equal(harness.durable.get(cellKey(harness.to("counter"))), undefined);
  t.equal(harness.batches.length, 0);
  await t.rejects(harness.ask(harness.to("nobody"), { type: "add" }), NotAccepted);
});

t.test("a message that is taken without a reply is answered undefined", async (t) => {
  const harness = await started();
  t.equal(await harness.ask(harness.to("counter"), { type: "quiet" }), undefined);
});

t.test("rows are read and written in the own partition only, and written among rows only", async (t) => {
  const harness = await started();
  for (const where of [GLOBAL_PARTITION, "ws_2"]) {
    await t.rejects(harness.ask(harness.to("counter"), { type: "foreign", where } as never), TurnFailed);
    await t.rejects(harness.ask(harness.to("counter"), { type: "foreignRead", where } as never), TurnFailed);
    t.equal(counts.get(harness.durable, where, "x"), undefined);
  }
  for (const prefix of [[], [GLOBAL_PARTITION], ["ws_2", "row"]]) {
    await t.rejects(harness.ask(harness.to("counter"), { type: "foreignRange", prefix } as never), TurnFailed);
  }
  await t.rejects(harness.ask(harness.to("counter"), { type: "otherSpace" }), TurnFailed);
  const global = { partition: GLOBAL_PARTITION, kind: "counter", id: "1" };
  await harness.ask(global, { type: "foreign", where: GLOBAL_PARTITION } as never);
  t.equal(await harness.ask(global, { type: "foreignRange", prefix: [GLOBAL_PARTITION, "row"] } as never), 1);
});

t.test("a directory leads elsewhere with the batch of the turn that declares it", async (t) => {
  const harness = await started();
  await harness.ask(harness.to("counter"), { type: "direct" });
  t.same(leads.find(harness.durable, "x"), { n: 2 });
  t.equal(harness.batches.filter((batch) => batch.some(({ key }) => key[2] === leads.name)).length, 1);
  t.equal(harness.batches.length, 1);
  await harness.ask(harness.to("counter"), { type: "undirect" });
  t.equal(leads.find(harness.durable, "x"), undefined);
});

t.test("a key or a row that no store takes fails the turn, not the batch", async (t) => {
  const harness = await started();
  await t.rejects(harness.ask(harness.to("counter"), { type: "nothing" }), TurnFailed);
  for (const id of ["x".repeat(3000), "a\0b", "a\ud800", 0.5, -0, null]) {
    await t.rejects(harness.ask(harness.to("counter"), { type: "badKey", id } as never), TurnFailed);
  }
  await t.rejects(harness.ask(harness.to("counter", "x".repeat(3000)), { type: "quiet" }), { code: "key-too-long" });
  await t.rejects(harness.ask(harness.to("counter"), { type: "quiet" }, { messageId: "m".repeat(3000) }), {
    code: "key-too-long",
  });
  t.equal(await harness.ask(harness.to("counter"), { type: "add", by: 1 } as never), 1);
  t.same(harness.fatal, []);
});

t.test("what is no plain data is refused where tests and simulation look for it", async (t) => {
  const harness = await started();
  await t.rejects(harness.ask(harness.to("counter"), { type: "class" }), TurnFailed);
  await t.rejects(harness.ask(harness.to("counter"), { type: "code" }), TurnFailed);
});

t.test("a turn replies once", async (t) => {
  const harness = await started();
  await t.rejects(harness.ask(harness.to("counter"), { type: "twice" }), TurnFailed);
});

t.test("time, ids and chance come with the turn", async (t) => {
  const harness = await started();
  const given = await harness.ask(harness.to("counter"), { type: "chance" });
  t.match(given, { id: /^x_[0-9A-HJKMNP-TV-Z]{26}$/, bytes: 3 });
  const { random, now } = given as { random: number; now: number };
  t.ok(random >= 0 && random < 1);
  t.ok(now <= harness.world.nowMs);
  t.match(harness.runtime.newId("y"), /^y_/);
  t.equal(harness.runtime.randomBytes(5).length, 5);
});

t.test("a view is consistent and can be closed", async (t) => {
  const harness = await started();
  await harness.ask(harness.to("counter"), { type: "add", by: 1 } as never);
  const view = harness.runtime.view();
  t.same(counts.get(view, partition, "1"), { n: 1 });
  view.close();
});

t.test("stats tell turns, batches and crashes, and flush times once", async (t) => {
  const harness = await started();
  await harness.ask(harness.to("counter"), { type: "add", by: 1 } as never);
  await t.rejects(harness.ask(harness.to("counter"), { type: "spoil" }));
  const stats = harness.runtime.stats();
  t.match(stats, { turns: 2, batches: 1, crashes: 1, deadLetters: 0, cells: 1, mailboxDepth: 0, pendingEffects: 0 });
  t.equal(stats.flushSeconds.length, 1);
  t.same(harness.runtime.stats().flushSeconds, []);
});

t.test("what turns count is a figure of the process, as of the flush", async (t) => {
  const harness = await started();
  const counted = () => harness.runtime.stats().counters.get("counted");
  await t.rejects(harness.ask(harness.to("counter"), { type: "count", fails: true } as never), TurnFailed);
  t.equal(counted(), undefined);
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  const answer = harness.runtime.ask(harness.to("counter"), { type: "count" });
  await harness.advance();
  t.equal(counted(), undefined, "nothing before the flush");
  release();
  await harness.advance();
  await answer;
  t.equal(counted(), 2);
  harness.crash();
  await harness.start();
  t.equal(counted(), undefined, "a new process begins anew");
});

t.test("a report reaches the process once, after the flush, and none of a turn that throws does", async (t) => {
  const reports: unknown[] = [];
  const harness = new Harness({
    catalogue: { actors: [counter] },
    reported: ({ from, report }) => void reports.push([from.partition, from.kind, report.details.n]),
  });
  await harness.start();
  let release = () => {};
  harness.held = new Promise((resolve) => {
    release = resolve;
  });
  const to = harness.to("counter");
  const done = harness.runtime.ask(to, { type: "report", n: 1 } as never);
  const failed = settled(harness.runtime.ask(to, { type: "report", n: 2, fails: true } as never));
  await harness.advance();
  t.same(reports, [], "nothing is on disk yet");
  release();
  await harness.advance();
  await done;
  await failed;
  t.same(reports, [[partition, "counter", 1]]);
});
