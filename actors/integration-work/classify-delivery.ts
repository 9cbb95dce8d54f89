import { isResultOf } from "../../runtime/effect-type.js";
import type { EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { INTEGRATION_REQUEST } from "../integrations/requests/integration-request.effects.js";
import type { DeliveryRow } from "./delivery.js";
import type { DeliveryMessage, WorkDelivery } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { EVALUATION } from "./delivery-evaluation.effects.js";
import {
  type DeliveryContext,
  onCrashed,
  onEvaluated,
  onLookedUp,
  onRaised,
  onTurnToRaise,
  onWatched,
  type Progress,
} from "./delivery-progress.js";

/** It has a place. */
export interface DeliveryPlaced extends Message {
  readonly type: "delivery.placed";
  readonly work: WorkDelivery;
  readonly row: DeliveryRow;
}

/** Its row is gone: the integration was deleted. */
interface DeliveryGone extends Message {
  readonly type: "delivery.gone";
}

type ProgressType = "delivery.goes-on" | "delivery.waits" | "delivery.done" | "delivery.failed" | AwayType;
type AwayType = "delivery.ignored" | "delivery.unrouted";

/** It goes on, or is over; the message has how. */
export type DeliveryProgressed = {
  readonly [Type in ProgressType]: Message & {
    readonly type: Type;
    readonly progress: Progress;
    readonly row: DeliveryRow;
  };
}[ProgressType];

export type DeliveryEvent = DeliveryPlaced | DeliveryGone | DeliveryProgressed | EffectEnded | Woken;

/** Classifies each message to a delivery as an event of its machine. Reads only. */
export function classifyDelivery(
  message: DeliveryMessage,
  { context }: { readonly context: DeliveryContext },
  turn: TurnReading,
): DeliveryEvent {
  if (message.type === "delivery.work") {
    const { partition, id } = turn.self;
    const row = deliveries.get(turn, partition, message.integrationId, id);
    return row === undefined ? { type: "delivery.gone" } : { type: "delivery.placed", work: message, row };
  }
  if (message.type === "woken") {
    // Nobody waits for a place any more where the integration is gone: its intake would begin anew.
    const isThere = deliveries.get(turn, turn.self.partition, context.integrationId, turn.self.id) !== undefined;
    return isThere ? message : { type: "delivery.gone" };
  }
  const progress = toProgress(message, context);
  if (progress === null) return message as EffectEnded;
  const row = deliveries.get(turn, turn.self.partition, context.integrationId, turn.self.id);
  return row === undefined ? { type: "delivery.gone" } : { type: toType(progress), progress, row };
}

function toProgress(
  message: Exclude<DeliveryMessage, WorkDelivery | Woken>,
  context: DeliveryContext,
): Progress | null {
  if (message.type === "delivery.raise") return onTurnToRaise(context);
  if (message.type === "delivery.watch") return onWatched(context);
  if (message.type === "task.raised") return onRaised(context, message);
  if (isResultOf(EVALUATION, message)) {
    const { result } = message;
    return result.ok ? onEvaluated(context, result.output) : onCrashed(context, result.error);
  }
  if (!isResultOf(INTEGRATION_REQUEST, message)) return null;
  const { result } = message;
  return result.ok ? onLookedUp(context, result.output) : onCrashed(context, result.error);
}

function toType({ does, end }: Progress): ProgressType {
  if (does === "wait") return "delivery.waits";
  return end === null ? "delivery.goes-on" : (`delivery.${end.state}` as const);
}
