import t from "tap";
import { Overloaded } from "../../../runtime/runtime.js";
import { undeliveredSpace } from "../../../storage/keys.js";
import { table } from "../../../storage/table.js";
import { Harness, partition, settled } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";

const heard = table<{ readonly n: number }>("heard");

const sender = probe("sender", {
  burst: (_context, { count, to }, turn) => {
    for (let n = 1; n <= Number(count); n++) {
      turn.send({ partition, kind: "receiver", id: String(to ?? "1") }, { type: "hear", n } as Note);
    }
  },
  nobody: (_context, _message, turn) => turn.send({ partition, kind: "nobody", id: "1" }, { type: "hear" }),
  late: (_context, _message, turn) => turn.send({ partition, kind: "receiver", id: "1" }, { type: "too-late" }),
});
const receiver = probe("receiver", {
  hear: (context, { n }, turn) => {
    const order = [...((context.order ?? []) as number[]), Number(n)];
    heard.put(turn, partition, [turn.self.id, order.length], { n: Number(n) });
    return { order };
  },
  order: ({ order }, _message, turn) => turn.reply(order ?? []),
});
const catalogue = { actors: [sender, receiver] };

function counted(to: number): number[] {
  return Array.from({ length: to }, (_, index) => index + 1);
}

t.test("messages of one sender arrive in order, and leave no row when they are delivered in their batch", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await harness.ask(harness.to("sender"), { type: "burst", count: 5 } as Note);
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), counted(5));
  const touched = harness.batches.flat().filter(({ key }) => key[1] === undeliveredSpace);
  t.same(touched, []);
});

/** Steps the simulation until the store contains undelivered messages. */
async function stepUntilMailIsKept(harness: Harness): Promise<void> {
  for (let steps = 0; harness.durable.range({ prefix: [partition, undeliveredSpace] }).length === 0; steps++) {
    if (steps === 10_000) throw new Error("no message was kept");
    await harness.world.step();
  }
}

t.test("messages undelivered at the commit get a row, and survive a crash in order", async (t) => {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 2 } });
  await harness.start();
  harness.held = Promise.resolve();
  void settled(harness.runtime.ask(harness.to("sender"), { type: "burst", count: 6 } as Note));
  await stepUntilMailIsKept(harness);
  harness.crash();
  await harness.start();
  await harness.advance();
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), counted(6));
  t.same(harness.durable.range({ prefix: [partition, undeliveredSpace] }), [], "the rows are gone");
});

t.test("what is beyond a mailbox waits on disk, in order, and nothing is lost", async (t) => {
  const harness = new Harness({ catalogue, limits: { mailbox: 3 } });
  await harness.start();
  await harness.ask(harness.to("sender"), { type: "burst", count: 200 } as Note);
  await harness.ask(harness.to("sender"), { type: "burst", count: 5, to: "1" } as Note);
  await harness.advance(5_000);
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), [...counted(200), ...counted(5)]);
  t.same(harness.durable.range({ prefix: [partition, undeliveredSpace] }), []);
});

t.test("an ask beyond the mailbox is refused at once", async (t) => {
  const harness = new Harness({ catalogue, limits: { mailbox: 2 } });
  await harness.start();
  const asks = [1, 2, 3].map((n) => settled(harness.runtime.ask(harness.to("receiver"), { type: "hear", n } as Note)));
  await harness.advance();
  t.match(await Promise.all(asks), [{ value: undefined }, { value: undefined }, { error: Overloaded }]);
});

t.test("new mail does not overtake what an earlier process left", async (t) => {
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
  await harness.start();
  void settled(harness.runtime.ask(harness.to("sender"), { type: "burst", count: 3 } as Note));
  await stepUntilMailIsKept(harness);
  harness.crash();
  await harness.start();
  void settled(harness.runtime.ask(harness.to("sender"), { type: "burst", count: 2 } as Note));
  await harness.advance();
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), [1, 2, 3, 1, 2]);
});

t.test("a message to a kind that does not exist fails the turn; one that comes too late is dropped", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await t.rejects(harness.ask(harness.to("sender"), { type: "nobody" }), { name: "TurnFailed" });
  await harness.ask(harness.to("sender"), { type: "late" });
  t.equal(harness.runtime.stats().unhandled, 1);
  t.equal(harness.runtime.stats().crashes, 1);
});

t.test("a message id is taken once in a day, and again later", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  const hear = (n: number) => harness.ask(harness.to("receiver"), { type: "hear", n } as Note, { messageId: "m1" });
  await hear(1);
  await hear(2);
  harness.crash();
  await harness.start();
  t.equal(await hear(3), undefined);
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), [1]);
  t.same(
    await harness.ask(harness.to("receiver", "2"), { type: "order" }, { messageId: "m1" }),
    [],
    "of one actor only",
  );
  await harness.advance(24 * 3_600_000 + 60_000);
  await harness.ask(harness.to("receiver", "3"), { type: "order" });
  await hear(4);
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), [1, 4]);
});

t.test("a message that was refused was not taken under its id", async (t) => {
  const harness = new Harness({ catalogue });
  await harness.start();
  await t.rejects(harness.ask(harness.to("receiver"), { type: "unknown" }, { messageId: "m" }));
  await harness.ask(harness.to("receiver"), { type: "hear", n: 1 } as Note, { messageId: "m" });
  t.same(await harness.ask(harness.to("receiver"), { type: "order" }), [1]);
});
