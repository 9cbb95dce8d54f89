import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { archiveCounters } from "../../actors/archives/archive.queries.js";
import { EXHAUSTED } from "../../actors/hooks/hook-occurrence.queries.js";
import { actionRunCounters, deliveryCounters, pollCounters } from "../../actors/integration-work/work-counters.js";
import type { RuntimeStats } from "../../runtime/runtime.js";
import type { Metrics } from "../wire/metrics.js";
import { createWorkMetrics, setCounter, type WorkObserver, type WorkSources } from "./work-metrics.js";

/** Counters of the runtime. Their names do not end in `_total`, because they are older than that naming rule. */
const totals = {
  turns: "Turns executed since the start",
  batches: "Batches flushed since the start",
  crashes: "Turns that threw an error since the start",
  deadLetters: "Messages moved to the dead letters since the start",
  damagedRows: "Damaged rows found since the start, each counted once, up to 1,000",
  damagedTurns: "Turns skipped since the start because of a damaged row",
} as const;

const gauges = {
  cells: "Actors in memory",
  mailboxDepth: "Messages waiting in mailboxes",
  pendingEffects: "Effects that have not returned a result",
  runningEffects: "Effects in progress",
  timers: "Timers in memory",
} as const;

/** The metrics, and the functions with which the parts of the service report to them. */
export interface ServiceMetrics extends Metrics, WorkObserver {}

/**
 * Creates the metrics. They count requests and deliveries, and read the runtime's figures at each scrape. Without
 * `sources`, the figures of stored work are missing.
 */
export function createMetrics(stats: () => RuntimeStats, sources?: WorkSources): ServiceMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "signalbox_http_request_seconds",
    help: "Time to answer a request",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  const flushes = new Histogram({
    name: "signalbox_flush_seconds",
    help: "Time to flush a batch",
    buckets: [0.0002, 0.0005, 0.001, 0.005, 0.02, 0.1, 1],
    registers: [registry],
  });
  const setFigures = createFigures(registry);
  const work = createWorkMetrics(registry, sources);
  const malformed = new Counter({
    name: "signalbox_http_unrouted_total",
    help: "Requests that matched no route",
    registers: [registry],
  });
  const cut = new Counter({
    name: "signalbox_http_cut_total",
    help: "Responses that ended before they were fully sent",
    registers: [registry],
  });
  const deliveries = new Counter({
    name: "signalbox_code_host_deliveries_total",
    help: "Signed deliveries of the code host since the start, by whether the service uses them",
    labelNames: ["fate"],
    registers: [registry],
  });
  const setLanes = createLaneGauge(registry);
  const exhausted = new Counter({
    name: "signalbox_hook_firings_given_up_total",
    help: "Hook firings on after events that used up their attempts, since the start",
    registers: [registry],
  });
  const setFates = createFateCounters(registry);
  return {
    contentType: registry.contentType,
    served: ({ method, route, status, seconds, isCut }) => {
      if (isCut) cut.inc();
      if (route === null) malformed.inc();
      else requests.observe({ method, route, status }, seconds);
    },
    delivered: (fate) => deliveries.inc({ fate }),
    ...work.observer,
    text: async () => {
      await sources?.ready();
      const current = stats();
      setFigures(current);
      work.collect(current);
      setLanes(current.lanes);
      setCounter(exhausted, current.counters.get(EXHAUSTED) ?? 0);
      setFates(current.counters);
      for (const seconds of current.flushSeconds) flushes.observe(seconds);
      return registry.metrics();
    },
  };
}

/** Creates the metrics of the runtime's figures. Returns a function that sets them. */
function createFigures(registry: Registry): (stats: RuntimeStats) => void {
  const toName = (name: string) => `signalbox_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  const counters = namesOf(totals).map((name) => {
    const of = { name: toName(name), help: totals[name], registers: [registry] };
    return { name, counter: new Counter(of) };
  });
  const others = namesOf(gauges).map((name) => {
    const of = { name: toName(name), help: gauges[name], registers: [registry] };
    return { name, gauge: new Gauge(of) };
  });
  return (stats) => {
    for (const { name, counter } of counters) setCounter(counter, stats[name]);
    for (const { name, gauge } of others) gauge.set(stats[name]);
  };
}

function namesOf<Of extends object>(of: Of): (keyof Of & string)[] {
  return Object.keys(of) as (keyof Of & string)[];
}

/**
 * Metrics that count outcomes since the start. The label `fate` names the outcome. Each outcome has its own runtime
 * counter.
 */
const fates = [
  {
    name: "signalbox_archives_total",
    help:
      "Commits of replay sets whose search ended since the start, by whether the service stored a pack or refused " +
      "the commit",
    counters: archiveCounters,
  },
  {
    name: "signalbox_deliveries_total",
    help: "Integration deliveries processed since the start, by result",
    counters: deliveryCounters,
  },
  {
    name: "signalbox_polls_total",
    help: "Integration polls since the start, by whether the response was valid",
    counters: pollCounters,
  },
  {
    name: "signalbox_action_runs_total",
    help: "Actions of bindings and schedules that ended since the start, by outcome",
    counters: actionRunCounters,
  },
] as const;

/** Creates the counters of {@link fates}. Returns a function that sets them. */
function createFateCounters(registry: Registry): (counters: RuntimeStats["counters"]) => void {
  const metrics = fates.map(({ name, help, counters }) => {
    const metric = new Counter({ name, help, labelNames: ["fate"], registers: [registry] });
    return { metric, counters: Object.entries(counters) };
  });
  return (counted) => {
    for (const { metric, counters } of metrics) {
      metric.reset();
      for (const [fate, counter] of counters) metric.inc({ fate }, counted.get(counter) ?? 0);
    }
  };
}

/** Creates the gauge of outbound requests. Returns a function that sets it. */
function createLaneGauge(registry: Registry): (lanes: RuntimeStats["lanes"]) => void {
  const gauge = new Gauge({
    name: "signalbox_outbound_requests",
    help: "Outbound requests by lane, in progress or queued",
    labelNames: ["lane", "state"],
    registers: [registry],
  });
  return (lanes) => {
    for (const { name, taken, waiting } of lanes) {
      gauge.set({ lane: name, state: "under-way" }, taken);
      gauge.set({ lane: name, state: "waiting" }, waiting);
    }
  };
}
