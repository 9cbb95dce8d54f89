import type { Delivered, Turn } from "../../runtime/turn.js";
import { type DeliveryReady, deliveryRef } from "./delivery.messages.js";
import { storeAlone } from "./delivery-group.js";
import {
  type IntakeContext,
  placesAt,
  placesGivenAtMs,
  type WorkingDelivery,
  withPlaceGiven,
} from "./delivery-intake.js";
import { queuedDeliveries } from "./delivery-intake.table.js";

/** How often deliveries that have a place are watched, in milliseconds. */
const WATCH_MS = 10 * 60 * 1_000;

/** Of those that are queued, the first that are known without reading rows. */
const MAX_UPCOMING = 32;
/** Rows of queued deliveries that are read at once. */
const MAX_ROWS = 8;

/** Watches those that have a place, as long as one has. */
export function watch(turn: Turn, context: IntakeContext): IntakeContext {
  for (const { id } of context.working) turn.send(deliveryRef(turn.self.partition, id), { type: "delivery.watch" });
  const watches = context.working.length > 0;
  if (watches) turn.wake("watch", turn.now + WATCH_MS);
  return { ...context, watches };
}

/** How many deliveries that come now have a place at once: none goes before others that wait for one. */
export function countPlaces(context: IntakeContext, nowMs: number): number {
  return context.queued > 0 ? 0 : Math.max(0, placesAt(context, nowMs) - context.working.length);
}

/** Gives deliveries a place, or puts them into the queue; their ids rise. */
export function enqueue(turn: Turn, context: IntakeContext, ids: readonly string[]): IntakeContext {
  const places = countPlaces(context, turn.now);
  const placed = ids.slice(0, places).reduce((left, id) => work(turn, left, id), context);
  return fill(turn, ids.length <= places ? placed : queue(turn, placed, ids.slice(places)));
}

/** Those that come after all that are upcoming are written in one row. */
function queue(turn: Turn, context: IntakeContext, ids: readonly string[]): IntakeContext {
  const { queued, upcoming } = context;
  const last = upcoming.length === queued ? null : (upcoming.at(-1) ?? "");
  const first = [...upcoming, ...ids.filter((id) => last === null || id < last)].sort();
  const most = Math.max(MAX_UPCOMING, upcoming.length);
  const later = [...first.slice(most), ...ids.filter((id) => last !== null && id >= last)];
  const [next] = later;
  if (next !== undefined) queuedDeliveries.put(turn, turn.self.partition, [turn.self.id, next], later);
  return { ...context, queued: queued + ids.length, upcoming: first.slice(0, most) };
}

/** A delivery has given up its place: the next one gets it, and the next one that is ready is raised. */
export function vacate(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  const left = { ...context, working: context.working.filter((one) => one.id !== id) };
  return left.working.length === context.working.length ? context : fill(turn, raiseFirst(turn, left));
}

/** What a flood kept gets its places, unless more deliveries came. */
export function giveKept(turn: Turn, context: IntakeContext): IntakeContext {
  return fill(turn, { ...context, willGivePlaces: false });
}

/** Gives the first of the queue the places that are free. */
function fill(turn: Turn, context: IntakeContext): IntakeContext {
  const places = placesAt(context, turn.now);
  let filled = context;
  while (filled.working.length < places) {
    const [next, ...upcoming] = filled.upcoming.length > 0 ? filled.upcoming : takeQueued(turn, filled);
    if (next === undefined) return filled;
    filled = work(turn, { ...filled, queued: filled.queued - 1, upcoming }, next);
  }
  return withWakeUp(turn, filled);
}

/** Where a flood keeps all places, what comes next has them given; so does a wake-up, if nothing comes. */
function withWakeUp(turn: Turn, context: IntakeContext): IntakeContext {
  const { working, queued, willGivePlaces = false } = context;
  if (willGivePlaces || working.length > 0 || queued === 0) return context;
  turn.wake("places", placesGivenAtMs(turn.now));
  return { ...context, willGivePlaces: true };
}

/** Takes the first of the queue out of their rows, so many that none of the other rows is older. */
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

/** A delivery's first entries are evaluated: they are raised once nothing before it has still to be. */
export function startRaising({ turn, id }: Delivered<DeliveryReady>, context: IntakeContext): IntakeContext {
  const working = context.working.map((one): WorkingDelivery => (one.id === id ? { ...one, state: "ready" } : one));
  return raiseFirst(turn, { ...context, working });
}

/** Gives a delivery a place. One whose group is damaged nobody can read: it waits no more. */
function work(turn: Turn, context: IntakeContext, id: string): IntakeContext {
  if (!storeAlone(turn, id)) return { ...context, backlog: context.backlog - 1 };
  const others = context.working;
  const isFirst = others.every((one) => one.id > id && one.state !== "raising");
  const working: WorkingDelivery = { id, state: isFirst ? "raising" : "evaluating" };
  const { partition, id: integrationId } = turn.self;
  turn.send(deliveryRef(partition, id), { type: "delivery.work", integrationId, isFirst });
  if (!context.watches) turn.wake("watch", turn.now + WATCH_MS);
  return {
    ...withPlaceGiven(context, turn.now),
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
