import t from "tap";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Store } from "../../../storage/store.js";
import { CountingReading } from "../../support/counting-reading.js";
import { hookSecret } from "../../support/hook-receiver.js";
import { hookScene } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { metricsOf } from "../../support/metrics.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import { startTestService } from "../../support/service.js";
import { openWorkplace } from "../../support/workplace.js";

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [detail: string]: unknown;
}

const readLines = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line));
const saying = (lines: readonly string[], message: string) => readLines(lines).filter(({ msg }) => msg === message);

t.test("the first line says release, data folder, store format and address", async (t) => {
  const service = await startTestService(t);
  const [first] = readLines(service.logLines);
  t.match(first, { level: "info", msg: "starting", dataFolder: service.folder, address: /^http:\/\/127\.0\.0\.1:0$/ });
  t.match(first?.release, /^\d+\.\d+\.\d+/);
  t.match(first?.storeFormat, Number);
  t.match(first?.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test("runners that join, leave and are lost, and runs that end, are lines with ids and figures", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock });
  const { service, workspaceId, poolId } = place;
  t.match(await metricsOf(service), { 'signalbox_queued_runs{pool="main"}': undefined });
  const first = await place.open();
  await place.open();
  clock.advance(5_000);
  const waiting = await metricsOf(service);
  t.match(waiting, {
    'signalbox_tasks{state="queued"}': 2,
    'signalbox_queued_runs{pool="main"}': 2,
    'signalbox_queued_run_oldest_seconds{pool="main"}': 5,
    'signalbox_runners{pool="main",state="connected"}': 0,
  });
  const peer = await place.runner();
  const job = await peer.job();
  t.match(await metricsOf(service), {
    'signalbox_queued_runs{pool="main"}': 1,
    'signalbox_runners{pool="main",state="connected"}': 1,
    'signalbox_runner_slots{pool="main"}': 1,
    'signalbox_runner_slots_free{pool="main"}': 0,
    'signalbox_sockets{route="/api/runner"}': 1,
  });
  peer.start(job);
  const failure = { code: "harness-failed", message: "canary-message", output: "canary-output" } as const;
  peer.end(job, { outcome: "failed", failure, spent: { amount: 0.5, currency: "USD" } });
  await service.logged(/"msg":"run ended"/);
  t.match(saying(service.logLines, "run ended"), [
    {
      level: "warn",
      outcome: "failed",
      failure: "harness-failed",
      runId: job.runId,
      owner: "task",
      ownerId: first,
      workspaceId,
    },
  ]);
  const [joined] = saying(service.logLines, "runner joined");
  t.match(joined, { level: "info", workspaceId, poolId, claims: 0, runnerId: /^runner_/ });
  const second = await peer.job();
  peer.start(second);
  peer.cut();
  await service.logged(/"msg":"runner disconnected"/);
  t.match(await metricsOf(service), { 'signalbox_runners{pool="main",state="away"}': 1 });
  clock.advance(30_000);
  await service.logged(/"msg":"runner lost"/);
  await service.logged(/"outcome":"abandoned"/);
  t.match(saying(service.logLines, "runner lost"), [{ level: "warn", runnerId: joined?.runnerId, claims: 1 }]);
  t.match(await metricsOf(service), {
    'signalbox_runs_ended_total{outcome="failed",owner="task"}': 1,
    'signalbox_runs_ended_total{outcome="abandoned",owner="task"}': 1,
    'signalbox_runs_ended_total{outcome="completed",owner="task"}': 0,
    'signalbox_run_cost_total{currency="USD"}': 0.5,
    'signalbox_reports_total{report="runner.lost"}': 1,
    'signalbox_runners{pool="main",state="away"}': 0,
    'signalbox_sockets{route="/api/runner"}': 0,
  });
  t.notMatch(service.logLines.join("\n"), /canary/, "what the agent wrote is in no line");
});

