import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { migrations } from "../../../../actors/catalogue.js";
import type { DeliveryRow } from "../../../../actors/integration-work/deliveries/delivery.js";
import { deliveryIntakeRef } from "../../../../actors/integration-work/deliveries/delivery.messages.js";
import { deliveries } from "../../../../actors/integration-work/deliveries/delivery.table.js";
import { deliveryKeys } from "../../../../actors/integration-work/deliveries/delivery-key.table.js";
import type { IntakeContext } from "../../../../actors/integration-work/intake/delivery-intake.js";
import { deliveryIntakeActor } from "../../../../actors/integration-work/intake/delivery-intake.machine.js";
import { type CellRecord, cellKey } from "../../../../runtime/cells/cell-record.js";
import { createIdentities } from "../../../../runtime/turns/ids.js";
import { compareKeys } from "../../../../storage/key-order.js";
import { openLmdbStore } from "../../../../storage/lmdb-store.js";
import type { Change, Entry, Store } from "../../../../storage/store.js";
import { deliveryWorld } from "../../../support/delivery-world.js";
import { intake } from "../../../support/intake-by-hand.js";
import { expr } from "../../../support/integration.js";
import { INTEGRATION, TEAM, WORKSPACE } from "../../../support/integration-rows.js";
import { bringUp, bringUpThroughKills, collectEntries, stepped, storeWith } from "../../../support/migrating.js";
import { RawStore } from "../../../support/raw-store.js";
import { memoryRows, seededBytes, type TurnTaken } from "../../../support/turn.js";

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
/** A time at which a period of keys starts. */
const BOUNDARY_MS = Date.parse("2026-01-01T00:00:00.000Z");
/** The last format with groups. */
const FORMAT = 14;
/** The migrations up to the migration that replaces groups. */
const steps = migrations.filter(({ to }) => to <= FORMAT + 1);
/**
 * Number of ids of queued deliveries that the earlier release stored in the intake's state. The release stored all
 * further ids in rows.
 */
const UPCOMING = 32;
const headers = { "content-type": "application/json" };

interface Member {
  readonly id: string;
  readonly key: string | null;
  readonly content: Buffer;
  readonly repeated: number;
}
interface Group {
  readonly atMs: number;
  readonly members: readonly Member[];
}

const timeText = (ms: number) => new Date(ms).toISOString();

/**
 * Returns groups of 4 to 32 deliveries that arrive within an hour before `untilMs`. Each body has the number of its
 * delivery.
 */
function listGroups(count: number, untilMs: number): readonly Group[] {
  const groups: Group[] = [];
  let atMs = untilMs - 60 * MINUTE_MS;
  const { newId } = createIdentities(() => atMs, seededBytes(1));
  for (let n = 0; n < count; atMs += 4_000) {
    const size = Math.min(4 + ((groups.length * 5) % 29), count - n);
    const members = Array.from({ length: size }, (_, index): Member => {
      const nr = n + index;
      const pad = nr % 2_500 === 7 ? 60 * 1024 : nr % 250 === 3 ? 5_000 : nr % 250;
      const key = nr % 5 === 4 ? null : `key ${nr}`;
      const content = Buffer.from(JSON.stringify({ nr, pad: "x".repeat(pad) }));
      return { id: newId("dlv"), key, content, repeated: key !== null && nr % 7 === 0 ? 1 + (nr % 3) : 0 };
    });
    groups.push({ atMs, members });
    n += size;
  }
  return groups;
}

