import type { Delivered, Turn } from "../../runtime/turn.js";
import { type DeliveryReady, deliveryRef } from "./delivery.messages.js";
import { type IntakeContext, placesAt, type WorkingDelivery } from "./delivery-intake.js";
import { queuedDeliveries } from "./delivery-intake.table.js";

/** How often deliveries that have a place are watched, in milliseconds. */
const WATCH_MS = 10 * 60 * 1_000;

/** Of those that are queued, the first that are known without reading rows. */
const MAX_UPCOMING = 32;

/** Watches those that have a place, as long as one has. */
export function watch(turn: Turn, context: IntakeContext): IntakeContext {
  for (const { id } of context.working) turn.send(deliveryRef(turn.self.partition, id), { type: "delivery.watch" });
  const watches = context.working.length > 0;
  if (watches) turn.wake("watch", turn.now + WATCH_MS);
  return { ...context, watches };
}

/** Whether there is a place for a delivery that comes now: not behind others that wait for one. */
export function hasPlace(context: IntakeContext, nowMs: number): boolean {
  return context.queued === 0 && context.working.length < placesAt(context, nowMs);
}

/** Gives a delivery a place, or puts it into the queue. */
export function enqueue(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  if (hasPlace(context, turn.now)) return work(turn, context, id);
  queuedDeliveries.put(turn, turn.self.partition, [turn.self.id, id], true);
  const { queued, upcoming } = context;
  const isAmong = upcoming.length === queued || id < (upcoming.at(-1) ?? "");
  const first = isAmong ? [...upcoming, id].sort().slice(0, MAX_UPCOMING) : upcoming;
  return fill(turn, { ...context, queued: queued + 1, upcoming: first });
}

/** A delivery has given up its place: the next one gets it, and the next one that is ready is raised. */
export function vacate(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  const left = { ...context, working: context.working.filter((one) => one.id !== id) };
  return left.working.length === context.working.length ? context : fill(turn, raiseFirst(turn, left));
}

/** Gives the first of the queue the places that are free. */
function fill(turn: Turn, context: IntakeContext): IntakeContext {
  const places = placesAt(context, turn.now);
  let filled = context;
  while (filled.working.length < places) {
    const [next, ...upcoming] = filled.upcoming.length > 0 ? filled.upcoming : listQueued(turn, filled);
    if (next === undefined) return filled;
    queuedDeliveries.remove(turn, turn.self.partition, turn.self.id, next);
    filled = work(turn, { ...filled, queued: filled.queued - 1, upcoming }, next);
  }
  return filled;
}

/** The first of the queue, as its rows say. */
function listQueued(turn: Turn, { queued }: IntakeContext): readonly string[] {
  if (queued === 0) return [];
  const page = { limit: MAX_UPCOMING };
  return queuedDeliveries.entries(turn, turn.self.partition, [turn.self.id], page).map(({ key }) => String(key.at(-1)));
}

/** A delivery's first entries are evaluated: they are raised once nothing before it has still to be. */
export function startRaising({ turn, id }: Delivered<DeliveryReady>, context: IntakeContext): IntakeContext {
  const working = context.working.map((one): WorkingDelivery => (one.id === id ? { ...one, state: "ready" } : one));
  return raiseFirst(turn, { ...context, working });
}

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