t.test("hooks that give up are lines, and their requests are counted", async (t) => {
  const scene = await hookScene(t, (response) => {
    response.statusCode = 400;
    response.end("canary-answer");
  });
  const hookId = await scene.addHook({
    key: "tell",
    on: "task.opened",
    steps: [{ name: "tell", request: { url: scene.receiver.url } }],
    signing: { secret: hookSecret, secretVersion: 1 },
  });
  await scene.openTask();
  const firing = await scene.settled("failed");
  const [line] = saying(scene.service.logLines, "hook given up");
  t.match(line, {
    level: "warn",
    workspaceId: scene.workspaceId,
    teamId: scene.teamId,
    hookId,
    hookOccurrenceId: firing.id,
    code: "rejected",
    status: 400,
    attempts: 1,
    on: "task.opened",
  });
  t.match(await metricsOf(scene.service), {
    'signalbox_hook_deliveries_total{outcome="rejected"}': 1,
    'signalbox_hook_deliveries_total{outcome="delivered"}': 0,
    signalbox_hook_delivery_seconds_count: 1,
  });
  t.notMatch(scene.service.logLines.join("\n"), /canary/);
});

t.test("gauges are right at once after a restart, and counters begin at 0", async (t) => {
  const clock = new ManualClock();
  const store = createMemoryStore();
  const settings = { SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") };
  const place = await openWorkplace(t, { clock, store, settings });
  for (let index = 0; index < 3; index++) await place.open();
  const closed = await place.open();
  t.equal((await place.ada.request("POST", `/api/tasks/${closed}/close`, {})).status, 200);
  t.match(await metricsOf(place.service), {
    'signalbox_tasks{state="queued"}': 3,
    'signalbox_tasks_ended_total{state="closed"}': 1,
    'signalbox_runs_ended_total{outcome="withdrawn",owner="task"}': 1,
  });
  await place.service.stop();
  const after = await metricsOf(await startTestService(t, { clock, store, settings }));
  t.match(after, {
    'signalbox_tasks{state="queued"}': 3,
    'signalbox_tasks{state="inbox"}': 0,
    'signalbox_tasks_ended_total{state="closed"}': 0,
    'signalbox_runs_ended_total{outcome="withdrawn",owner="task"}': 0,
    'signalbox_queued_runs{pool="main"}': 3,
  });
  t.ok(Number(after.signalbox_feed_bytes) > 0);
});

t.test("reading the metrics reads as many rows whatever a workspace holds", async (t) => {
  const memory = createMemoryStore();
  const reading = new CountingReading(memory.reading);
  const store: Store = {
    reading,
    commit: (changes) => memory.commit(changes),
    view: () => memory.view(),
    backup: (to) => memory.backup(to),
    close: () => memory.close(),
  };
  const place = await openWorkplace(t, { store });
  const count = async () => {
    const before = reading.rows;
    await metricsOf(place.service);
    return reading.rows - before;
  };
  await place.open();
  await count(); // The first scrape reads the stored rows, so it does not count.
  const few = await count();
  for (let index = 0; index < 40; index++) await place.open();
  t.match(await metricsOf(place.service), { 'signalbox_tasks{state="queued"}': 41 });
  t.ok((await count()) <= few, "forty tasks more cost no row");
  t.ok(few < 10, `${few} rows`);
});

t.test("a workspace adds at most ten pools to the series, and the others count together", async (t) => {
  const place = await openWorkplace(t);
  const pools = `/api/resources/workspaces/${place.workspaceId}/runner-pools`;
  for (let index = 0; index < 12; index++) {
    const made = await place.ada.request("POST", pools, { key: `extra-${index}` }, { "idempotency-key": `p${index}` });
    const peer = await RunnerPeer.join(place.service, String(made.headers["service-pool-token"]), {
      instance: `0123456789abcdef${index}`,
    });
    t.teardown(async () => peer.cut());
  }
  const metrics = await metricsOf(place.service);
  const names = Object.keys(metrics).filter((name) => name.startsWith("signalbox_runner_slots{"));
  t.equal(names.length, 11);
  t.equal(metrics['signalbox_runner_slots{pool="(other)"}'], 2);
});
