import t from "tap";
import { recountBlobs } from "../../../actors/tables/blob-recount.js";
import { blobSweeperActor } from "../../../actors/tables/blob-sweeper.machine.js";
import { blobSweeperRef, findBlob, holdBlob, storeBlob, UNUSED_MS } from "../../../actors/tables/blobs.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message, Woken } from "../../../runtime/turns/turn.js";
import type { Writing } from "../../../storage/store.js";
import { Harness, partition, settled } from "../../support/harness.js";
import { desk, findText, papers, startMs, toDigest } from "../../support/papers.js";
import { probe } from "../../support/probe.js";
import { memoryRows, stepByHand, withTurn } from "../../support/turn.js";

const woken = (dueMs: number): Woken => ({ type: "woken", name: "sweep", dueMs });

const writtenBodies = (rows: Writing) => rows.range({ prefix: [partition, "row", "blob"] }).length;
t.test("a body is written once, under its workspace, however many rows refer to it", async (t) => {
  const { rows, write } = desk();
  write("a", ["diff", "talk"]);
  write("b", ["diff", "diff"]);
  t.equal(writtenBodies(rows), 2);
  t.equal(findText(rows, "diff"), "diff");
  t.equal(findBlob(rows, "ws_other", toDigest("diff")), undefined);
});

t.test("a row cannot refer to a body that is not stored", async (t) => {
  const rows = memoryRows();
  t.throws(
    () =>
      withTurn(
        address(partition, "desk", "1"),
        (turn) => papers.insert(turn, partition, { id: "a", bodies: [toDigest("never kept")] }),
        { rows },
      ),
    /was not kept/,
  );
});

t.test("the sweeper removes bodies without references for a day, and gets one message", async (t) => {
  const { rows, write, remove } = desk();
  const sweeper = stepByHand(blobSweeperActor, blobSweeperRef(partition), { rows, now: startMs });
  write("a", ["first", "second", "third"]);
  const told = write("a", ["third"]).sent;
  t.same(told, [{ to: blobSweeperRef(partition), message: { type: "blobs.unused" } }]);
  t.same(sweeper.take({ type: "blobs.unused" }).wakes, [{ name: "sweep", dueMs: startMs + UNUSED_MS }]);
  t.same(remove("a", startMs + 1_000).sent, []);
  write("b", ["second"], startMs + 2_000);

  sweeper.now = startMs + UNUSED_MS;
  t.same(sweeper.take(woken(sweeper.now)).wakes, [{ name: "sweep", dueMs: startMs + 1_000 + UNUSED_MS }]);
  t.equal(findText(rows, "first"), undefined);
  t.equal(findText(rows, "second"), "second", "it came back within the day, and was not written again");
  t.equal(findText(rows, "third"), "third");

  sweeper.now = startMs + 1_000 + UNUSED_MS;
  t.ok(sweeper.take(woken(sweeper.now)).stopped);
  t.equal(findText(rows, "third"), undefined);
  t.equal(remove("b", sweeper.now).sent.length, 1, "it is told of the next one");
});

t.test("a body that comes back within the day is not written again", async (t) => {
  const { rows, write, remove } = desk();
  write("a", ["diff"]);
  remove("a");
  const writes: string[] = [];
  const counting: Writing = {
    get: (key) => rows.get(key),
    range: (range) => rows.range(range),
    put: (key, value) => {
      writes.push(String(key[2]));
      rows.put(key, value);
    },
    remove: (key) => rows.remove(key),
  };
  desk(counting).write("b", ["diff"], startMs + 1_000);
  t.notOk(writes.includes("blob"));
  t.equal(findText(rows, "diff"), "diff");
});

t.test("many bodies are removed in slices", async (t) => {
  const { rows, write, remove } = desk();
  const sweeper = stepByHand(blobSweeperActor, blobSweeperRef(partition), { rows, now: startMs });
  write(
    "a",
    Array.from({ length: 120 }, (_, n) => `body ${n}`),
  );
  remove("a");
  sweeper.take({ type: "blobs.unused" });
  sweeper.now = startMs + UNUSED_MS;
  const left: number[] = [];
  for (let turns = 0; turns < 3; turns++) {
    sweeper.take(woken(sweeper.now));
    left.push(writtenBodies(rows));
  }
  t.same(left, [70, 20, 0]);
  t.equal(sweeper.value, "idle");
});

