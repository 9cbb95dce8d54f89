import { table } from "../../storage/table.js";
import type { DeliveryFault } from "./verify-delivery.js";

/**
 * `[integration, delivery]` -> the deliveries that wait for a place to be worked from this one on; true for it alone, as
 * earlier releases wrote it.
 */
export const queuedDeliveries = table<true | readonly string[]>("delivery-queued");

/** A delivery that was not verified. */
export interface RefusedDelivery {
  readonly at: string;
  /** Without credentials and signatures; the first ones, as far as they are short. */
  readonly headers: Readonly<Record<string, string>>;
  /** Length of its body, in bytes. */
  readonly bytes: number;
  /** Absent where an earlier release wrote it. */
  readonly reason?: DeliveryFault | null;
}

/** The deliveries of an integration that were not verified. */
export interface RefusedDeliveries {
  readonly count: number;
  /** The last ones, newest first. */
  readonly latest: readonly RefusedDelivery[];
}

/** `[integration]` */
export const refusedDeliveries = table<RefusedDeliveries>("delivery-refused");