/** Returns the rows of groups and of the queue, as the earlier release wrote them. */
function toStoredGroups(groups: readonly Group[]): readonly Entry[] {
  let queued = 0;
  return groups.flatMap(({ atMs, members }) => {
    const rowAt = (table: string, first: string, value: unknown): Entry => {
      return { key: [WORKSPACE, "row", table, INTEGRATION, first], value };
    };
    const [{ id: first }] = members as [Member];
    const stored = members.map(({ id, key, content }) => [id, key, headers, content]);
    const keys = members.flatMap(({ id, key, repeated }) => (key === null ? [] : [[key, id, repeated]]));
    const later = members.slice(Math.max(0, UPCOMING - queued)).map(({ id }) => id);
    queued += members.length;
    return [
      rowAt("delivery-group", first, { teamId: TEAM, block: "webhook", receivedAt: timeText(atMs), members: stored }),
      ...(keys.length === 0 ? [] : [rowAt("delivery-group-keys", first, keys)]),
      ...later.slice(0, 1).map((next) => rowAt("delivery-queued", next, later)),
    ];
  });
}

/**
 * Returns the intake that the earlier release stored during a flood. No delivery gets a slot before the wake-up
 * `places`.
 */
function toStoredIntake(members: readonly Member[], nowMs: number): readonly Entry[] {
  const bytes = members.reduce((sum, { content }) => sum + content.length, 0);
  const timers = { places: nowMs + 175, watch: nowMs + 10 * MINUTE_MS, sweep: nowMs + 24 * 60 * MINUTE_MS };
  const context = {
    backlog: members.length,
    backlogBytes: bytes,
    ended: 0,
    bytes,
    bodiesAfter: null,
    working: [],
    queued: members.length,
    upcoming: members.slice(0, UPCOMING).map(({ id }) => id),
    watches: true,
    sweepAtMs: timers.sweep,
    periods: [],
    arrivals: {
      rush: { fromMs: nowMs, count: 0, untilMs: nowMs + 100 },
      flood: { fromMs: nowMs, count: 0, untilMs: nowMs + 150 },
    },
    pacedUntilMs: nowMs + 25,
    willGivePlaces: true,
    keysFrom: null,
  };
  const ref = deliveryIntakeRef(WORKSPACE, INTEGRATION);
  const record = { version: 2, state: { value: "taking", context }, timers } satisfies CellRecord;
  const toTimer = ([name, dueMs]: readonly [string, number]): Entry => {
    return { key: ["~", "timer", dueMs, WORKSPACE, ref.kind, INTEGRATION, name], value: nowMs };
  };
  return [{ key: cellKey(ref), value: record }, ...Object.entries(timers).map(toTimer)];
}

/** A queued delivery as the product writes it on arrival. */
function toRow({ atMs }: Group, { id, key, content, repeated }: Member): DeliveryRow {
  const bytes = content.length;
  return {
    id,
    integrationId: INTEGRATION,
    teamId: TEAM,
    source: "webhook",
    block: "webhook",
    key,
    receivedAt: timeText(atMs),
    state: "accepted",
    reason: null,
    endedAt: null,
    attempts: 0,
    retryAt: null,
    headers,
    body: bytes <= 4_096 ? { digest: null, bytes, content } : { digest: null, bytes },
    cursor: null,
    causes: [],
    repeated,
    skipped: 0,
    redeliveryOf: null,
    redeliveredAs: null,
  };
}

/** Returns the deliveries of these groups as the product stores them without groups: rows, bodies and keys. */
function toOwnRows(groups: readonly Group[]): readonly Entry[] {
  const rows = memoryRows();
  for (const group of groups) {
    for (const member of group.members) {
      const { id, key, content } = member;
      deliveries.insert(rows, WORKSPACE, toRow(group, member));
      if (content.length > 4_096) rows.put([WORKSPACE, "row", "delivery-body", INTEGRATION, id], content);
      const taken = { deliveryId: id, atMs: group.atMs };
      if (key !== null) {
        deliveryKeys.put(rows, WORKSPACE, [INTEGRATION, Math.floor(group.atMs / WEEK_MS), key], taken);
      }
    }
  }
  return rows.range({ prefix: [] });
}

const byKey = (left: Entry, right: Entry) => compareKeys(left.key, right.key);
const toPut = ({ key, value }: Entry): Change => ({ op: "put", key, value });
const toFormat = (value: number): Entry => ({ key: ["~", "meta", "format"], value });

