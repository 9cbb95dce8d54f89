import fc from "fast-check";
import t from "tap";
import type { DeliveryRow } from "../../../../actors/integration-work/deliveries/delivery.js";
import { deliveryIntakeRef } from "../../../../actors/integration-work/deliveries/delivery.messages.js";
import { deliveries } from "../../../../actors/integration-work/deliveries/delivery.table.js";
import { findBody } from "../../../../actors/integration-work/deliveries/delivery-body.table.js";
import { deliveryKeys } from "../../../../actors/integration-work/deliveries/delivery-key.table.js";
import { deliveryGroups, groupedKeys } from "../../../../actors/integration-work/intake/delivery-group.table.js";
import type { IntakeContext } from "../../../../actors/integration-work/intake/delivery-intake.js";
import { resources } from "../../../../actors/resources/resource.table.js";
import { type CellRecord, cellKey } from "../../../../runtime/cells/cell-record.js";
import { readPastDamage } from "../../../../storage/past-damage.js";
import { deliveryWorld } from "../../../support/delivery-world.js";
import { intake } from "../../../support/intake-by-hand.js";
import { INTEGRATION, TEAM, WORKSPACE } from "../../../support/integration-rows.js";
import { memoryRows } from "../../../support/turn.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A burst ends after this time without deliveries. */
const RUSH_MS = 1_000;
const keysOf = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

/** Returns an intake with no free places, and deliveries that then arrived together. */
function waiting(keys: readonly (string | null)[] = keysOf("k", 10), changes: Readonly<Record<number, object>> = {}) {
  const world = intake();
  const placed = world.takeAll(keysOf("placed", 8));
  const ids = world.takeAll(keys, changes);
  const groups = () => deliveryGroups.list(world.rows, WORKSPACE, [INTEGRATION]).map(({ members }) => members.length);
  const hasRow = (id: string) => world.rows.get(deliveries.key(WORKSPACE, INTEGRATION, id)) !== undefined;
  const read = (id = "") => deliveries.get(world.rows, WORKSPACE, INTEGRATION, id);
  const keyRows = () => deliveryKeys.list(world.rows, WORKSPACE, [INTEGRATION]).length;
  return { ...world, placed, ids, groups, hasRow, read, keyRows };
}

t.test("those that come together and wait are one row, and are read as if each had its own", async (t) => {
  const { rows, groups, ids, read, hasRow, stored, keyRows } = waiting();
  t.same([groups(), keyRows(), ids.filter(hasRow)], [[10], 8, []]);
  t.same(
    stored()
      .slice(8)
      .map(({ id, key, state, receivedAt, body }) => [id, key, state, receivedAt, body?.bytes]),
    ids.map((id, n) => [id, `k${n}`, "accepted", "2026-01-01T00:00:00.000Z", 2]),
  );
  const row = read(ids[3]);
  t.match(row, { id: ids[3], integrationId: INTEGRATION, teamId: TEAM, key: "k3", repeated: 0, block: "webhook" });
  t.same(row === undefined ? null : Buffer.from(findBody(rows, WORKSPACE, row) ?? []).toString(), "k3");
  t.equal(read("dlv_none"), undefined);
  t.equal(deliveries.get(rows, WORKSPACE, "itg_other", ids[3] ?? ""), undefined);
});

t.test("once the first of them has a place each has its row, body and key", async (t) => {
  const { actor, end, placed, ids, groups, hasRow, stored, keyRows, rows } = waiting();
  const before = stored().map(({ id, key, receivedAt, body }) => [id, key, receivedAt, body?.bytes]);
  actor.now += RUSH_MS;
  end(placed[0] ?? "");
  t.same([groups(), keyRows(), ids.every(hasRow)], [[], 18, true]);
  t.same(
    stored().map(({ id, key, receivedAt, body }) => [id, key, receivedAt, body?.bytes]),
    before,
  );
  t.same(groupedKeys.list(rows, WORKSPACE), []);
});

t.test("one that comes again is counted: in its message, while it waits, and after that", async (t) => {
  const { actor, takeAll, answers, ids, groups, read, end, placed } = waiting(["a", "b", "c", "d", "a", null, null]);
  t.same(groups(), [6]);
  t.same(
    answers().map((answer) => "isRepeated" in answer && answer.isRepeated),
    [false, false, false, false, true, false, false],
  );
  t.equal(ids[4], ids[0]);
  t.equal(read(ids[0])?.repeated, 1);
  takeAll(["b", "a", "b"]);
  t.match(answers(), [
    { id: ids[1], isRepeated: true },
    { id: ids[0], isRepeated: true },
  ]);
  const repeated = () => ids.slice(0, 4).map((id) => read(id)?.repeated);
  t.same([groups(), repeated()], [[6], [2, 2, 0, 0]]);
  actor.now += RUSH_MS;
  end(placed[0] ?? "");
  t.same([groups(), repeated()], [[], [2, 2, 0, 0]]);
  takeAll(["c", "a"]);
  t.match(answers(), [{ id: ids[2], isRepeated: true }]);
  t.same(repeated(), [3, 2, 1, 0]);
});

