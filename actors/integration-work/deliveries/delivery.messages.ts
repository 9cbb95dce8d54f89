import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, EffectEnded, Message, Woken } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { TaskRaised } from "../../tasks/team-marks.messages.js";
import type { DeliveryFault } from "../intake/verify-delivery.js";
import type { DeliveryState, NewDelivery } from "./delivery.js";

/** Records verified webhook deliveries, in order of arrival. The answer has one result per delivery. */
export interface TakeDeliveries extends Answered<readonly (DeliveryTaken | Refusal)[]> {
  readonly type: "deliveries.take";
  readonly deliveries: readonly NewDelivery[];
}

export interface DeliveryTaken {
  readonly id: string;
  /** Whether a delivery with the same key was already accepted. */
  readonly isRepeated: boolean;
}

/** Deliveries whose verification failed. The intake counts them and stores the newest ones without bodies. */
export interface RefuseDelivery extends Message {
  readonly type: "delivery.refuse";
  readonly count: number;
  /** At most 20 of the deliveries, newest first. */
  readonly latest: readonly {
    /** The headers, without credentials and signatures. */
    readonly headers: Readonly<Record<string, string>>;
    /** Size of the body, in bytes. */
    readonly bytes: number;
    /** Absent in a message of an earlier release. */
    readonly reason?: DeliveryFault;
  }[];
}

/** Sent by an actor that recorded a delivery in its own turn (see `record-delivery.ts`). */
export interface DeliveryRecorded extends Message {
  readonly type: "delivery.recorded";
  readonly id: string;
  /** Size of the body, in bytes. */
  readonly bytes: number;
}

/** A delivery with a slot reports that its first entries are evaluated and ready to raise. */
export interface DeliveryReady extends Message {
  readonly type: "delivery.ready";
  readonly id: string;
}

/** A delivery reports that it has freed its slot, because it ended or waits before it retries a lookup. */
export interface DeliveryLeft extends Message {
  readonly type: "delivery.left";
  readonly id: string;
  readonly isOver: boolean;
  /** Size of the body, in bytes. */
  readonly bytes: number;
}

/** A delivery asks for a slot again, to retry a lookup. */
export interface DeliveryDue extends Message {
  readonly type: "delivery.due";
  readonly id: string;
}

/** A user redelivers one delivery. The answer has the id of the new delivery. */
export interface RedeliverOne extends Answered<Redelivered | Refusal>, Keyed {
  readonly type: "delivery.redeliver";
  readonly id: string;
}

export interface Redelivered {
  readonly id: string;
  /** Whether an earlier request with the same idempotency key had this result. */
  readonly replayed: boolean;
}

/** The period whose deliveries to redeliver, and their states. `listRedeliverable` selects the deliveries. */
export interface RedeliveryPeriod {
  readonly fromMs: number;
  /** End of the period, exclusive. */
  readonly toMs: number;
  readonly states: readonly DeliveryState[];
  /** Only deliveries after this id; null for no limit. */
  readonly after: string | null;
  /** When a user requested the redelivery, in milliseconds since 1970; absent when deliveries are only counted. */
  readonly askedMs?: number;
}

export interface RedeliverPeriod extends Answered<Refusal | null> {
  readonly type: "deliveries.redeliver";
  readonly period: RedeliveryPeriod;
}

/** Sent after the integration changed or was removed. */
export interface CheckIntake extends Message {
  readonly type: "intake.check";
}

type SentToIntake =
  | TakeDeliveries
  | RefuseDelivery
  | DeliveryRecorded
  | DeliveryReady
  | DeliveryLeft
  | DeliveryDue
  | RedeliverOne
  | RedeliverPeriod
  | CheckIntake;

/** The messages to an intake, including its wake-up. */
export type IntakeMessage = SentToIntake | Woken;

/**
 * The actor that accepts an integration's deliveries and schedules their processing. The actor's id is the
 * integration's id.
 */
export const deliveryIntakeRef = reference<SentToIntake>("delivery-intake");

/** The delivery has a slot and can be evaluated. */
export interface WorkDelivery extends Message {
  readonly type: "delivery.work";
  readonly integrationId: string;
  /**
   * Whether the delivery may raise entries at once: no earlier delivery has a slot, and no other delivery is raising.
   */
  readonly isFirst: boolean;
}

/** It is the delivery's turn to raise its entries. */
export interface RaiseDelivery extends Message {
  readonly type: "delivery.raise";
}

/**
 * Sent periodically by the intake. If the delivery's raised entry got no answer since the last watch message, the entry
 * fails.
 */
export interface WatchDelivery extends Message {
  readonly type: "delivery.watch";
}

/** A delivery, by its id. */
export const deliveryRef = reference<WorkDelivery | RaiseDelivery | WatchDelivery | TaskRaised>("delivery");

/** The messages to a delivery's actor, including those of its effects and wake-up. */
export type DeliveryMessage = WorkDelivery | RaiseDelivery | WatchDelivery | TaskRaised | EffectEnded | Woken;