/**
 * Returns a store of the earlier release, which contains grouped deliveries and the entries `others`. Also returns the
 * expected result of the migration.
 */
function scene(count: number, nowMs: number, others: readonly Entry[] = []) {
  const groups = listGroups(count, nowMs);
  const members = groups.flatMap((group) => group.members);
  const grouped = toStoredGroups(groups);
  const kept = [...others.filter(({ key }) => key[1] !== "meta"), ...toStoredIntake(members, nowMs)];
  return {
    groups,
    members,
    before: [...others, ...kept, ...grouped, toFormat(FORMAT)],
    after: [...kept, ...grouped.filter(({ key }) => key[2] === "delivery-queued"), ...toOwnRows(groups)].sort(byKey),
  };
}

/** Wraps a store. `commits` receives the number of changes of each commit. */
function counting(store: Store, commits: number[]): Store {
  const commit = (changes: readonly Change[]) => {
    commits.push(changes.length);
    return store.commit(changes);
  };
  return { ...store, commit };
}

t.test("10,000 grouped deliveries survive a kill after each slice, and are processed in order", async (t) => {
  const nowMs = BOUNDARY_MS + 30 * MINUTE_MS;
  const { groups, members, before, after } = scene(10_000, nowMs);
  t.equal(new Set(groups.map(({ atMs }) => Math.floor(atMs / WEEK_MS))).size, 2, "keys of two periods");
  const commits: number[] = [];
  const store = counting(await storeWith(before), commits);
  const kills = await bringUpThroughKills(store, { steps });
  t.ok(kills > groups.length / 4, `${kills} kills`);
  t.ok(Math.max(...commits) <= 4 * (3 * 32 + 2) + 1, "a slice has at most four groups");
  t.strictSame(collectEntries(store), after, "each delivery has its rows, and nothing else changed");

  const { actor, rows, takeAll, answers, end, stored } = intake();
  for (const { key, value } of collectEntries(store)) rows.put(key, value);
  const record = rows.get<CellRecord>(cellKey(deliveryIntakeRef(WORKSPACE, INTEGRATION)));
  const state = record?.state && deliveryIntakeActor.migrate?.(record.state, record.version);
  actor.restore(state?.value, state?.context);
  actor.now = nowMs;
  const keyed = members.filter(({ key }) => key !== null);
  takeAll(keyed.map(({ key }) => key));
  t.strictSame(
    answers(),
    keyed.map(({ id }) => ({ id, isRepeated: true })),
    "each key still identifies its delivery",
  );
  t.strictSame(
    stored().map(({ id, key, repeated }) => [id, key, repeated]),
    members.map(({ id, key, repeated }) => [id, key, key === null ? 0 : repeated + 1]),
  );
  const worked: string[] = [];
  const work = ({ sent }: TurnTaken) => {
    worked.push(...sent.filter(({ message }) => message.type === "delivery.work").map(({ to }) => to.id));
  };
  work(actor.take({ type: "woken", name: "places", dueMs: nowMs } as never));
  for (let ended = 0; ended < worked.length; ended++) work(end(worked[ended] ?? ""));
  t.strictSame(
    worked,
    members.map(({ id }) => id),
    "each gets a slot once, in the order of arrival",
  );
  t.match(actor.context<IntakeContext>(), { backlog: 0, queued: 0, ended: 10_000, working: { length: 0 } });
});