t.test("too few for a group are counted as well, in their message and after it", async (t) => {
  const { takeAll, answers, ids, groups, read } = waiting(["a", "b", "a"]);
  t.same([groups(), read(ids[0])?.repeated], [[], 1]);
  takeAll(["a"]);
  t.match(answers(), [{ id: ids[0], isRepeated: true }]);
  t.equal(read(ids[0])?.repeated, 2);
});

t.test("a key counts for seven days from its arrival, over a week's end too", async (t) => {
  const { actor, takeAll, answers, ids, end, placed, groups } = waiting();
  const isTaken = (...keys: string[]) => {
    takeAll(keys);
    return answers().map((answer) => "isRepeated" in answer && !answer.isRepeated);
  };
  t.equal(actor.now % (7 * DAY_MS), 0, "a week begins");
  actor.now += 7 * DAY_MS - RUSH_MS;
  end(placed[0] ?? "");
  t.same(groups(), []);
  t.same(isTaken("k1", "k2"), [false, false]);
  t.match(answers(), [{ id: ids[1] }, { id: ids[2] }]);
  actor.now += RUSH_MS - 1;
  t.same(isTaken("k1"), [false]);
  actor.now += 1;
  t.same(isTaken("k1", "other"), [true, true]);
});

t.test("keys that wait over a week's end count, where none of that week is stored", async (t) => {
  const { actor, takeAll, answers, end } = intake();
  actor.now = 7 * DAY_MS * (Math.floor(actor.now / (7 * DAY_MS)) + 1) - RUSH_MS;
  const placed = takeAll(Array(8).fill(null));
  takeAll(keysOf("k", 6));
  actor.now += RUSH_MS;
  takeAll(["new"]);
  actor.now += RUSH_MS;
  for (const each of placed) end(each);
  takeAll(["k0", "k1", "k2", "new"]);
  t.ok(answers().every((answer) => "isRepeated" in answer && answer.isRepeated));
});

t.test("a key of one that failed is taken again once it is gone, also where it waited over a week's end", async (t) => {
  const { actor, take, ids, end, placed } = waiting();
  actor.now = (Math.floor(actor.now / (7 * DAY_MS)) + 1) * 7 * DAY_MS - RUSH_MS;
  for (const each of placed) end(each);
  actor.now += RUSH_MS / 2;
  for (const each of ids.slice(0, 9)) end(each, each === ids[0] ? "failed" : "done");
  actor.restore("taking", { ...actor.context<IntakeContext>(), ended: 10_000 });
  end(ids[9] ?? "");
  t.match(take("k0").answer, { isRepeated: false });
  t.match(take("k1").answer, { id: ids[1], isRepeated: true });
});

t.test("few have rows, and so have those with more to tell than most", async (t) => {
  t.same(waiting(keysOf("k", 3)).groups(), []);
  const more = {
    0: { causes: ["evt_1"] },
    1: { body: Buffer.alloc(64 * 1024) },
    2: { keyProblem: "no such key" },
    3: { body: Buffer.alloc(64 * 1024 - 1) },
  };
  const { actor, groups, ids, hasRow, read, end, placed, rows } = waiting(keysOf("k", 8), more);
  t.same([groups(), ids.map(hasRow)], [[5], [true, true, true, false, false, false, false, false]]);
  actor.now += RUSH_MS;
  for (const one of placed.slice(0, 4)) end(one);
  const long = read(ids[3]);
  t.match(long, { body: { bytes: 64 * 1024 - 1, digest: null, content: undefined } });
  t.equal(long === undefined ? 0 : findBody(rows, WORKSPACE, long)?.length, 64 * 1024 - 1);
});

t.test("groups go with their integration", async (t) => {
  const { actor, rows, takeAll } = waiting();
  for (let count = 0; count < 9; count++) takeAll(keysOf(`more${count}-`, 4));
  const integration = resources.get(rows, WORKSPACE, "integration", INTEGRATION);
  if (integration !== undefined) resources.remove(rows, WORKSPACE, "integration", INTEGRATION);
  actor.take({ type: "intake.check" } as never);
  let isOver = false;
  for (let turns = 0; !isOver; turns++) {
    t.ok(turns < 20, "it ends");
    isOver = actor.take({ type: "woken", name: "clear", dueMs: actor.now } as never).stopped;
  }
  const left = rows.range({ prefix: [WORKSPACE, "row"] }).map(({ key }) => String(key[2]));
  t.same(
    left.filter((name) => name.startsWith("delivery")),
    [],
  );
});

