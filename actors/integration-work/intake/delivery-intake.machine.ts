/**
 * Accepts the deliveries of one integration, `delivery-intake/<integration>`, and schedules their processing. The
 * intake counts the stored deliveries. Each delivery has a row, and its own actor during processing.
 *
 * | state    | event (message)                            | next     | also                                           |
 * |----------|--------------------------------------------|----------|------------------------------------------------|
 * | taking   | deliveries.take                            | taking   | stores a row and a key for each delivery, and  |
 * |          |                                            |          | gives it a slot or queues it. If its key is    |
 * |          |                                            |          | known, only counts a repeat in the known row.  |
 * |          |                                            |          | Above the backlog limit, rejects new           |
 * |          |                                            |          | deliveries: too many requests                  |
 * | taking   | delivery.recorded                          | taking   | counts it; gives it a slot or queues it        |
 * | taking   | delivery.refuse                            | taking   | counts them; stores the last 20 without bodies |
 * | taking   | delivery.ready                             | taking   | lets it raise after all earlier deliveries     |
 * | taking   | delivery.left                              | taking   | gives the slot to the next delivery; removes   |
 * |          |                                            |          | the oldest deliveries above the limit          |
 * | taking   | delivery.due                               | taking   | gives it a slot or queues it, ordered by id    |
 * | taking   | delivery.redeliver                         | taking   | starts a new delivery, or refuses              |
 * | taking   | deliveries.redeliver                       | taking   | redelivers 20 per second                       |
 * | taking   | woken                                      | taking   | continues a redelivery period, removes old     |
 * |          |                                            |          | deliveries, or watches deliveries with a slot  |
 * | taking   | intake.gone (intake.check, if the          | clearing | removes all rows, in slices                    |
 * |          | integration was removed)                   |          |                                                |
 * | clearing | deliveries.take                            | clearing | rejects all; so does `taking` when the         |
 * |          |                                            |          | integration was removed                        |
 * | clearing | woken                                      | clearing | removes more rows; stops when none is left     |
 *
 * 1. At most 8 deliveries have a slot. In a burst only 1 delivery has a slot, because accepting deliveries has
 *    priority (`maxWorking`).
 * 2. Deliveries with a slot are evaluated concurrently. They raise their entries one delivery at a time, in order of
 *    arrival. A delivery that waits for a lookup has no slot, and later deliveries overtake it.
 * 3. The queue orders deliveries without a slot by id; ids increase with arrival.
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
  // If the integration still exists, the event has no effect: no state handles it.
  const isThere = findResource(turn, partition, "integration", id) !== undefined;
  return toEvent(isThere ? "intake.stays" : "intake.gone");
}

/**
 * The state of version 2. It also had the times at which deliveries arrived, and the time until which slots were
 * withheld.
 */
interface Version2 extends IntakeContext {
  readonly arrivals?: unknown;
  readonly pacedUntilMs?: unknown;
  readonly willGivePlaces?: unknown;
}

function migrateContext(before: Version2, version: number): IntakeContext {
  const { arrivals: _arrivals, pacedUntilMs: _pacedUntilMs, willGivePlaces: _willGivePlaces, ...context } = before;
  return version === 1 ? { ...context, upcoming: [] } : context;
}