t.test("the sweeper does not remove a body with references, even if it is listed as unused", async (t) => {
  const { rows, write, remove } = desk();
  const sweeper = stepByHand(blobSweeperActor, blobSweeperRef(partition), { rows, now: startMs });
  write("a", ["diff"]);
  write("b", ["diff"]);
  rows.put([partition, "row", "blob-use", toDigest("diff")], { count: 1, unusedSinceMs: null });
  remove("a");
  sweeper.take({ type: "blobs.unused" });
  remove("b", startMs + 1);
  write("c", ["diff"], startMs + 2);
  sweeper.now = startMs + UNUSED_MS;
  sweeper.take(woken(sweeper.now));
  t.equal(findText(rows, "diff"), "diff");
  t.same(rows.range({ prefix: [partition, "row", "blob-unused"] }), []);
});

t.test("in the runtime, an unused body is removed a day later, also after a crash", async (t) => {
  const body = Buffer.from("a long diff");
  const writer = probe("writer", {
    write: (_context, _message, turn) => {
      papers.insert(turn, partition, { id: "a", bodies: [storeBlob(turn, partition, body)] });
    },
    remove: (_context, _message, turn) =>
      papers.remove(turn, partition, { id: "a", bodies: [toDigest("a long diff")] }),
  });
  const harness = new Harness({ catalogue: { actors: [writer, blobSweeperActor] } });
  await harness.start();
  await harness.ask(harness.to("writer"), { type: "write" });
  await harness.ask(harness.to("writer"), { type: "remove" });
  harness.crash();
  await harness.start();
  await harness.advance(UNUSED_MS - 10_000);
  const there = () => harness.runtime.reading.get<Uint8Array>([partition, "row", "blob", toDigest("a long diff")]);
  t.same(there() && Buffer.from(there() ?? []).toString(), "a long diff");
  await harness.advance(20_000);
  t.equal(there(), undefined);
});

t.test("a body that a later turn refers to is there for it, though it had been unused for a day by then", async (t) => {
  const { rows, write } = desk();
  const sweeper = stepByHand(blobSweeperActor, blobSweeperRef(partition), { rows, now: startMs });
  const self = address(partition, "desk", "1");
  const hold = (text: string, now: number) =>
    withTurn(self, (turn) => void holdBlob(turn, partition, Buffer.from(text)), { rows, now });
  write("a", ["skill", "used"]);
  write("a", ["used"]);
  sweeper.take({ type: "blobs.unused" });

  const beforeMs = startMs + UNUSED_MS - 1;
  hold("skill", beforeMs);
  hold("used", beforeMs);
  t.same(hold("new", beforeMs).sent, [], "the sweeper knows");
  sweeper.now = startMs + UNUSED_MS;
  t.same(sweeper.take(woken(sweeper.now)).wakes, [{ name: "sweep", dueMs: beforeMs + UNUSED_MS }]);
  t.same(
    ["skill", "new"].map((text) => findText(rows, text)),
    ["skill", "new"],
  );
  withTurn(self, (turn) => papers.insert(turn, partition, { id: "b", bodies: [toDigest("skill")] }), { rows });

  sweeper.now = beforeMs + UNUSED_MS;
  t.ok(sweeper.take(woken(sweeper.now)).stopped);
  t.equal(findText(rows, "skill"), "skill");
  t.equal(findText(rows, "new"), undefined, "nothing came to refer to it");
  t.equal(findText(rows, "used"), "used", "it never was unused");
});

const HOUR_MS = 60 * 60 * 1_000;

/** The writes in order: a paper, the bodies that it references from then on, and the hours that pass afterwards. */
const deeds: readonly { readonly id: string; readonly texts: readonly string[]; readonly hours: number }[] = [
  { id: "a", texts: ["one", "two"], hours: 1 },
  { id: "b", texts: ["one"], hours: 1 },
  { id: "a", texts: [], hours: 23 },
  { id: "c", texts: ["two", "three"], hours: 1 },
  { id: "b", texts: [], hours: 30 },
  { id: "d", texts: ["one"], hours: 1 },
  { id: "c", texts: ["three"], hours: 50 },
];

