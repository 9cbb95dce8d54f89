import t from "tap";
import { ownedBy, releaseRows } from "../../../actors/tables/owned-rows.js";
import { getPrunedBefore } from "../../../actors/tables/pruned-before.js";
import { RETENTION_TURN, retentionEffect } from "../../../actors/tables/retention.effects.js";
import { defaultRetention, type Retained, retain } from "../../../actors/tables/retention.js";
import { retentionRef, retentionSweeperActor } from "../../../actors/tables/retention-sweeper.machine.js";
import type { EffectEnded, Turn, Woken } from "../../../runtime/turns/turn.js";
import type { Reading, Writing } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { Harness, partition } from "../../support/harness.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";

interface Thing {
  readonly id: string;
  readonly begunMs: number;
  readonly endedMs: number | null;
  readonly kept?: boolean;
}

const HOUR_MS = 60 * 60 * 1_000;
const startMs = Date.parse("2026-01-01T00:00:00.000Z");
const things = table<Thing>("test-thing");
const parts = table<string>("test-thing-part");
const sorted = table<Thing>("test-thing-sorted");
const removeThing = (turn: Turn, { id }: Thing) => {
  things.remove(turn, turn.self.partition, id);
  releaseRows(turn, things.name, id);
  return true;
};
const ends: Omit<Retained<Thing>, "remove"> = {
  period: "work",
  startedAtMs: ({ begunMs }) => begunMs,
  endedAtMs: ({ endedMs }) => endedMs,
  isRetained: (_turn, { kept }) => kept === true,
};
const catalogue = {
  rules: [
    retain(things, { ...ends, remove: removeThing }),
    retain(sorted, {
      ...ends,
      lineParts: 1,
      remove: (turn, { id }) => {
        sorted.remove(turn, partition, ...id.split(" "));
        return true;
      },
    }),
  ],
  owned: [ownedBy(things.name, parts)],
};
const actor = retentionSweeperActor(catalogue, { ...defaultRetention, work: 10 * HOUR_MS });
const atPlace: EffectEnded = {
  type: "effect.ended",
  effect: RETENTION_TURN.name,
  id: "turn",
  result: { ok: true, output: null },
};
const woken = (dueMs: number): Woken => ({ type: "woken", name: "pass", dueMs });

function put(
  rows: Writing,
  id: string,
  begunHours: number,
  endedHours: number | null,
  more: Partial<Thing> = {},
): void {
  const thing = {
    id,
    begunMs: startMs + begunHours * HOUR_MS,
    endedMs: endedHours === null ? null : startMs + endedHours * HOUR_MS,
  };
  things.put(rows, partition, id, { ...thing, ...more });
}

const prunedBefore = (reading: Reading, name = things.name, nowMs = startMs + 20 * HOUR_MS) =>
  getPrunedBefore(reading, partition, { name, nowMs });
const listIds = (reading: Reading) => things.list(reading, partition).map(({ id }) => id);

/** Runs a whole pass; returns its number of slices. */
function pass(sweeper: Stepping): number {
  sweeper.take(woken(sweeper.now));
  for (let slices = 0; ; slices++) {
    sweeper.take(atPlace);
    if (sweeper.value === "resting") return slices;
  }
}

function sweeperOver(rows: Writing): Stepping {
  const sweeper = stepByHand(actor, retentionRef(partition), { rows, now: startMs + 20 * HOUR_MS });
  sweeper.take({ type: "retention.begin" });
  return sweeper;
}

t.test("what ended longer ago than the setting goes with all that belongs to it, and nothing else", async (t) => {
  const rows = memoryRows();
  put(rows, "a", 0, 9);
  put(rows, "b", 1, 11);
  put(rows, "c", 2, null);
  put(rows, "d", 3, 4, { kept: true });
  put(rows, "e", 4, 5);
  put(rows, "f", 11, 12);
  for (const id of ["a", "b", "e"]) for (let n = 0; n < 3; n++) parts.put(rows, partition, [id, n], `${n}`);
  t.equal(prunedBefore(rows), null, "nothing was removed");
  const sweeper = sweeperOver(rows);
  pass(sweeper);
  t.same(listIds(rows), ["b", "c", "d", "f"]);
  t.same(
    parts.entries(rows, partition).map(({ key }) => key.slice(3)),
    [0, 1, 2].map((n) => ["b", n]),
  );
  t.equal(prunedBefore(rows), "2026-01-01T10:00:00.000Z");
  t.equal(prunedBefore(rows, sorted.name), null);
  sweeper.now += 2 * HOUR_MS;
  pass(sweeper);
  t.same(listIds(rows), ["c", "d", "f"], "the next pass finds what ended since");
});