t.test("a store with groups is opened, and every delivery of it raises its task once, in order", async (t) => {
  const events = [{ raise: { opens: { line: "dev", title: expr("string(body.nr)") } } }];
  const world = await deliveryWorld({ webhook: { events } });
  const { harness } = world;
  await harness.advance(30 * MINUTE_MS);
  harness.crash();
  const { members, before, after } = scene(300, harness.world.nowMs, harness.durable.range({ prefix: [] }));
  const store = await storeWith(before);
  await bringUpThroughKills(store, { steps });
  t.strictSame(collectEntries(store), after);
  const written = harness.disk.open().commit(collectEntries(store).map(toPut));
  await harness.advance(1_000);
  await written;
  await harness.start();
  const keys = members.flatMap(({ key }) => (key === null ? [] : [{ key }]));
  const answers = Array.from({ length: Math.ceil(keys.length / 32) }, (_, n) =>
    world.sendTogether(keys.slice(n * 32, n * 32 + 32)),
  );
  await harness.advance(10 * MINUTE_MS);
  t.ok((await Promise.all(answers)).flat().every((answer) => (answer as { isRepeated: boolean }).isRepeated));
  t.strictSame(
    world.raised().map(({ opens }) => opens?.title),
    members.map((_, nr) => String(nr)),
  );
  t.strictSame(
    world.deliveries().map(({ id, repeated, state }) => [id, repeated, state]),
    members.map(({ id, key, repeated }) => [id, key === null ? 0 : repeated + 1, "done"]),
  );
});

t.test("a key that a later delivery has since been accepted under stays its key", async (t) => {
  const step = migrations.find(({ to }) => to === FORMAT + 1);
  if (step === undefined) throw new Error("there is no such step");
  const groups = listGroups(4, BOUNDARY_MS + 30 * MINUTE_MS);
  const [{ atMs }] = groups as [Group];
  const rows = memoryRows();
  const at = [INTEGRATION, Math.floor(atMs / WEEK_MS)];
  const toTaken = (key: string, deliveryId: string, takenMs: number): Entry => {
    return { key: deliveryKeys.key(WORKSPACE, ...at, key), value: { deliveryId, atMs: takenMs } };
  };
  const taken = [toTaken("key 0", "dlv_failed", atMs - 1), toTaken("key 1", "dlv_later", atMs + 1)];
  for (const { key, value } of await stepped(step, [...toStoredGroups(groups), ...taken])) rows.put(key, value);
  const ids = ["key 0", "key 1", "key 2"].map((key) => deliveryKeys.get(rows, WORKSPACE, ...at, key)?.deliveryId);
  t.same(ids, [groups[0]?.members[0]?.id, "dlv_later", groups[0]?.members[2]?.id]);
});

t.test("a damaged group stays for the doctor, damaged keys count as none, and the other groups migrate", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-groups-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const { groups, before } = scene(40, BOUNDARY_MS + 30 * MINUTE_MS);
  const [first, second] = groups as [Group, Group];
  const keyOfGroup = (table: string, { members }: Group) => [
    WORKSPACE,
    "row",
    table,
    INTEGRATION,
    members[0]?.id ?? "",
  ];
  const written = await openLmdbStore({ folder });
  await written.commit(before.map(toPut));
  await written.close();
  const raw = new RawStore(folder);
  await raw.flip(keyOfGroup("delivery-group", first));
  await raw.flip(keyOfGroup("delivery-group-keys", second));
  await raw.close();
  const store = await openLmdbStore({ folder });
  await bringUp(store, { steps });
  const listIds = (table: string) => {
    const damaged: string[] = [];
    const rows = store.reading.range({
      prefix: [WORKSPACE, "row", table],
      onDamaged: (key) => damaged.push(String(key.at(-1))),
    });
    return { ids: rows.map(({ key }) => String(key.at(-1))), damaged };
  };
  t.same(listIds("delivery-group"), { ids: [], damaged: [first.members[0]?.id] });
  t.same(
    listIds("delivery").ids,
    groups.slice(1).flatMap(({ members }) => members.map(({ id }) => id)),
  );
  t.ok(second.members.some(({ repeated }) => repeated > 0));
  for (const { id } of second.members) {
    t.equal(deliveries.get(store.reading, WORKSPACE, INTEGRATION, id)?.repeated, 0);
  }
  await store.close();
});
