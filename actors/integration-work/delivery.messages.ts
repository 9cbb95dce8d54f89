import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { NewDelivery } from "./delivery.js";

/** A webhook's delivery that was verified; the answer says whether it is a new one. */
export interface TakeDelivery extends Answered<DeliveryTaken | Refusal> {
  readonly type: "delivery.take";
  readonly delivery: NewDelivery;
}

export interface DeliveryTaken {
  readonly id: string;
  /** Whether it came before, under its key. */
  readonly isRepeated: boolean;
}

/** A delivery was recorded in another actor's turn; see `record-delivery.ts`. */
export interface DeliveryRecorded extends Message {
  readonly type: "delivery.recorded";
  readonly id: string;
  /** Length of its body, in bytes. */
  readonly bytes: number;
}

/** The actor that takes an integration's deliveries and says when they are worked; its id is the integration's. */
export const deliveryIntakeRef = reference<TakeDelivery | DeliveryRecorded>("delivery-intake");
