import { reference } from "../../runtime/reference.js";
import type { Answered, EffectEnded, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { TaskRaised } from "../tasks/team-marks.messages.js";
import type { DeliveryState, NewDelivery } from "./delivery.js";
import type { DeliveryFault } from "./verify-delivery.js";

/** A webhook's deliveries that were verified, in the order they came; the answer has what became of each. */
export interface TakeDeliveries extends Answered<readonly (DeliveryTaken | Refusal)[]> {
  readonly type: "deliveries.take";
  readonly deliveries: readonly NewDelivery[];
}

export interface DeliveryTaken {
  readonly id: string;
  /** Whether it came before, under its key. */
  readonly isRepeated: boolean;
}

/** Deliveries that were not verified: counted, and the newest kept for a while without their bodies. */
export interface RefuseDelivery extends Message {
  readonly type: "delivery.refuse";
  readonly count: number;
  /** Newest first, at most 20. */
  readonly latest: readonly {
    /** Without credentials and signatures. */
    readonly headers: Readonly<Record<string, string>>;
    /** Length of its body. */
    readonly bytes: number;
    /** Absent in a message of an earlier release. */
    readonly reason?: DeliveryFault;
  }[];
}

/** A delivery was recorded in another actor's turn; see `record-delivery.ts`. */
export interface DeliveryRecorded extends Message {
  readonly type: "delivery.recorded";
  readonly id: string;
  /** Length of its body, in bytes. */
  readonly bytes: number;
}

/** From a delivery that has a place: its first entries are evaluated, and wait for their turn to be raised. */
export interface DeliveryReady extends Message {
  readonly type: "delivery.ready";
  readonly id: string;
}

/** From a delivery: it has given up its place, because it is over or waits for a lookup. */
export interface DeliveryLeft extends Message {
  readonly type: "delivery.left";
  readonly id: string;
  readonly isOver: boolean;
  /** Length of its body, in bytes. */
  readonly bytes: number;
}

/** From a delivery that waited for a lookup: it wants a place again. */
export interface DeliveryDue extends Message {
  readonly type: "delivery.due";
  readonly id: string;
}

/** A person has a delivery worked again; the answer has the id of the new one. */
export interface RedeliverOne extends Answered<Redelivered | Refusal>, Keyed {
  readonly type: "delivery.redeliver";
  readonly id: string;
}

export interface Redelivered {
  readonly id: string;
  /** Whether it was asked for before, under the same key. */
  readonly replayed: boolean;
}

/** A period whose deliveries are worked again: those that ended so, and that were not worked again since. */
export interface RedeliveryPeriod {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly states: readonly DeliveryState[];
  /** Only those after this one. */
  readonly after: string | null;
  /** When it was asked for, in milliseconds since 1970; absent while it is only counted. */
  readonly askedMs?: number;
}

export interface RedeliverPeriod extends Answered<Refusal | null> {
  readonly type: "deliveries.redeliver";
  readonly period: RedeliveryPeriod;
}

/** The integration has changed: it may be gone. */
export interface CheckIntake extends Message {
  readonly type: "intake.check";
}

type ToldIntake =
  | TakeDeliveries
  | RefuseDelivery
  | DeliveryRecorded
  | DeliveryReady
  | DeliveryLeft
  | DeliveryDue
  | RedeliverOne
  | RedeliverPeriod
  | CheckIntake;

/** What an intake is told, with what its wake-up tells it. */
export type IntakeMessage = ToldIntake | Woken;

/** The actor that takes an integration's deliveries and says when they are worked; its id is the integration's. */
export const deliveryIntakeRef = reference<ToldIntake>("delivery-intake");

/** A delivery has a place: it is evaluated. */
export interface WorkDelivery extends Message {
  readonly type: "delivery.work";
  readonly integrationId: string;
  /** Whether its entries may be raised as they are evaluated: nothing that came before it has still to be. */
  readonly isFirst: boolean;
}

/** It is a delivery's turn to raise its entries. */
export interface RaiseDelivery extends Message {
  readonly type: "delivery.raise";
}

/** From the intake, now and then: a raise that was not answered since the last time is given up. */
export interface WatchDelivery extends Message {
  readonly type: "delivery.watch";
}

/** A delivery, by its id. */
export const deliveryRef = reference<WorkDelivery | RaiseDelivery | WatchDelivery | TaskRaised>("delivery");

/** What the actor of a delivery is told, with what its effects and its wake-up tell it. */
export type DeliveryMessage = WorkDelivery | RaiseDelivery | WatchDelivery | TaskRaised | EffectEnded | Woken;
