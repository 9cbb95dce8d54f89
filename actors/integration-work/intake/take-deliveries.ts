import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import type { NewDelivery } from "../deliveries/delivery.js";
import type { DeliveryTaken, TakeDeliveries } from "../deliveries/delivery.messages.js";
import { deliveries } from "../deliveries/delivery.table.js";
import { recordKey, TakenKeys } from "../deliveries/delivery-key.table.js";
import { count } from "../deliveries/delivery-quota.js";
import { countPlaces } from "../deliveries/delivery-slots.js";
import { type IntakeContext, isCrowded, withArrived } from "./delivery-intake.js";
import { insertDelivery } from "./record-delivery.js";

/** Wait before a rejected sender may retry, in seconds. */
const CROWDED_SECONDS = 30;

const crowded: Refusal = {
  refused: "too-many-requests",
  detail: "Too many deliveries of this integration wait to be worked.",
  retryAfterSeconds: CROWDED_SECONDS,
};

/**
 * Accepts deliveries in order of arrival, with the same result as if each had arrived alone. If the integration was
 * removed, rejects all deliveries, because nothing would remove their rows later.
 */
export function takeAll(event: Delivered<TakeDeliveries>, before: IntakeContext): IntakeContext {
  const { turn, deliveries: all } = event;
  if (findResource(turn, turn.self.partition, "integration", turn.self.id) === undefined) {
    takeNone(event);
    // Do not stop while deliveries are stored: a message to clear them will follow.
    if (deliveries.list(turn, turn.self.partition, [turn.self.id], { limit: 1 }).length === 0) turn.stop();
    return before;
  }
  const keys = new TakenKeys(turn, before.keysFrom ?? null);
  const context = { ...before, keysFrom: keys.from };
  const places = countPlaces(withArrived(context, all.length));
  const ids: string[] = [];
  let bytes = 0;
  const take = (delivery: NewDelivery): DeliveryTaken | Refusal => {
    const { key } = delivery;
    const repeated = key === null ? null : repeat(turn, keys.find(key));
    if (repeated !== null) return repeated;
    if (isCrowded(context, { count: ids.length, bytes })) return crowded;
    const { id, body } = insertDelivery(turn, delivery, ids.length < places ? "working" : "accepted");
    if (key !== null) recordKey(turn, key, id);
    ids.push(id);
    bytes += body?.bytes ?? 0;
    return { id, isRepeated: false };
  };
  turn.reply(all.map(take));
  return ids.length === 0 ? context : count(turn, withArrived(context, ids.length), { ids, bytes });
}

/** Rejects the deliveries of a removed integration. */
export function takeNone({ turn, deliveries: all }: Delivered<TakeDeliveries>): void {
  turn.reply(all.map((): Refusal => ({ refused: "not-found" })));
}

/**
 * Counts a repeated delivery in the row of the earlier delivery `id`, which has the same key. Returns null if the new
 * delivery must be accepted: the key is new, or the earlier delivery failed. If the row of the earlier delivery was
 * removed, the new delivery still counts as repeated.
 */
function repeat(turn: Turn, id: string | undefined): DeliveryTaken | null {
  if (id === undefined) return null;
  const row = deliveries.get(turn, turn.self.partition, turn.self.id, id);
  if (row?.state === "failed") return null;
  if (row !== undefined) deliveries.put(turn, turn.self.partition, row, { ...row, repeated: row.repeated + 1 });
  return { id, isRepeated: true };
}
