import type { Delivered, Turn } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import type { NewDelivery } from "./delivery.js";
import type { DeliveryTaken, TakeDeliveries } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { countRepeated, groupedKeysPicture, NewGroup } from "./delivery-group.js";
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

/**
 * Takes deliveries in the order they came: each as if those before it had been taken alone. None where the integration is
 * gone: some may be on their way by then, and nobody would clear what is stored of them.
 */
export function takeAll(event: Delivered<TakeDeliveries>, before: IntakeContext): IntakeContext {
  const { turn, deliveries: all } = event;
  if (findResource(turn, turn.self.partition, "integration", turn.self.id) === undefined) {
    takeNone(event);
    // Where something is stored, it is about to be cleared.
    if (deliveries.list(turn, turn.self.partition, [turn.self.id], { limit: 1 }).length === 0) turn.stop();
    return before;
  }
  const grouped = turn.picture(groupedKeysPicture);
  const keys = new TakenKeys(turn, before.keysFrom ?? null, { wait: grouped.size > 0 });
  const group = new NewGroup(turn);
  const context = { ...withArrivals(before, all.length, turn.now), keysFrom: keys.from };
  const places = countPlaces(context, turn.now);
  const ids: string[] = [];
  let bytes = 0;
  const take = (delivery: NewDelivery): DeliveryTaken | Refusal => {
    const { key, body } = delivery;
    const waiting = key === null ? undefined : grouped.get(key);
    if (waiting !== undefined) {
      if (!group.repeat(waiting.id)) countRepeated(turn, waiting);
      return { id: waiting.id, isRepeated: true };
    }
    const repeated = key === null ? null : repeat(turn, keys.find(key));
    if (repeated !== null) return repeated;
    if (isCrowded(context, { count: ids.length, bytes })) return crowded;
    const id = turn.newId("dlv");
    const isPlaced = ids.length < places;
    if (!isPlaced && group.takes(delivery)) group.add(id, delivery);
    else {
      insertDelivery(turn, delivery, { id, state: isPlaced ? "working" : "accepted" });
      if (key !== null) recordKey(turn, key, id, turn.now);
    }
    ids.push(id);
    bytes += ArrayBuffer.isView(body) ? body.length : body.bytes;
    return { id, isRepeated: false };
  };
  turn.reply(all.map(take));
  group.store();
  return ids.length === 0 ? context : count(turn, context, { ids, bytes });
}

/** Of an integration that is gone. */
export function takeNone({ turn, deliveries: all }: Delivered<TakeDeliveries>): void {
  turn.reply(all.map((): Refusal => ({ refused: "not-found" })));
}

/**
 * Counts a delivery that came again, by the one that its key stands for; null where it is to be taken: its key is new, or
 * stands for one that failed. One whose row is gone was taken all the same.
 */
function repeat(turn: Turn, id: string | undefined): DeliveryTaken | null {
  if (id === undefined) return null;
  const row = deliveries.get(turn, turn.self.partition, turn.self.id, id);
  if (row?.state === "failed") return null;
  if (row !== undefined) deliveries.put(turn, turn.self.partition, row, { ...row, repeated: row.repeated + 1 });
  return { id, isRepeated: true };
}
