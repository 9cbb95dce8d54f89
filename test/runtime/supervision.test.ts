import t from "tap";
import { topic } from "../../runtime/feeds/topic.js";
import { Overloaded, TurnFailed } from "../../runtime/runtime.js";
import { deadLetterSpace } from "../../storage/keys.js";
import { Harness, partition, settled } from "../support/harness.js";
import { type Note, probe } from "../support/probe.js";

/** Counts attempts outside the actor's state, so that a message can crash a few times and then succeed. */
const tries = new Map<string, number>();

const supervision = { attempts: 3, maxRestarts: 5, withinMs: 10_000, backoffMs: 20_000 };
const fragile = probe(
  "fragile",
  {
    frail: (context, { name, until }, turn) => {
      const tried = (tries.get(String(name)) ?? 0) + 1;
      tries.set(String(name), tried);
      turn.publishChange(topic<unknown>("fragile")("1"), "never seen");
      if (tried < Number(until)) throw new Error(`frail ${name}`);
      return { heard: [...((context.heard ?? []) as unknown[]), name] };
    },
    text: () => {
      throw "just text";
    },
    woken: () => {
      throw new Error("never awake");
    },
    wake: (_context, _message, turn) => turn.wake("a", turn.now),
    heard: ({ heard }, _message, turn) => turn.reply(heard ?? []),
  },
  { supervision },
);
const sender = probe("sender", {
  send: (_context, { messages }, turn) => {
    for (const message of messages as Note[]) turn.send({ partition, kind: "fragile", id: "1" }, message);
  },
});
const catalogue = { actors: [fragile, sender] };

function frail(name: string, until: number): Note {
  return { type: "frail", name, until };
}

async function started() {
  tries.clear();
  const harness = new Harness({ catalogue });
  await harness.start();
  const send = (...messages: Note[]) => harness.ask(harness.to("sender"), { type: "send", messages } as Note);
  const heard = () => harness.ask(harness.to("fragile"), { type: "heard" });
  return { harness, send, heard };
}

t.test("a message that crashes is tried again from the state before it, and the actor goes on", async (t) => {
  const { harness, send, heard } = await started();
  await send(frail("a", 1), frail("b", 3), frail("c", 1));
  t.same(await heard(), ["a", "b", "c"], "in order");
  t.equal(harness.runtime.stats().crashes, 2);
  t.equal(harness.runtime.feed.lastSeq(partition), 3, "what the crashed tries intended is gone");
});

t.test("a message that keeps crashing is set aside, can be read, and retried", async (t) => {
  const { harness, send, heard } = await started();
  await send(frail("a", 4), frail("b", 1));
  t.same(await heard(), ["b"]);
  const [letter, ...others] = harness.runtime.deadLetters.list(partition, 10);
  t.same(others, []);
  t.match(letter, {
    to: harness.to("fragile"),
    message: { type: "frail", name: "a" },
    error: "frail a",
    atMs: Number,
  });
  t.equal(harness.runtime.stats().deadLetters, 1);
  harness.crash();
  await harness.start();
  const id = letter?.id ?? "";
  const retried = harness.runtime.deadLetters.retry(partition, id);
  const twice = harness.runtime.deadLetters.retry(partition, id);
  await harness.advance();
  t.same(await Promise.all([retried, twice]), [true, false]);
  t.same(await heard(), ["b", "a"]);
  t.equal(await harness.runtime.deadLetters.retry(partition, id), false);
  t.same(harness.runtime.deadLetters.list(partition, 10), []);
});

t.test("a wake-up that keeps crashing is set aside like a message", async (t) => {
  const { harness } = await started();
  await harness.ask(harness.to("fragile"), { type: "wake" });
  await harness.advance();
  t.match(harness.runtime.deadLetters.list(partition, 10), [{ message: { type: "woken", name: "a" } }]);
});

t.test("an ask that crashes is told so, once, and leaves no dead letter", async (t) => {
  const { harness } = await started();
  await t.rejects(harness.ask(harness.to("fragile"), frail("a", 2)), TurnFailed);
  await t.rejects(harness.ask(harness.to("fragile"), { type: "text" }), TurnFailed);
  t.equal(tries.get("a"), 1);
  t.same(harness.durable.range({ prefix: [partition, deadLetterSpace] }), []);
  t.ok(harness.logged.length > 0);
  t.ok(
    harness.logged.every(({ details }) => !("message" in details)),
    "and no message in a log",
  );
});

t.test("an actor that crashes too often rests, across a restart, and keeps its mail", async (t) => {
  const { harness, send, heard } = await started();
  await send(frail("a", 99), frail("b", 99), frail("c", 1));
  await t.rejects(heard(), Overloaded);
  t.match(harness.runtime.stats(), { crashes: 6 });
  await send(frail("d", 1));
  harness.crash();
  await harness.start();
  await t.rejects(heard(), Overloaded);
  await harness.advance(20_000);
  t.same(await heard(), ["c", "d"]);
  t.equal(harness.runtime.deadLetters.list(partition, 10).length, 2);
});

t.test("those who wait for an actor that begins to rest are told", async (t) => {
  const { harness } = await started();
  const asks = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
    settled(harness.runtime.ask(harness.to("fragile"), frail(`x${n}`, 99))),
  );
  await harness.advance();
  const errors = (await Promise.all(asks)).map((outcome) => ("error" in outcome ? (outcome.error as Error).name : ""));
  t.same(errors, [...Array(6).fill("TurnFailed"), "Overloaded", "Overloaded"]);
});

t.test("crashes that lie far apart do not add up", async (t) => {
  const { harness, heard } = await started();
  for (let n = 0; n < 12; n++) {
    await t.rejects(harness.ask(harness.to("fragile"), frail(`x${n}`, 2)), TurnFailed);
    await harness.advance(3_000);
  }
  t.same(await heard(), []);
});

t.test("a message to a kind that this release does not know is set aside", async (t) => {
  const { harness, send } = await started();
  await send(frail("a", 99), frail("b", 99));
  await send(frail("late", 1));
  harness.crash();
  await harness.start({ actors: [sender] });
  await harness.advance(60_000);
  t.match(harness.runtime.deadLetters.list(partition, 10), [{}, {}, { message: { name: "late" } }]);
  const [letter] = harness.runtime.deadLetters.list(partition, 1);
  await t.rejects(harness.runtime.deadLetters.retry(partition, letter?.id ?? ""), /no actor kind/);
  await harness.ask(harness.to("sender"), { type: "send", messages: [] } as Note);
  t.equal(harness.runtime.deadLetters.list(partition, 10).length, 3, "it stays set aside");
});
