import type { Turn } from "../../runtime/turn.js";
import { timeText } from "../time-text.js";
import type { DeliveryRow, NewDelivery } from "./delivery.js";
import { deliveryIntakeRef } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { storeBody } from "./delivery-body.table.js";

/**
 * Records a delivery in the turn of whoever has it, and has it worked after that: with what else the turn writes, or not
 * at all. Returns its id. Asks for no key, and refuses nothing.
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

/** What a new delivery begins with; an id of its own by default. */
interface Beginning {
  readonly id?: string;
  /** `working` where it has a place at once. */
  readonly state?: "accepted" | "working";
  /** How often it came again until it is written. */
  readonly repeated?: number;
}

/** Writes the row of a new delivery. */
export function insertDelivery(turn: Turn, delivery: NewDelivery, begins: Beginning = {}): DeliveryRow {
  const { integrationId, teamId, source, block, key, keyProblem, headers, cursor, causes, redeliveryOf } = delivery;
  const { body } = delivery;
  const { id = turn.newId("dlv"), state = "accepted", repeated = 0 } = begins;
  // Each member by its name: objects that are spread cost more than the row that is written.
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
    repeated,
    skipped: 0,
    redeliveryOf,
    redeliveredAs: null,
  };
  const told = keyProblem === undefined ? row : { ...row, keyProblem };
  deliveries.insert(turn, turn.self.partition, told);
  return told;
}
