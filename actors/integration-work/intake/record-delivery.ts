import type { Turn } from "../../../runtime/turns/turn.js";
import { timeText } from "../../time-text.js";
import type { DeliveryRow, NewDelivery } from "../deliveries/delivery.js";
import { deliveryIntakeRef } from "../deliveries/delivery.messages.js";
import { deliveries } from "../deliveries/delivery.table.js";
import { storeBody } from "../deliveries/delivery-body.table.js";

/**
 * Records a delivery in the calling actor's turn, queues it for processing, and returns its id. The delivery and the
 * turn's other writes are stored together, or not at all. Does not check for a repeated key, and never rejects a
 * delivery.
 */
export function recordDelivery(turn: Turn, delivery: NewDelivery): string {
  const { id, integrationId, body } = insertDelivery(turn, delivery);
  turn.send(deliveryIntakeRef(turn.self.partition, integrationId), {
    type: "delivery.recorded",
    id,
    bytes: body?.bytes ?? 0,
  });
  return id;
}

/** Writes the row of a new delivery. `state` is `working` if the delivery gets a slot at once. */
export function insertDelivery(
  turn: Turn,
  delivery: NewDelivery,
  state: "accepted" | "working" = "accepted",
): DeliveryRow {
  const { integrationId, teamId, source, block, key, keyProblem, headers, cursor, causes, redeliveryOf } = delivery;
  const { body } = delivery;
  const id = turn.newId("dlv");
  // Assign each member by name: spreading objects costs more than writing the row.
  const row: DeliveryRow = {
    id,
    integrationId,
    teamId,
    source,
    block,
    key,
    receivedAt: timeText(turn.now),
    state,
    reason: null,
    endedAt: null,
    attempts: 0,
    retryAt: null,
    headers,
    body: ArrayBuffer.isView(body) ? storeBody(turn, { id, integrationId }, body) : body,
    cursor,
    causes,
    repeated: 0,
    skipped: 0,
    redeliveryOf,
    redeliveredAs: null,
  };
  const recorded = keyProblem === undefined ? row : { ...row, keyProblem };
  deliveries.insert(turn, turn.self.partition, recorded);
  return recorded;
}
