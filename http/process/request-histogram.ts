import { Histogram, type HistogramConfiguration } from "prom-client";

type Label = "method" | "route" | "status";
type Shown = Awaited<ReturnType<Histogram<Label>["get"]>>;

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10] as const;

const declared: HistogramConfiguration<Label> = {
  name: "signalbox_http_request_seconds",
  help: "Time to respond to a request",
  labelNames: ["method", "route", "status"],
  buckets: [...BUCKETS],
  registers: [],
};

/** The requests with the same labels. */
interface Series {
  readonly labels: Readonly<Record<Label, string>>;
  /** Counts per bucket, not cumulative. The last one counts all slower requests. */
  readonly counts: number[];
  sumSeconds: number;
}

/**
 * The histogram of answered requests, with the same output as the library's. It has its own counters because it runs
 * for every request: the library would compute a key from the labels each time.
 */
export class RequestHistogram extends Histogram<Label> {
  /** An empty histogram of the library. Provides the metadata of the output. */
  readonly #empty: Histogram<Label>;
  /** By route, status and method. */
  readonly #series = new Map<string, Map<number, Map<string, Series>>>();

  constructor() {
    super(declared);
    this.#empty = new Histogram(declared);
  }

  count(method: string, route: string, status: number, seconds: number): void {
    const series = this.#series.get(route)?.get(status)?.get(method) ?? this.#begin(method, route, status);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] ?? 0)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sumSeconds += seconds;
  }

  override get(): Promise<Shown> {
    return this.getForPromString();
  }

  /** Returns the values that the registry writes. */
  async getForPromString(): Promise<Shown> {
    const shown = await this.#empty.get();
    return { ...shown, values: this.#all().flatMap((series) => valuesOf(shown.name, series)) };
  }

  #begin(method: string, route: string, status: number): Series {
    const labels = { method, route, status: String(status) };
    const series = { labels, counts: new Array<number>(BUCKETS.length + 1).fill(0), sumSeconds: 0 };
    const ofRoute = this.#series.get(route) ?? new Map<number, Map<string, Series>>();
    const ofStatus = ofRoute.get(status) ?? new Map<string, Series>();
    this.#series.set(route, ofRoute.set(status, ofStatus.set(method, series)));
    return series;
  }

  #all(): Series[] {
    return [...this.#series.values()].flatMap((ofRoute) =>
      [...ofRoute.values()].flatMap((ofStatus) => [...ofStatus.values()]),
    );
  }
}

function valuesOf(name: string, { labels, counts, sumSeconds }: Series): Shown["values"] {
  let count = 0;
  const buckets = counts.map((more, index) => {
    count += more;
    return { metricName: `${name}_bucket`, labels: { le: BUCKETS[index] ?? "+Inf", ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
