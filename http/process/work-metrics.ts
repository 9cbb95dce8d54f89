import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { HOOK_ATTEMPTED, hookOutcomes } from "../../actors/hooks/hook-report.js";
import type { MailFate } from "../../actors/outbound/mail/mail.effects.js";
import type { ModelOutcome } from "../../actors/outbound/models/model.effects.js";
import type { Fleet } from "../../actors/runners/fleet.js";
import { RUN_ENDED, runOutcomes, runOwnerKinds } from "../../actors/runs/run-report.js";
import type { OpenTasks } from "../../actors/tasks/open-tasks.js";
import { endedTaskCounters } from "../../actors/tasks/task-counters.js";
import type { RuntimeStats } from "../../runtime/runtime.js";
import type { Reported } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";

/** The values that the metrics of work read at each scrape. */
export interface WorkSources {
  readonly reading: () => Reading;
  readonly nowMs: () => number;
  /** Resolves once {@link fleet} and {@link openTasks} have read the store. The first call reads. */
  readonly ready: () => Promise<void>;
  readonly fleet: Fleet;
  readonly openTasks: OpenTasks;
  /** The number of open sockets and event streams by the path of their route. */
  readonly sockets: () => ReadonlyMap<string, number>;
  /** The size of the store's file; null if there is none. */
  readonly storeBytes: () => number | null;
  /** When the store was last backed up; null if that is not known. */
  readonly backupAtMs: () => number | null;
  /** The currency of the model's prices; null if no prices are configured. */
  readonly modelCurrency: string | null;
}

/**
 * The reports that are also written to the log. Their counters exist from the start at 0, so that a rate over a counter
 * includes its first report.
 */
const logged = [
  "run.ended",
  "hook.ended",
  "runner.joined",
  "runner.returned",
  "runner.disconnected",
  "runner.lost",
  "delivery.refused",
  "poll.failed",
  "ceiling.reached",
];

/** What the parts of the service report to the metrics. */
export interface WorkObserver {
  reported(reported: Reported): void;
  mailed(fate: MailFate): void;
  asked(outcome: ModelOutcome): void;
}

/** Maximum number of currencies with a series of their own. All other currencies count as `(other)`. */
const MAX_CURRENCIES = 20;

/**
 * Creates the metrics of work: tasks, runs, runners, hooks, mails, model calls, storage. The values of most labels are
 * fixed in this release. The labels `pool` and `currency` have a limited number of values (`fleet.ts`, {@link
 * MAX_CURRENCIES}).
 */
export function createWorkMetrics(
  registry: Registry,
  sources?: WorkSources,
): { readonly observer: WorkObserver; collect(stats: RuntimeStats): void } {
  const counted = createCounters(registry);
  if (sources?.modelCurrency != null) counted.modelCost.inc({ currency: sources.modelCurrency }, 0);
  const collectTasks = createTaskMetrics(registry, sources);
  const collectPools = createPoolMetrics(registry, sources);
  const collectSizes = createSizeMetrics(registry, sources);
  return {
    observer: createObserver(counted),
    collect: (stats) => {
      collectTasks(stats);
      collectPools();
      collectSizes(stats);
    },
  };
}

/** Sets a counter to a total that the process counts elsewhere. */
export function setCounter(counter: Counter, total: number): void {
  counter.reset();
  counter.inc(total);
}

type WorkCounters = ReturnType<typeof createCounters>;

function createCounters(registry: Registry) {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `signalbox_${name}`, help, labelNames, registers: [registry] });
  const runs = counter("runs_ended_total", "Runs that ended since the start", ["outcome", "owner"]);
  for (const outcome of runOutcomes) for (const owner of runOwnerKinds) runs.inc({ outcome, owner }, 0);
  const hooks = counter("hook_deliveries_total", "Requests of hooks since the start, by outcome", ["outcome"]);
  for (const outcome of hookOutcomes) hooks.inc({ outcome }, 0);
  const mails = counter("mails_total", "Mails since the start, by fate", ["fate"]);
  for (const fate of ["sent", "logged", "failed"]) mails.inc({ fate }, 0);
  const asked = counter("model_questions_total", "Questions to the model since the start, by outcome", ["outcome"]);
  for (const outcome of ["answered", "waiting", "interrupted", "failed"]) asked.inc({ outcome }, 0);
  const reports = counter("reports_total", "Reports to the log since the start, by kind", ["report"]);
  for (const report of logged) reports.inc({ report }, 0);
  return {
    runs,
    hooks,
    mails,
    asked,
    reports,
    modelCost: counter("model_cost_total", "Cost of the deployment's model since the start", ["currency"]),
    runCost: counter("run_cost_total", "Cost that ended runs reported since the start", ["currency"]),
    hookSeconds: new Histogram({
      name: "signalbox_hook_delivery_seconds",
      help: "Time from a hook's request to its response or failure",
      buckets: [0.01, 0.05, 0.2, 0.5, 1, 2, 5, 10, 30],
      registers: [registry],
    }),
  };
}

