import t, { type Test } from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { archiveActor } from "../../../actors/archives/archive.machine.js";
import { archiveHolds, archives } from "../../../actors/archives/archive.table.js";
import { migrations } from "../../../actors/catalogue.js";
import { pollActor } from "../../../actors/integration-work/polls/poll.machine.js";
import { pollRef } from "../../../actors/integration-work/polls/poll.messages.js";
import { scheduleActor } from "../../../actors/integration-work/schedules/schedule.machine.js";
import { scheduleRef } from "../../../actors/integration-work/schedules/schedule.messages.js";
import { schedulesView } from "../../../actors/integration-work/schedules/schedule.view.js";
import { judgesNothing } from "../../../actors/replays/judging/model-terms.js";
import { replaySetsActor } from "../../../actors/replays/sets/replay-sets.machine.js";
import { resourceAddresses } from "../../../actors/resources/resource.table.js";
import { RETENTION_TURN, retentionEffect } from "../../../actors/tables/retention.effects.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef, retentionSweeperActor } from "../../../actors/tables/retention-sweeper.machine.js";
import { beginEarlierWork, beginHolding, beginIntegrationWork } from "../../../http/process/begin-earlier-work.js";
import { isStored, storedWakeUp } from "../../../runtime/messages/offline-send.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { FORMAT_KEY } from "../../../storage/migrations.js";
import { type Entry, type Key, type Range, type Store, StoreError } from "../../../storage/store.js";
import { Harness, partition } from "../../support/harness.js";
import { INTEGRATION, integrationRows, WORKSPACE } from "../../support/integration-rows.js";
import { stepped } from "../../support/migrating.js";
import { startTestService } from "../../support/service.js";