/** Performs the write that a message names: a paper's row and its bodies. */
const writer = probe("writer", {
  write: (_context, { n }, turn) => {
    const deed = deeds[Number(n)];
    if (deed === undefined) throw new Error("there is no such deed");
    const row = { id: deed.id, bodies: deed.texts.map((text) => storeBlob(turn, partition, Buffer.from(text))) };
    papers.put(turn, partition, papers.get(turn, partition, deed.id) ?? null, row);
  },
});

t.test("killed at any commit, counts are right, what is referred to is there, and the rest goes", async (t) => {
  let kills = 0;
  for (const when of ["before", "after"] as const) {
    for (let commit = 1, isKilled = true; isKilled; commit++) {
      const harness = new Harness({ catalogue: { actors: [writer, blobSweeperActor] } });
      harness.killAt = { commit, when };
      await harness.start();
      isKilled = false;
      for (const [n, { hours }] of deeds.entries()) {
        const write = () =>
          harness.ask(harness.to("writer"), { type: "write", n } as Message, { messageId: `deed ${n}` });
        const wasKilled = async () => {
          if (isKilled || harness.batches.length < commit) return;
          isKilled = true;
          harness.crash();
          harness.killAt = null;
          await harness.start();
        };
        await settled(write());
        await wasKilled();
        await write();
        await harness.advance(hours * HOUR_MS);
        await wasKilled();
      }
      await harness.advance(2 * HOUR_MS);
      const at = `killed ${when} commit ${commit}`;
      t.same([...recountBlobs(harness.durable, partition, { referring: [papers], nowMs: 0 })], [], at);
      const left = ["one", "two", "three"].filter((text) => harness.durable.get(blobKey(text)) !== undefined);
      t.same(left, ["one", "three"], at);
      t.same(harness.logged, [], at);
      kills += isKilled ? 1 : 0;
    }
  }
  t.ok(kills >= 2 * deeds.length, `${kills} kills`);
});

const blobKey = (text: string) => [partition, "row", "blob", toDigest(text)];

t.test("after days without a service, what was undelivered comes before the sweeper", async (t) => {
  const body = Buffer.from("a skill");
  const sender = probe("sender", {
    "let-go": (_context, _message, turn) => {
      const row = { id: "a", bodies: [storeBlob(turn, partition, Buffer.from("old"))] };
      papers.insert(turn, partition, row);
      papers.remove(turn, partition, row);
    },
    hold: (_context, _message, turn) => {
      const digest = holdBlob(turn, partition, body);
      turn.send(address(partition, "receiver", "1"), { type: "refer", digest } as Message);
    },
  });
  const receiver = probe("receiver", {
    refer: (_context, { digest }, turn) => papers.insert(turn, partition, { id: "b", bodies: [String(digest)] }),
  });
  const catalogue = { actors: [sender, receiver, blobSweeperActor] };
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
  // With this many partitions, a start finds due wake-ups before undelivered messages.
  const others = Array.from({ length: 300 }, (_, n) => ({ op: "put" as const, key: [`other_${n}`, "row"], value: n }));
  const filled = harness.disk.open().commit(others);
  await harness.advance();
  await filled;
  await harness.start();
  await harness.ask(harness.to("sender"), { type: "let-go" });
  await harness.advance();
  harness.killAt = { commit: harness.batches.length + 1, when: "after" };
  void settled(harness.runtime.ask(harness.to("sender"), { type: "hold" }));
  await harness.advance();
  harness.crash();
  harness.killAt = null;
  await harness.advance(3 * UNUSED_MS);
  await harness.start();
  await harness.advance(2 * UNUSED_MS);
  t.same(harness.logged, []);
  t.ok(harness.durable.get(blobKey("a skill")), "the row that came refers to it");
  t.equal(harness.durable.get(blobKey("old")), undefined, "what is not referred to goes all the same");
});
