import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import { type IntakeContext, maxWorking, type WorkingDelivery } from "../intake/delivery-intake.js";
import { queuedDeliveries } from "../intake/delivery-intake.table.js";
import { type DeliveryReady, deliveryRef } from "./delivery.messages.js";

/** Time between watch messages to the deliveries with a slot, in milliseconds. */
const WATCH_MS = 10 * 60 * 1_000;

/** Maximum number of queued ids in the context. While no more are queued, the intake reads no queue rows. */
const MAX_UPCOMING = 32;
/** Maximum number of queue rows to read at once. */
const MAX_ROWS = 8;

/** Sends a watch message to each delivery with a slot. Schedules the next watch if any delivery has a slot. */
export function watch(turn: Turn, context: IntakeContext): IntakeContext {
  for (const { id } of context.working) turn.send(deliveryRef(turn.self.partition, id), { type: "delivery.watch" });
  const watches = context.working.length > 0;
  if (watches) turn.wake("watch", turn.now + WATCH_MS);
  return { ...context, watches };
}

/**
 * Returns how many new deliveries can get a slot now. Returns 0 while queued deliveries wait, so that new deliveries do
 * not overtake them.
 */
export function countPlaces(context: IntakeContext): number {
  const { queued, working } = context;
  return queued > 0 ? 0 : Math.max(0, maxWorking(context) - working.length);
}

/** Gives the free slots to the first of these deliveries, and queues the others. `ids` are in increasing order. */
export function enqueue(turn: Turn, context: IntakeContext, ids: readonly string[]): IntakeContext {
  const places = countPlaces(context);
  const placed = ids.slice(0, places).reduce((left, id) => work(turn, left, id), context);
  return fill(turn, ids.length <= places ? placed : queue(turn, placed, ids.slice(places)));
}

/** Queues deliveries. Ids that do not fit in `upcoming` are stored together in one row. */
function queue(turn: Turn, context: IntakeContext, ids: readonly string[]): IntakeContext {
  const { queued, upcoming } = context;
  const last = upcoming.length === queued ? null : (upcoming.at(-1) ?? "");
  const first = [...upcoming, ...ids.filter((id) => last === null || id < last)].sort();
  const max = Math.max(MAX_UPCOMING, upcoming.length);
  const later = [...first.slice(max), ...ids.filter((id) => last !== null && id >= last)];
  const [next] = later;
  if (next !== undefined) queuedDeliveries.put(turn, turn.self.partition, [turn.self.id, next], later);
  return { ...context, queued: queued + ids.length, upcoming: first.slice(0, max) };
}

/**
 * Frees a delivery's slot. The next queued delivery gets the slot, and the next ready delivery may raise. Also ends a
 * burst.
 */
export function vacate(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  const left = { ...context, working: context.working.filter((one) => one.id !== id) };
  if (left.working.length === context.working.length) return context;
  return { ...fill(turn, raiseFirst(turn, left)), isBurst: false };
}

/** Gives the free slots to the first queued deliveries. */
export function fill(turn: Turn, context: IntakeContext): IntakeContext {
  const places = maxWorking(context);
  let filled = context;
  while (filled.working.length < places) {
    const [next, ...upcoming] = filled.upcoming.length > 0 ? filled.upcoming : takeQueued(turn, filled);
    if (next === undefined) return filled;
    filled = work(turn, { ...filled, queued: filled.queued - 1, upcoming }, next);
  }
  return filled;
}

/**
 * Removes the first rows of queued ids, and returns their ids in order. After the first row, continues while a row's
 * first id is before the last id found, up to {@link MAX_ROWS} rows.
 */
function takeQueued(turn: Turn, { queued }: IntakeContext): readonly string[] {
  if (queued === 0) return [];
  const ids: string[] = [];
  let latest = "";
  for (const { key, value } of queuedDeliveries.entries(turn, turn.self.partition, [turn.self.id], {
    limit: MAX_ROWS,
  })) {
    const first = String(key.at(-1));
    if (ids.length > 0 && first > latest) break;
    const listed = value === true ? [first] : value;
    ids.push(...listed);
    latest = listed.reduce((left, right) => (left > right ? left : right), latest);
    turn.remove(key);
  }
  return ids.sort();
}

/** Marks a delivery as ready. The delivery raises its entries after all earlier deliveries with a slot. */
export function startRaising({ turn, id }: Delivered<DeliveryReady>, context: IntakeContext): IntakeContext {
  const working = context.working.map((one): WorkingDelivery => (one.id === id ? { ...one, state: "ready" } : one));
  return raiseFirst(turn, { ...context, working });
}

/** Gives a delivery a slot. */
function work(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  const others = context.working;
  const isFirst = others.every((one) => one.id > id && one.state !== "raising");
  const working: WorkingDelivery = { id, state: isFirst ? "raising" : "evaluating" };
  const { partition, id: integrationId } = turn.self;
  turn.send(deliveryRef(partition, id), { type: "delivery.work", integrationId, isFirst });
  if (!context.watches) turn.wake("watch", turn.now + WATCH_MS);
  return {
    ...context,
    watches: true,
    working: [...others, working].sort((left, right) => (left.id < right.id ? -1 : 1)),
  };
}

function raiseFirst(turn: Turn, context: IntakeContext): IntakeContext {
  const [first, ...others] = context.working;
  if (first?.state !== "ready" || others.some(({ state }) => state === "raising")) return context;
  turn.send(deliveryRef(turn.self.partition, first.id), { type: "delivery.raise" });
  return { ...context, working: [{ ...first, state: "raising" }, ...others] };
}