function createObserver({ runs, hooks, hookSeconds, reports, mails, asked, ...costs }: WorkCounters): WorkObserver {
  const currencies = new Set<string>();
  const spend = (counter: Counter<"currency">, amount: number, currency: string): void => {
    if (currencies.size < MAX_CURRENCIES) currencies.add(currency);
    counter.inc({ currency: currencies.has(currency) ? currency : "(other)" }, amount);
  };
  return {
    reported: ({ report: { name, line, details } }) => {
      const { outcome, owner, seconds, spent, currency } = details;
      if (line !== null) reports.inc({ report: name });
      if (name === RUN_ENDED) runs.inc({ outcome: String(outcome), owner: String(owner) });
      if (name === RUN_ENDED && typeof spent === "number") spend(costs.runCost, spent, String(currency));
      if (name !== HOOK_ATTEMPTED) return;
      hooks.inc({ outcome: String(outcome) });
      hookSeconds.observe(Number(seconds));
    },
    mailed: (fate) => mails.inc({ fate }),
    asked: ({ state, spent: { cost } }) => {
      asked.inc({ outcome: state });
      if (cost !== null) spend(costs.modelCost, cost.amount, cost.currency);
    },
  };
}

function createTaskMetrics(registry: Registry, sources: WorkSources | undefined): (stats: RuntimeStats) => void {
  const open = new Gauge({
    name: "signalbox_tasks",
    help: "Open tasks by state",
    labelNames: ["state"],
    registers: [registry],
  });
  const ended = new Counter({
    name: "signalbox_tasks_ended_total",
    help: "Tasks that ended since the start",
    labelNames: ["state"],
    registers: [registry],
  });
  return ({ counters }) => {
    ended.reset();
    for (const [state, counter] of Object.entries(endedTaskCounters)) ended.inc({ state }, counters.get(counter) ?? 0);
    if (sources === undefined) return;
    for (const [state, count] of Object.entries(sources.openTasks.counts)) open.set({ state }, count);
  };
}

function createPoolMetrics(registry: Registry, sources: WorkSources | undefined): () => void {
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({ name: `signalbox_${name}`, help, labelNames: ["pool", ...more], registers: [registry] });
  const queued = gauge("queued_runs", "Runs that wait for a runner, by pool");
  const oldest = gauge("queued_run_oldest_seconds", "Age of the oldest run that waits for a runner; 0 if none waits");
  const runners = gauge("runners", "Runners by pool and state", ["state"]);
  const slots = gauge("runner_slots", "Slots of connected runners");
  const free = gauge("runner_slots_free", "Slots of connected runners that no run holds");
  return () => {
    for (const each of [queued, oldest, runners, slots, free]) each.reset();
    if (sources === undefined) return;
    for (const load of sources.fleet.describe(sources.reading())) {
      const { pool, oldestMs } = load;
      queued.set({ pool }, load.queued);
      oldest.set({ pool }, oldestMs === null ? 0 : Math.max(0, sources.nowMs() - oldestMs) / 1_000);
      runners.set({ pool, state: "connected" }, load.connected);
      runners.set({ pool, state: "away" }, load.away);
      slots.set({ pool }, load.slots);
      free.set({ pool }, load.free);
    }
  };
}

function createSizeMetrics(registry: Registry, sources: WorkSources | undefined): (stats: RuntimeStats) => void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name: `signalbox_${name}`, help, labelNames, registers: [registry] });
  const feed = gauge("feed_bytes", "Approximate size of the stored change feeds");
  const store = gauge("store_bytes", "Size of the store's file");
  const backup = gauge("backup_age_seconds", "Time since `signalbox backup` last copied the store; absent if unknown");
  const sockets = gauge("sockets", "Open WebSockets and event streams, by route", ["route"]);
  return ({ feedBytes }) => {
    feed.set(feedBytes);
    for (const each of [store, backup]) each.remove();
    if (sources === undefined) return;
    const bytes = sources.storeBytes();
    const backupAtMs = sources.backupAtMs();
    if (bytes !== null) store.set(bytes);
    if (backupAtMs !== null) backup.set(Math.max(0, sources.nowMs() - backupAtMs) / 1_000);
    for (const [route, count] of sources.sockets()) sockets.set({ route }, count);
  };
}
