import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import { findResource } from "../../resources/resource.table.js";
import { deliveryIntakeRef } from "../deliveries/delivery.messages.js";

/** Clears an integration's stored deliveries when the integration is removed. */
export const intakeSubscriber: Subscriber<ResourceChanged<"integration">> = {
  name: "deliveries go with their integration",
  facts: ["integration.changed"],
  handle({ id }, turn) {
    const { partition } = turn.self;
    if (findResource(turn, partition, "integration", id) !== undefined) return;
    turn.send(deliveryIntakeRef(partition, id), { type: "intake.check" });
  },
};
