/**
 * Takes the deliveries of one integration, `delivery-intake/<integration>`, and says when they are worked. It counts
 * what is stored of them; the deliveries themselves are rows, each with an actor of its own while it is worked.
 *
 * | state    | moved by                                   | next     | also                                            |
 * |----------|--------------------------------------------|----------|-------------------------------------------------|
 * | taking   | deliveries.take                            | taking   | of each: row, key; a place, or the queue. One   |
 * |          |                                            |          | whose key was seen is counted in the row that   |
 * |          |                                            |          | has the key; one while too many are not over is |
 * |          |                                            |          | refused: too many requests                      |
 * | taking   | delivery.recorded                          | taking   | counted; a place, or the queue                  |
 * | taking   | delivery.refuse                            | taking   | counted; the last 20 are kept without body      |
 * | taking   | delivery.ready                             | taking   | raised once nothing before it has still to be   |
 * | taking   | delivery.left                              | taking   | its place goes to the next; what is too much    |
 * |          |                                            |          | goes, oldest first                              |
 * | taking   | delivery.due                               | taking   | waits for a place, by its age                   |
 * | taking   | delivery.redeliver                         | taking   | a new delivery, or why there is none            |
 * | taking   | deliveries.redeliver                       | taking   | 20 a second from then on                        |
 * | taking   | woken                                      | taking   | the next of a period; what is too old goes;     |
 * |          |                                            |          | those that have a place are watched; places     |
 * |          |                                            |          | that a flood kept are given                     |
 * | taking   | intake.check, the integration is gone      | clearing | what is stored goes, in slices                  |
 * | clearing | deliveries.take                            | clearing | none is taken; so too where the integration is  |
 * |          |                                            |          | gone and nobody has told yet, or all is cleared |
 * | clearing | woken, more is stored                      | clearing |                                                 |
 * | clearing | woken, nothing is stored                   | clearing | stops                                           |
 *
 * 1. At most eight deliveries have a place, in a rush one, and in a flood one now and then (`placesAt`): taking goes
 *    first. While none has one and some wait, a wake-up is set that gives places. They are worked at once,
 *    and raise their entries one delivery after another, in order of arrival. A delivery that waits for a lookup has no
 *    place; what came later goes before it.
 * 2. A delivery without a place is in the queue, by its id: ids rise with their arrival. Those of one message that have no
 *    place are stored together until the first of them has one (`delivery-group.ts`).
 */
import { chartOf, toEvent } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { TurnReading } from "../../runtime/turn.js";
import { findResource } from "../resources/resource.table.js";
import { deliveryIntakeRef, type IntakeMessage } from "./delivery.messages.js";
import { groupedKeysPicture } from "./delivery-group.js";
import { emptyIntake, type IntakeContext } from "./delivery-intake.js";
import { clearSome, countRecorded, countRefused, leave, queueDue, wakeUp } from "./delivery-intake.transitions.js";
import { addPeriod, redeliver } from "./redeliver.js";
import { takeAll, takeNone } from "./take-deliveries.js";
import { startRaising } from "./working-places.js";

const { on, machine } = chartOf<IntakeContext, ReturnType<typeof classifyIntake>>();

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
        ...on("delivery.left", leave),
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

/** See the table above. In version 1 the first of the queue were in rows as well. */
export const deliveryIntakeActor = defineActor(deliveryIntakeRef, {
  machine: intakeMachine,
  classify: classifyIntake,
  version: 2,
  pictures: [groupedKeysPicture],
  migrate: ({ value, context }) => ({ value, context: Object.assign({}, context, { upcoming: [] }) }),
});

/** Classifies each message to an intake as an event of its machine. Reads only. */
function classifyIntake(message: IntakeMessage, _state: unknown, turn: TurnReading) {
  if (message.type !== "intake.check") return message;
  const { partition, id } = turn.self;
  // No state takes the event of an integration that is still there.
  const isThere = findResource(turn, partition, "integration", id) !== undefined;
  return toEvent(isThere ? "intake.stays" : "intake.gone");
}
