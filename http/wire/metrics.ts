import type { ServedRequest } from "./service-log.js";

/** The figures of `GET /metrics`, in Prometheus' text form. Labels are routes and methods, never ids. */
export interface Metrics {
  served(served: ServedRequest): void;
  /** Counts a delivery of the code host, by whether it had an effect here. */
  delivered(fate: "used" | "unused"): void;
  text(): Promise<string>;
  readonly contentType: string;
}
