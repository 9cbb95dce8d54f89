import t from "tap";
import { RETENTION_TURN, retentionEffect } from "../../../actors/tables/retention.effects.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef, retentionSweeperActor } from "../../../actors/tables/retention-sweeper.machine.js";
import { beginEarlierWork } from "../../../http/process/begin-earlier-work.js";
import { storedWakeUp } from "../../../runtime/messages/offline-send.js";
import { FORMAT_KEY } from "../../../storage/migrations.js";
import { Harness, partition } from "../../support/harness.js";

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/** Returns a service that has started to sweep, and its passes. */
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
  // From here on, the store records that everything was started.
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
