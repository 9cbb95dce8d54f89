import { table } from "../../../storage/table.js";
import type { DeliveryFault } from "./verify-delivery.js";

/**
 * Key: `[integration, delivery]`. Value: the ids of the queued deliveries that start at this one; true for this
 * delivery alone, as earlier releases wrote it.
 */
export const queuedDeliveries = table<true | readonly string[]>("delivery-queued");

/** A delivery whose verification failed. */
export interface RefusedDelivery {
  readonly at: string;
  /** Without credentials and signatures; only the first ones, up to a size limit. */
  readonly headers: Readonly<Record<string, string>>;
  /** Size of the body, in bytes. */
  readonly bytes: number;
  /** Absent in rows of an earlier release. */
  readonly reason?: DeliveryFault | null;
}

/** The deliveries of an integration whose verification failed. */
export interface RefusedDeliveries {
  readonly count: number;
  /** The latest rejected deliveries, newest first. */
  readonly latest: readonly RefusedDelivery[];
}

/** Key: `[integration]`. */
export const refusedDeliveries = table<RefusedDeliveries>("delivery-refused");