t.test(
  "a clock that was ahead leaves no time of the future: what is gone is said up to now, and no further",
  async (t) => {
    const rows = memoryRows();
    put(rows, "a", 0, 100);
    const sweeper = sweeperOver(rows);
    sweeper.now += 120 * HOUR_MS;
    pass(sweeper);
    t.same([listIds(rows), prunedBefore(rows, things.name, sweeper.now)], [[], "2026-01-06T10:00:00.000Z"]);
    sweeper.now -= 120 * HOUR_MS;
    t.equal(prunedBefore(rows), "2026-01-01T20:00:00.000Z", "at once");
    put(rows, "b", 21, 22);
    pass(sweeper);
    sweeper.now += 5 * HOUR_MS;
    t.equal(prunedBefore(rows, things.name, sweeper.now), "2026-01-01T20:00:00.000Z", "what ended since is there");
    sweeper.now += 10 * HOUR_MS;
    pass(sweeper);
    t.same([listIds(rows), prunedBefore(rows, things.name, sweeper.now)], [[], "2026-01-02T01:00:00.000Z"]);
  },
);

t.test(
  "what began once a clock, years ahead, was put right is over in its time, and so is what came before",
  async (t) => {
    const rows = memoryRows();
    put(rows, "a", 0, 1);
    for (let n = 0; n < 40; n++) put(rows, `b${100 + n}`, 50_000 + n, 50_000 + n);
    put(rows, "c", 2, 3);
    put(rows, "d", 12, 13);
    const sweeper = sweeperOver(rows);
    pass(sweeper);
    const future = Array.from({ length: 40 }, (_, n) => `b${100 + n}`);
    t.same(listIds(rows), [...future, "d"]);
    sweeper.now += 10 * HOUR_MS;
    pass(sweeper);
    t.same(listIds(rows), future, "they are stored until their own time is over");
    sweeper.now = startMs + 50_050 * HOUR_MS;
    pass(sweeper);
    t.same(listIds(rows), []);
  },
);

t.test("a slice is bounded in rows and in bytes, and a pass goes on where the last one ended", async (t) => {
  const many = memoryRows();
  for (let n = 0; n < 300; n++) put(many, `t${1_000 + n}`, 0, 1);
  for (let n = 0; n < 300; n++) parts.put(many, partition, ["t1000", n], "part");
  const sweeper = sweeperOver(many);
  sweeper.take(woken(sweeper.now));
  sweeper.take(atPlace);
  t.equal(listIds(many).length, 300 - 128);
  t.ok(pass(sweeperOver(many)) <= 10);
  t.same([listIds(many), parts.list(many, partition)], [[], []]);
  const large = memoryRows();
  for (let n = 0; n < 20; n++) parts.put(large, partition, ["a", n], "x".repeat(300_000));
  put(large, "a", 0, 1);
  const next = sweeperOver(large);
  next.take(woken(next.now));
  next.take(atPlace);
  next.take(atPlace);
  t.equal(parts.list(large, partition).length, 4, "16 are read at once");
});

t.test("each line of a table is walked as far as it is old", async (t) => {
  const rows = memoryRows();
  for (const line of ["x", "y", "z"])
    for (let n = 0; n < 40; n++) {
      const begunMs = startMs + n * HOUR_MS;
      sorted.put(rows, partition, [line, `${100 + n}`], { id: `${line} ${100 + n}`, begunMs, endedMs: begunMs });
    }
  pass(sweeperOver(rows));
  t.equal(sorted.list(rows, partition).length, 3 * 30);
});

