import type { Schema } from "../../client/entry.js";

export type DeliveryState = Schema<"DeliveryItem">["state"];

/** The states in which deliveries of a period may be processed again. */
export const endedStates = ["done", "failed", "ignored", "unrouted"] as const satisfies readonly DeliveryState[];

export const deliveryStates = [
  "accepted",
  "working",
  "waiting",
  ...endedStates,
] as const satisfies readonly DeliveryState[];

/** Whether a delivery in this state failed, or found no line for its entries. */
export function isUnsuccessful(state: DeliveryState): boolean {
  return state === "failed" || state === "unrouted";
}