for (const table of [deliveryGroups, groupedKeys]) {
  t.test(`of a damaged row of ${table.name} nobody but its members suffers`, async (t) => {
    const world = await deliveryWorld({ webhook: { events: [{ raise: {} }] } });
    const { harness } = world;
    const send = (keys: readonly string[]) => world.sendTogether(keys.map((key) => ({ key })));
    const first = send(keysOf("p", 20)).catch(() => undefined);
    const stored = () => table.entries(harness.durable, WORKSPACE, [INTEGRATION]).map(({ key }) => key);
    for (let ms = 0; stored().length === 0; ms++) {
      t.ok(ms < 200, "a group is stored");
      await harness.advance(1);
    }
    harness.crash();
    const members = deliveryGroups.list(harness.durable, WORKSPACE, [INTEGRATION]).flatMap(({ members }) => members);
    for (const key of stored()) harness.disk.damaged.add(JSON.stringify(key));
    await harness.start();
    await harness.advance(10_000);
    const late = send(["late1", "late2", "late3", "late4"]);
    await harness.advance(60_000);
    t.match(await late, [{ isRepeated: false }, { isRepeated: false }, { isRepeated: false }, { isRepeated: false }]);
    const read = [...deliveries.rows(readPastDamage(harness.durable), WORKSPACE)];
    t.same(read.filter(({ state }) => state !== "done").length, 0, "none waits");
    t.equal(read.filter(({ key }) => key?.startsWith("late")).length, 4);
    t.equal(read.length, 24 - (table === deliveryGroups ? members.length : 0));
    t.equal(deliveries.get(harness.durable, WORKSPACE, INTEGRATION, "dlv_zzz"), undefined);
    const intake = harness.durable.get<CellRecord>(cellKey(deliveryIntakeRef(WORKSPACE, INTEGRATION)));
    t.match(intake?.state?.context, { backlog: 0, queued: 0 });
    if (table === deliveryGroups) t.same(groupedKeys.list(harness.durable, WORKSPACE), []);
    const again = send(["p15"]);
    await harness.advance(60_000);
    t.match(await again, [{ isRepeated: true }], "its key counts, as others do");
    await first;
  });
}

/** Generates deliveries with two-character ids, of two integrations; some are members of groups. */
const stored = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: 10, max: 60 }), fc.boolean()), {
    maxLength: 40,
    selector: ([integration, id]) => `${integration}${id}`,
  })
  .chain((ids) => fc.tuple(fc.constant(ids), fc.integer({ min: 1, max: 5 })));

const bound = fc.option(fc.integer({ min: 5, max: 65 }), { nil: undefined });
const asked = fc.record({
  integration: fc.constantFrom("a", "b"),
  after: bound,
  before: bound,
  limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  reverse: fc.boolean(),
});

t.test("whatever range is read, the members of groups stand where their own rows would", async (t) => {
  const group = { teamId: "team", block: "webhook", receivedAt: "2026-01-01T00:00:00.000Z" } as const;
  const rowOf = (integrationId: string, id: number): DeliveryRow => {
    const rows = memoryRows();
    const members = [[String(id), null, {}, Buffer.from("x")]] as const;
    deliveryGroups.put(rows, "w", [integrationId, String(id)], { ...group, members });
    const row = deliveries.get(rows, "w", integrationId, String(id));
    if (row === undefined) throw new Error("it is read");
    return row;
  };
  fc.assert(
    fc.property(stored, fc.array(asked, { minLength: 1, maxLength: 8 }), ([ids, size], reads) => {
      const [some, each] = [memoryRows(), memoryRows()];
      for (const [integration, id] of ids) deliveries.insert(each, "w", rowOf(integration, id));
      for (const of of ["a", "b"]) {
        const own = ids.filter(([integration]) => integration === of).sort((left, right) => left[1] - right[1]);
        for (const [integration, id, isAlone] of own) if (isAlone) deliveries.insert(some, "w", rowOf(integration, id));
        const members = own.filter(([, , isAlone]) => !isAlone).map(([, id]) => String(id));
        for (let from = 0; from < members.length; from += size) {
          const these = members.slice(from, from + size).map((id) => [id, null, {}, Buffer.from("x")] as const);
          deliveryGroups.put(some, "w", [of, these[0]?.[0] ?? ""], { ...group, members: these });
        }
      }
      const idsOf = (rows: readonly DeliveryRow[]) => rows.map(({ integrationId, id }) => `${integrationId}${id}`);
      for (const { integration, after, before, limit, reverse } of reads) {
        const page = {
          ...(after === undefined ? {} : { after: [integration, String(after)] }),
          ...(before === undefined ? {} : { before: [integration, String(before)] }),
          ...(limit === undefined ? {} : { limit }),
          reverse,
        };
        for (const under of [[integration], []]) {
          const [found, wanted] = [some, each].map((rows) => idsOf(deliveries.list(rows, "w", under, page)));
          t.strictSame(found, wanted);
        }
        const at = { before: before === undefined ? undefined : [String(before)], limit: limit ?? 100, cursor: null };
        const [found, wanted] = [some, each].map((rows) =>
          idsOf(deliveries.page(rows, "w", { integrationId: integration, state: "accepted" }, at).rows),
        );
        t.strictSame(found, wanted);
      }
      t.strictSame(idsOf([...deliveries.rows(some, "w")]), idsOf([...deliveries.rows(each, "w")]));
    }),
    { numRuns: 150 },
  );
});