t.test("a pass whose turn never came goes on with the next rule, and a rule that is gone begins anew", async (t) => {
  const rows = memoryRows();
  const sweeper = sweeperOver(rows);
  sweeper.take(woken(sweeper.now));
  t.match(sweeper.context(), { at: { rule: "test-thing", from: null }, isMoving: true });
  sweeper.take(woken(sweeper.now));
  t.match(sweeper.context(), { at: { rule: "test-thing", from: null }, isMoving: false });
  const { started, cancelledEffects } = sweeper.take(woken(sweeper.now));
  t.match(sweeper.context(), { at: { rule: "test-thing-sorted", from: null }, isMoving: false });
  t.same([started.length, cancelledEffects.length], [1, 1]);
  t.not(started[0]?.id, cancelledEffects[0]);
  sweeper.restore("sweeping", { at: { rule: "of-another-release", from: null }, isMoving: true });
  sweeper.take(atPlace);
  t.match(sweeper.context(), { at: { rule: "test-thing", from: null }, isMoving: true });
});

t.test("workspaces take turns, a slice each", async (t) => {
  const harness = new Harness({ catalogue: {} });
  const catalogue = { actors: [actor], effects: [retentionEffect({ clock: harness.world.clock })] };
  const workspaces = ["ws_1", "ws_2", "ws_3"];
  const rows: Writing = memoryRows();
  const now = harness.world.clock.now();
  for (const workspace of workspaces)
    for (let n = 0; n < 600; n++)
      things.put(rows, workspace, `t${1_000 + n}`, { id: `t${1_000 + n}`, begunMs: now, endedMs: now });
  const written = rows.range({ prefix: [] });
  const stored = harness.disk.open().commit(written.map(({ key, value }) => ({ op: "put", key, value }) as const));
  await harness.advance();
  await stored;
  await harness.start(catalogue);
  for (const workspace of workspaces) await harness.ask(retentionRef(workspace), { type: "retention.begin" });
  // Keep the service down until the passes of all workspaces are due, so that they start at once.
  harness.crash();
  await harness.advance(20 * HOUR_MS);
  harness.batches.length = 0;
  await harness.start(catalogue);
  await harness.advance(HOUR_MS / 2);
  const removed = new Map(workspaces.map((workspace) => [workspace, 0]));
  let most = 0;
  for (const batch of harness.batches) {
    for (const { op, key } of batch) {
      const workspace = String(key[0]);
      if (op === "remove" && key[2] === things.name) removed.set(workspace, (removed.get(workspace) ?? 0) + 1);
    }
    most = Math.max(most, Math.max(...removed.values()) - Math.min(...removed.values()));
  }
  t.same([...removed.values()], [600, 600, 600]);
  t.ok(most <= 128, `none is more than a slice ahead: ${most} rows`);
  t.same(
    workspaces.flatMap((workspace) => things.list(harness.durable, workspace)),
    [],
  );
  harness.crash();
});

t.test("killed at every commit, a pass removes what is over and leaves nothing behind", async (t) => {
  for (const when of ["before", "after"] as const)
    for (let commit = 1; commit <= 12; commit++) {
      const harness = new Harness({ catalogue: {} });
      const effects = [retentionEffect({ clock: harness.world.clock })];
      const rows: Writing = memoryRows();
      const now = harness.world.clock.now();
      for (let n = 0; n < 200; n++) {
        things.put(rows, partition, `t${1_000 + n}`, {
          id: `t${1_000 + n}`,
          begunMs: now,
          endedMs: n === 7 ? null : now,
        });
        parts.put(rows, partition, [`t${1_000 + n}`, 1], "part");
      }
      const written = rows.range({ prefix: [partition] });
      const stored = harness.disk.open().commit(written.map(({ key, value }) => ({ op: "put", key, value }) as const));
      await harness.advance();
      await stored;
      await harness.start({ actors: [actor], effects });
      harness.killAt = { commit, when };
      void harness.runtime.ask(retentionRef(partition), { type: "retention.begin" }).catch(() => undefined);
      await harness.advance(12 * HOUR_MS);
      harness.crash();
      harness.killAt = null;
      await harness.start({ actors: [actor], effects });
      await harness.ask(retentionRef(partition), { type: "retention.begin" });
      await harness.advance(2 * HOUR_MS);
      const left = [listIds(harness.durable), parts.list(harness.durable, partition)];
      t.same(left, [["t1007"], ["part"]], `${when} commit ${commit}`);
      harness.crash();
    }
});
