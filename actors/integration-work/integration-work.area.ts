import { defineArea } from "../area.js";
import { ownedBy } from "../tables/owned-rows.js";
import { actionRunActor } from "./actions/action-run.machine.js";
import { actionRunRetention, counts } from "./actions/action-run.table.js";
import { bindingSubscriber } from "./actions/bindings.js";
import { deliveryActor } from "./deliveries/delivery.machine.js";
import { deliveries, deliveryEntries } from "./deliveries/delivery.table.js";
import { deliveryBodies } from "./deliveries/delivery-body.table.js";
import { type EvaluationOptions, evaluationEffect } from "./deliveries/delivery-evaluation.effects.js";
import { deliveryKeys } from "./deliveries/delivery-key.table.js";
import { deliveryGroupWalks } from "./intake/delivery-group.migration.js";
import { deliveryIntakeActor } from "./intake/delivery-intake.machine.js";
import { queuedDeliveries, refusedDeliveries } from "./intake/delivery-intake.table.js";
import { intakeSubscriber } from "./intake/intake-subscriber.js";
import { pollActor } from "./polls/poll.machine.js";
import { pollSubscriber } from "./polls/poll-subscriber.js";
import { scheduleActor } from "./schedules/schedule.machine.js";
import { schedules } from "./schedules/schedule.table.js";
import { scheduleSubscriber } from "./schedules/schedule-subscriber.js";

/** The work of integrations: deliveries, polls, bindings and schedules. */
export const integrationWorkArea = defineArea({
  name: "integration-work",
  actors: () => [deliveryIntakeActor, deliveryActor, actionRunActor, pollActor, scheduleActor],
  tables: [
    deliveries,
    ownedBy(deliveries.name, deliveryEntries),
    deliveryBodies,
    deliveryKeys,
    queuedDeliveries,
    refusedDeliveries,
    actionRunRetention,
    counts,
    schedules,
  ],
  subscribers: [intakeSubscriber, bindingSubscriber, pollSubscriber, scheduleSubscriber],
  effects: ({ reading, scheduler, bodies }: EvaluationOptions) => [evaluationEffect({ reading, scheduler, bodies })],
  migrations: [
    // No rows change. The step exists because an earlier release cannot read deliveries that are stored together.
    { to: 13, title: "deliveries that wait may be stored together", walks: [] },
    { to: 15, title: "queued deliveries have rows of their own", walks: deliveryGroupWalks },
  ],
});
