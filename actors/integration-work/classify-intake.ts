import type { Answered, Message, TurnReading } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import type { NewDelivery } from "./delivery.js";
import type { CheckIntake, DeliveryTaken, IntakeMessage, TakeDelivery } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { type IntakeContext, isCrowded } from "./delivery-intake.js";
import { findDeliveryOfKey } from "./delivery-key.table.js";

interface Taking extends Answered<DeliveryTaken | Refusal> {
  readonly delivery: NewDelivery;
}

/** A delivery to be recorded. */
export interface TakeNew extends Taking {
  readonly type: "take.new";
}

/** A delivery whose key was seen; `id` has it. */
export interface TakeRepeated extends Taking {
  readonly type: "take.repeated";
  readonly id: string;
}

/** A delivery for which there is no room. */
export interface TakeCrowded extends Taking {
  readonly type: "take.crowded";
}

/** The integration is gone. */
interface IntakeGone extends Message {
  readonly type: "intake.gone";
}

/** The integration is still there. No state takes it. */
interface IntakeStays extends Message {
  readonly type: "intake.stays";
}

export type IntakeEvent =
  | TakeNew
  | TakeRepeated
  | TakeCrowded
  | IntakeGone
  | IntakeStays
  | Exclude<IntakeMessage, TakeDelivery | CheckIntake>;

/** Classifies each message to an intake as an event of its machine. Reads only. */
export function classifyIntake(
  message: IntakeMessage,
  { context }: { readonly context: IntakeContext },
  turn: TurnReading,
): IntakeEvent {
  if (message.type === "delivery.take") return classifyTake(message, context, turn);
  if (message.type !== "intake.check") return message;
  const { partition, id } = turn.self;
  const isThere = findResource(turn, partition, "integration", id) !== undefined;
  return { type: isThere ? "intake.stays" : "intake.gone" };
}

function classifyTake({ delivery }: TakeDelivery, context: IntakeContext, turn: TurnReading): IntakeEvent {
  const { integrationId, key } = delivery;
  const { partition } = turn.self;
  const id = key === null ? undefined : findDeliveryOfKey(turn, partition, { integrationId, key }, turn.now);
  const before = id === undefined ? undefined : deliveries.get(turn, partition, integrationId, id);
  // One that failed is taken again, and so is one whose row is gone and says nothing.
  if (before !== undefined && before.state !== "failed") return { type: "take.repeated", delivery, id: before.id };
  return { type: isCrowded(context) ? "take.crowded" : "take.new", delivery };
}
