import { table } from "../../../storage/table.js";
import type { DeliveryFault } from "./verify-delivery.js";

/**
 * Key: `[integration, delivery]`. Value: ids of queued deliveries; the first is the delivery in the key. Earlier
 * releases stored `true` for a single delivery.
 */
export const queuedDeliveries = table<true | readonly string[]>("delivery-queued");

/** A delivery whose verification failed. */
export interface RefusedDelivery {
  readonly at: string;
  /**
   * The headers, without credentials and signatures. If they exceed a size limit, only the first headers are stored.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Size of the body, in bytes. */
  readonly bytes: number;
  /** Absent in rows of an earlier release. */
  readonly reason?: DeliveryFault | null;
}

/** The number of an integration's deliveries whose verification failed, and the newest of them. */
export interface RefusedDeliveries {
  readonly count: number;
  /** The latest rejected deliveries, newest first. */
  readonly latest: readonly RefusedDelivery[];
}

/** Key: `[integration]`. */
export const refusedDeliveries = table<RefusedDeliveries>("delivery-refused");