const settings = { SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") };
const BEGUN: Key = ["~", "meta", "begun"];

/**
 * Wraps a store. Counts the reads. A range read throws a `damaged` error if its prefix starts with the key `damaged`.
 */
function countReads(store: Store, damaged: Key = []) {
  let reads = 0;
  const counted: Store = {
    reading: {
      get: (key) => {
        reads += 1;
        return store.reading.get(key);
      },
      range: <Value>(range: Range) => {
        reads += 1;
        if (damaged.length > 0 && damaged.every((part, at) => range.prefix[at] === part))
          throw new StoreError("damaged", "a test damaged it");
        return store.reading.range<Value>(range);
      },
    },
    view: () => store.view(),
    commit: (changes) => store.commit(changes),
    backup: (folder) => store.backup(folder),
    close: () => store.close(),
  };
  return { counted, reads: () => reads };
}

/** Returns the store of a stopped service with this many workspaces. */
async function left(t: Test, workspaces: number) {
  const store = createMemoryStore();
  const service = await startTestService(t, { settings, store });
  const ada = await service.signIn("ada@example.com");
  const ids: string[] = [];
  for (let n = 0; n < workspaces; n++) {
    const { id } = await ada.create("/api/resources/workspaces", { slug: `space-${n}`, name: `Space ${n}` });
    await ada.create(`/api/resources/workspaces/${id}/teams`, { key: "core", name: "Core" });
    ids.push(id);
  }
  await service.stop();
  return { store, ids };
}

/** Returns the number of store reads from a service's start until shortly after it listens. */
async function readsOfStart(t: Test, store: Store): Promise<number> {
  const { counted, reads } = countReads(store);
  const service = await startTestService(t, { settings, store: counted });
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  await service.stop();
  return reads();
}

t.test("a start reads as much of a store with many workspaces as of one with few", async (t) => {
  const [few, many] = [await left(t, 2), await left(t, 12)];
  t.equal(await readsOfStart(t, many.store), await readsOfStart(t, few.store));
});

t.test("what an earlier release did not begin is begun at the first start, in each workspace", async (t) => {
  const { store, ids } = await left(t, 3);
  const begun = () => ids.map((id) => isStored(store.reading, retentionRef(id)));
  t.same(begun(), [true, true, true]);
  const removed = ids.map((id): Key => [id, "actor", "retention", "all"]);
  await store.commit([...removed, BEGUN].map((key) => ({ op: "remove", key })));
  await readsOfStart(t, store);
  t.same(begun(), [true, true, true]);
  t.equal(store.reading.get(BEGUN), store.reading.get(["~", "meta", "format"]));
  await store.commit([{ op: "put", key: BEGUN, value: 1 }, ...removed.map((key) => ({ op: "remove", key }) as const)]);
  await readsOfStart(t, store);
  t.same(begun(), [true, true, true], "and once more when the store has a newer format");
});

t.test("where a workspace is damaged, the next start looks at all of them again", async (t) => {
  const { store, ids } = await left(t, 2);
  const [first = ""] = ids;
  await store.commit([{ op: "remove", key: BEGUN }]);
  const damaged = resourceAddresses.key(first);
  const service = await startTestService(t, { settings, store: countReads(store, damaged).counted });
  t.equal(store.reading.get(BEGUN), undefined);
  await service.stop();
  await readsOfStart(t, store);
  t.equal(store.reading.get(BEGUN), store.reading.get(["~", "meta", "format"]));
});

const row = (table: string, ...rest: [...id: Key, value: unknown]): Entry => ({
  key: [partition, "row", table, ...(rest.slice(0, -1) as Key)],
  value: rest.at(-1),
});
const checkout = (repository: string, base: string | null) => ({ repository, base, diff: null });
const [one, two] = ["1".repeat(40), "2".repeat(40)];
const input = (runId: string, ...checkouts: unknown[]) =>
  row("run-input", runId, { runId, beginning: { checkouts }, config: { skills: [] }, claimed: null });

/**
 * A set from an earlier release. Two of its runs started from one commit, and one run started from an unknown commit. A
 * second set was removed, but one of its entries remains.
 */
const then: readonly Entry[] = [
  row("replay-set", "rset_1", { id: "rset_1", teamId: "team_1" }),
  ...["run_1", "run_2", "run_3"].map((runId, n) => row("replay-entry", "rset_1", n + 2, { setId: "rset_1", runId })),
  row("replay-entry", "rset_gone", 2, { setId: "rset_gone", runId: "run_1" }),
  input("run_1", checkout("acme/app", one), checkout("acme/other", two)),
  input("run_2", checkout("acme/app", one)),
  input("run_3", checkout("acme/app", null)),
];

t.test("the commits of sets of an earlier release are held from the first start on, once", async (t) => {
  const step = migrations.find(({ title }) => title === "the commits of replay sets are held");
  if (step === undefined) throw new Error("there is no such step");
  const entries = await stepped(step, then);
  const actors = [replaySetsActor(judgesNothing), archiveActor({ bytesPerWorkspace: 0 })];
  for (const kill of [null, 1, 2, 3]) {
    const harness = new Harness({ catalogue: { actors } });
    const stored = harness.disk.open().commit(entries.map(({ key, value }) => ({ op: "put", key, value })));
    await harness.advance();
    await stored;
    await harness.start();
    if (kill !== null) harness.killAt = { commit: kill, when: "after" };
    const begin = () => {
      void beginHolding(harness.runtime);
      return harness.advance();
    };
    await begin();
    harness.killAt = null;
    harness.crash();
    await harness.start();
    await begin();
    const { durable } = harness;
    const held = archiveHolds.entries(durable, partition).map(({ key }) => key.slice(3));
    const [app, other] = [toArchiveId("acme/app", one), toArchiveId("acme/other", two)];
    const wanted = [
      [app, "rset_1/run_1"],
      [app, "rset_1/run_2"],
      [other, "rset_1/run_1"],
    ];
    t.same(held, wanted.sort(), `killed at commit ${kill}`);
    t.equal([...archives.rows(durable, partition)].length, 2);
    t.same(durable.range({ prefix: [partition, "row", "entry-commits-due"] }), []);
    harness.crash();
  }
});

t.test("polls and schedules of integrations that an earlier release stored begin with the service, once", async (t) => {
  const request = { url: "https://api.example.com/sync" };
  const poll = { request, events: [{ raise: {} }] };
  const rows = integrationRows({
    poll,
    actions: { sync: { request, schedule: { everyMinutes: 10 } }, other: { request } },
  });
  const harness = new Harness({ catalogue: {} });
  const changes = rows.range({ prefix: [WORKSPACE] }).map(({ key, value }) => ({ op: "put" as const, key, value }));
  const stored = harness.disk.open().commit(changes);
  await harness.advance();
  await stored;
  const start = async () => {
    await harness.start({ actors: [pollActor, scheduleActor] });
    const over = beginIntegrationWork(harness.runtime);
    await harness.advance();
    await over;
    const schedules = ["sync", "other"].map((action) =>
      storedWakeUp(harness.durable, scheduleRef({ workspaceId: WORKSPACE, integrationId: INTEGRATION, action }), "due"),
    );
    const [shown, ...others] = schedulesView(harness.durable, { workspaceId: WORKSPACE, id: INTEGRATION });
    t.same([shown?.action, Date.parse(shown?.nextAt ?? ""), others], ["sync", schedules[0], []], "it is told when");
    return [...schedules, storedWakeUp(harness.durable, pollRef(WORKSPACE, INTEGRATION), "due")];
  };
  const [due, none, asked] = await start();
  t.type(asked, "number");
  t.ok(due !== null && due !== undefined && due > harness.world.clock.now());
  t.equal(none, null);
  harness.crash();
  await harness.advance(1_000);
  t.same(await start(), [due, null, asked], "a schedule that is there goes on as it was");
});

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Returns a service that has started to sweep:
 *
 * - `turns` records the times for which the retention effect sets alarms.
 * - `dueMs` returns the time of the next pass.
 * - `start` starts the next process.
 */
async function begun() {
  const harness = new Harness({ catalogue: {} });
  const { clock } = harness.world;
  const turns: number[] = [];
  const at: typeof clock.at = (atMs, wake) => {
    turns.push(atMs);
    return clock.at(atMs, wake);
  };
  const effects = [retentionEffect({ clock: { now: clock.now, at } })];
  const actors = [retentionSweeperActor({ rules: [], owned: [] }, defaultRetention)];
  const start = async () => {
    await harness.start({ actors, effects });
    const over = beginEarlierWork(harness.runtime, harness.disk.open());
    await harness.advance();
    await over;
  };
  await harness.start({ actors, effects });
  await harness.ask(retentionRef(partition), { type: "retention.begin" });
  const dueMs = () => storedWakeUp(harness.durable, retentionRef(partition), "pass") ?? 0;
  return { harness, start, turns, dueMs };
}

t.test("a pass that was set by a clock that was ahead comes, however often the process ends before", async (t) => {
  const { harness, start, turns, dueMs } = await begun();
  harness.crash();
  harness.world.setBack(5 * DAY_MS);
  const last = turns.length;
  for (let life = 0; life < 8 && turns.length === last; life++) {
    await start();
    t.ok(dueMs() - harness.world.clock.now() <= 1.25 * HOUR_MS);
    await harness.advance(HOUR_MS / 4);
    harness.crash();
  }
  t.ok(turns.length > last, RETENTION_TURN.name);
});

t.test("a pass that was set at the right time comes then, whatever process runs", async (t) => {
  const { harness, start, dueMs } = await begun();
  const before = dueMs();
  harness.crash();
  await start();
  t.equal(dueMs(), before);
  await harness.ask(retentionRef(partition), { type: "retention.begin" });
  t.equal(dueMs(), before, "nor when its workspace changes");
  harness.crash();
});

t.test("so it does where the clock went back while the process ran, which others outlive", async (t) => {
  const { harness, start, dueMs } = await begun();
  harness.crash();
  const stored = harness.disk.open().commit([{ op: "put", key: FORMAT_KEY, value: 1 }]);
  await harness.advance();
  await stored;
  // After this start, the store records that the earlier work was started.
  await start();
  const anew = { type: "retention.begin", isAnew: true };
  await harness.ask(retentionRef(partition), anew);
  harness.world.setBack(5 * DAY_MS);
  for (const other of ["ws_2", "ws_3", "ws_4"]) {
    await harness.advance(2 * 60_000);
    await harness.ask(retentionRef(other), { type: "retention.begin" });
  }
  t.ok(dueMs() - harness.world.clock.now() > 4 * DAY_MS);
  harness.crash();
  await start();
  t.ok(dueMs() - harness.world.clock.now() <= 1.25 * HOUR_MS);
  harness.crash();
});
