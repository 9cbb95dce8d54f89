/**
 * One delivery during processing, `delivery/<id>`. Its rows store the results. The actor stops when the delivery ends.
 *
 * | state    | event (message)                                       | next      | also                              |
 * |----------|-------------------------------------------------------|-----------|-----------------------------------|
 * | accepted | delivery.placed (delivery.work: a slot is free)       | working   | evaluates the first entries       |
 * | accepted | delivery.gone (delivery.work, without a row)          | accepted  | stops                             |
 * | working  | delivery.goes-on (evaluated entries, a raised entry,  | working   | raises the next entry, evaluates  |
 * |          | permission to raise, a lookup result, a watch)        |           | the next entries, or looks up     |
 * | working  | delivery.waits (a lookup failed and is retryable)     | waiting   | frees its slot; wakes after 2 s,  |
 * |          |                                                       |           | doubling, up to 8 attempts        |
 * | working  | delivery.gone (any message, without a row)            | working   | stops                             |
 * | working  | delivery.done (all outcomes are recorded)             | done      | stops                             |
 * | working  | delivery.failed (the definition was removed, an       | failed    | stops                             |
 * |          | effect crashed, or entries failed, none succeeded)    |           |                                   |
 * | working  | delivery.ignored (`mine`, or no `when` is true)       | ignored   | stops                             |
 * | working  | delivery.unrouted (no route, or no line)              | unrouted  | stops                             |
 * | waiting  | woken                                                 | waiting   | asks for a slot                   |
 * | waiting  | delivery.placed                                       | working   | retries the lookup                |
 * | waiting  | delivery.gone                                         | waiting   | stops                             |
 *
 * 1. Each entry is fully evaluated before it is raised. Entries are raised one at a time: the next entry is raised when
 *    the team's marks actor has answered.
 * 2. Each entry is raised exactly once, under its own key. After a crash, only evaluation and GET requests repeat.
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../../runtime/effects/effect-type.js";
import type { TurnReading, Woken } from "../../../runtime/turns/turn.js";
import { INTEGRATION_REQUEST } from "../../integrations/requests/integration-request.effects.js";
import { type DeliveryMessage, deliveryRef, type WorkDelivery } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { askForPlace, begin, end, goOn, resume, wait } from "./delivery.transitions.js";
import { EVALUATION } from "./delivery-evaluation.effects.js";
import {
  type DeliveryContext,
  newDelivery,
  onCrashed,
  onEvaluated,
  onLookedUp,
  onRaised,
  onTurnToRaise,
  onWatched,
  type Progress,
} from "./delivery-progress.js";

const { on, machine } = createChart<DeliveryContext, ReturnType<typeof classifyDelivery>>();

/** The row is gone: the integration was removed, or its deliveries were cleared. */
const gone = on("delivery.gone", ({ turn }) => turn.stop());

const deliveryMachine = machine({
  id: "delivery",
  context: newDelivery,
  initial: "accepted",
  states: {
    accepted: { on: { ...gone, ...on("delivery.placed", "working", begin) } },
    working: {
      on: {
        ...gone,
        ...on("delivery.goes-on", goOn),
        ...on("delivery.waits", "waiting", wait),
        ...on("delivery.done", "done", end),
        ...on("delivery.failed", "failed", end),
        ...on("delivery.ignored", "ignored", end),
        ...on("delivery.unrouted", "unrouted", end),
      },
    },
    waiting: { on: { ...gone, ...on("woken", askForPlace), ...on("delivery.placed", "working", resume) } },
    done: {},
    failed: {},
    ignored: {},
    unrouted: {},
  },
});

/** See the table above. */
export const deliveryActor = defineActor(deliveryRef, {
  machine: deliveryMachine,
  classify: classifyDelivery,
  version: 1,
});

/** Classifies each message to a delivery as an event of its machine. Only reads. */
function classifyDelivery(
  message: DeliveryMessage,
  { context }: { readonly context: DeliveryContext },
  turn: TurnReading,
) {
  const { partition, id } = turn.self;
  if (message.type === "delivery.work") {
    const row = deliveries.get(turn, partition, message.integrationId, id);
    if (row === undefined) return toEvent("delivery.gone");
    return toEvent("delivery.placed", { work: message, row });
  }
  if (message.type === "woken") {
    // Check the delivery's row before asking for a slot. If the integration was removed, the request for a slot would
    // start a new intake for the removed integration.
    const isThere = deliveries.get(turn, partition, context.integrationId, id) !== undefined;
    return isThere ? message : toEvent("delivery.gone");
  }
  const progress = toProgress(message, context);
  if (progress === null) return message;
  const row = deliveries.get(turn, partition, context.integrationId, id);
  if (row === undefined) return toEvent("delivery.gone");
  return toEvent(toType(progress), { progress, row });
}

function toProgress(
  message: Exclude<DeliveryMessage, WorkDelivery | Woken>,
  context: DeliveryContext,
): Progress | null {
  if (message.type === "delivery.raise") return onTurnToRaise(context);
  if (message.type === "delivery.watch") return onWatched(context);
  if (message.type === "task.raised") return onRaised(context, message);
  if (isEffectResult(EVALUATION, message)) {
    const { result } = message;
    return result.ok ? onEvaluated(context, result.output) : onCrashed(context, result.error);
  }
  if (!isEffectResult(INTEGRATION_REQUEST, message)) return null;
  const { result } = message;
  return result.ok ? onLookedUp(context, result.output) : onCrashed(context, result.error);
}

function toType({ does, end: ended }: Progress) {
  if (does === "wait") return "delivery.waits";
  return ended === null ? "delivery.goes-on" : (`delivery.${ended.state}` as const);
}
