import type { ServedRequest } from "./service-log.js";

/** The metrics of `GET /metrics`, in the Prometheus text format. No label contains an id. */
export interface Metrics {
  served(served: ServedRequest): void;
  /** Counts a code host delivery, by whether the service used it. */
  delivered(fate: "used" | "unused"): void;
  text(): Promise<string>;
  readonly contentType: string;
}
