import type { Delivered, Turn } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { DeliveryRow, NewDelivery } from "./delivery.js";
import type { DeliveryTaken, TakeDeliveries } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { type IntakeContext, isCrowded, withArrivals } from "./delivery-intake.js";
import { recordKey, TakenKeys } from "./delivery-key.table.js";
import { count } from "./delivery-room.js";
import { insertDelivery } from "./record-delivery.js";
import { countPlaces } from "./working-places.js";

/** Time after which a sender that is refused may try again, in seconds. */
const CROWDED_SECONDS = 30;

const crowded: Refusal = {
  refused: "too-many-requests",
  detail: "Too many deliveries of this integration wait to be worked.",
  retryAfterSeconds: CROWDED_SECONDS,
};

/** Takes deliveries in the order they came: each as if those before it had been taken alone. */
export function takeAll({ turn, deliveries: all }: Delivered<TakeDeliveries>, before: IntakeContext): IntakeContext {
  const keys = new TakenKeys(turn, before.keysFrom ?? null);
  const context = { ...withArrivals(before, all.length, turn.now), keysFrom: keys.from };
  const places = countPlaces(context, turn.now);
  const ids: string[] = [];
  let bytes = 0;
  const take = (delivery: NewDelivery): DeliveryTaken | Refusal => {
    const { key } = delivery;
    const known = key === null ? undefined : findTaken(turn, keys.find(key));
    if (known !== undefined) return repeat(turn, known);
    if (isCrowded(context, { count: ids.length, bytes })) return crowded;
    const row = insertDelivery(turn, delivery, ids.length < places ? "working" : "accepted");
    if (key !== null) recordKey(turn, row.integrationId, key, row.id);
    ids.push(row.id);
    bytes += row.body?.bytes ?? 0;
    return { id: row.id, isRepeated: false };
  };
  turn.reply(all.map(take));
  return ids.length === 0 ? context : count(turn, context, { ids, bytes });
}

/** The delivery that a key stands for. One that failed is taken again, and so is one whose row is gone and says nothing. */
function findTaken(turn: Turn, id: string | undefined): DeliveryRow | undefined {
  const row = id === undefined ? undefined : deliveries.get(turn, turn.self.partition, turn.self.id, id);
  return row?.state === "failed" ? undefined : row;
}

function repeat(turn: Turn, row: DeliveryRow): DeliveryTaken {
  deliveries.put(turn, turn.self.partition, row, { ...row, repeated: row.repeated + 1 });
  return { id: row.id, isRepeated: true };
}
