/**
 * Accepts the deliveries of one integration, `delivery-intake/<integration>`, and schedules their processing. It counts
 * the stored deliveries. Each delivery is a row, with its own actor during processing.
 *
 * | state    | moved by                                   | next     | also                                           |
 * |----------|--------------------------------------------|----------|------------------------------------------------|
 * | taking   | deliveries.take                            | taking   | row and key for each; a slot, or the queue.    |
 * |          |                                            |          | A repeated key increments the count in the row |
 * |          |                                            |          | that has the key. Above the backlog limit, new |
 * |          |                                            |          | deliveries are rejected: too many requests     |
 * | taking   | delivery.recorded                          | taking   | counted; a slot, or the queue                  |
 * | taking   | delivery.refuse                            | taking   | counted; the last 20 are stored without bodies |
 * | taking   | delivery.ready                             | taking   | raised after all earlier deliveries            |
 * | taking   | delivery.left                              | taking   | the next delivery gets the slot; deliveries    |
 * |          |                                            |          | above the limit are removed, oldest first      |
 * | taking   | delivery.due                               | taking   | joins the queue, ordered by id                 |
 * | taking   | delivery.redeliver                         | taking   | a new delivery, or a refusal                   |
 * | taking   | deliveries.redeliver                       | taking   | redelivers 20 per second                       |
 * | taking   | woken                                      | taking   | the next of a period; old deliveries are       |
 * |          |                                            |          | removed; deliveries with a slot are watched    |
 * | taking   | intake.check, the integration is gone      | clearing | removes all rows, in slices                    |
 * | clearing | deliveries.take                            | clearing | rejects all; also in other states when the     |
 * |          |                                            |          | integration is removed                         |
 * | clearing | woken, more is stored                      | clearing |                                                |
 * | clearing | woken, nothing is stored                   | clearing | stops                                          |
 *
 * 1. At most 8 deliveries have a slot; in a burst 1, because accepting deliveries has priority (`maxWorking`).
 *    Deliveries with a slot are evaluated concurrently, and raise their entries one delivery at a time, in order of
 *    arrival. A delivery that waits for a lookup has no slot; later deliveries overtake it.
 * 2. The queue orders deliveries without a slot by id; ids increase with arrival.
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { TurnReading } from "../../../runtime/turns/turn.js";
import { findResource } from "../../resources/resource.table.js";
import { deliveryIntakeRef, type IntakeMessage } from "../deliveries/delivery.messages.js";
import { startRaising } from "../deliveries/delivery-slots.js";
import { addPeriod, redeliver } from "../deliveries/redeliver.js";
import { emptyIntake, type IntakeContext } from "./delivery-intake.js";
import {
  clearSome,
  countRecorded,
  countRefused,
  queueDue,
  releaseDelivery,
  wakeUp,
} from "./delivery-intake.transitions.js";
import { takeAll, takeNone } from "./take-deliveries.js";

const { on, machine } = createChart<IntakeContext, ReturnType<typeof classifyIntake>>();

const intakeMachine = machine({
  id: "delivery-intake",
  context: emptyIntake,
  initial: "taking",
  states: {
    taking: {
      on: {
        ...on("deliveries.take", takeAll),
        ...on("delivery.recorded", countRecorded),
        ...on("delivery.refuse", countRefused),
        ...on("delivery.ready", startRaising),
        ...on("delivery.left", releaseDelivery),
        ...on("delivery.due", queueDue),
        ...on("delivery.redeliver", redeliver),
        ...on("deliveries.redeliver", addPeriod),
        ...on("intake.gone", "clearing", ({ turn }) => turn.wake("clear", turn.now)),
        ...on("woken", wakeUp),
      },
    },
    clearing: { on: { ...on("deliveries.take", takeNone), ...on("woken", ({ turn }) => clearSome(turn)) } },
  },
});

/**
 * See the table above. Version 1 also stored the first queued deliveries in rows. Version 2 measured
 * arrivals over time.
 */
export const deliveryIntakeActor = defineActor(deliveryIntakeRef, {
  machine: intakeMachine,
  classify: classifyIntake,
  version: 3,
  migrate: ({ value, context }, version) => ({ value, context: migrateContext(context as Version2, version) }),
});

/** Classifies each message to an intake as an event of its machine. Only reads. */
function classifyIntake(message: IntakeMessage, _state: unknown, turn: TurnReading) {
  if (message.type !== "intake.check") return message;
  const { partition, id } = turn.self;
  // No state handles this event: the integration still exists.
  const isThere = findResource(turn, partition, "integration", id) !== undefined;
  return toEvent(isThere ? "intake.stays" : "intake.gone");
}

/** The state of version 2. It also recorded when deliveries arrived and until when slots were withheld. */
interface Version2 extends IntakeContext {
  readonly arrivals?: unknown;
  readonly pacedUntilMs?: unknown;
  readonly willGivePlaces?: unknown;
}

function migrateContext(before: Version2, version: number): IntakeContext {
  const { arrivals: _arrivals, pacedUntilMs: _pacedUntilMs, willGivePlaces: _willGivePlaces, ...context } = before;
  return version === 1 ? { ...context, upcoming: [] } : context;
}
