/**
 * Reserves hashes that only one resource over all workspaces may have (the token of a runner pool),
 * `hash-reservations/all` under the global partition. A hash is reserved before the turn that stores it. After that
 * turn the directory of hashes names its owner; until then the reservation excludes other workspaces. There is one state:
 * the reservations are in rows.
 *
 * | state   | moved by     | condition                           | next    | also                                     |
 * |---------|--------------|-------------------------------------|---------|------------------------------------------|
 * | keeping | hash.reserve | another workspace has stored or     | keeping | refused                                  |
 * |         |              | reserved it                         |         |                                          |
 * | keeping | the same     | otherwise                           | keeping | reserves it for a minute from now        |
 * | keeping | hash.release | of a write that is over             | keeping | ends the reservation with its last write |
 * | keeping | woken        |                                     | keeping | removes the reservation                  |
 *
 * A workspace itself decides which of its resources has a hash. An owner whose workspace is closed, or that no longer
 * has the hash, does not count: the edge reads its rows, which no turn of this actor does.
 */
import { chartOf, type NoContext } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import { reference } from "../../runtime/reference.js";
import type { Answered, Delivered, Message, Woken } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { findHashOwner, type HashOwner } from "./resource-hash.table.js";

/** Reserves a hash for a workspace; answered with the time until which it may be stored, null when it is refused. */
export interface ReserveHash extends Answered<{ readonly beforeMs: number } | null> {
  readonly type: "hash.reserve";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  /** The owner by the directory that, by its own rows, no longer has the hash: it does not count. */
  readonly formerOwner?: HashOwner | undefined;
}

/** Ends the part that one write has in a reservation: the write has stored the hash, or will not. */
export interface ReleaseHash extends Message {
  readonly type: "hash.release";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  /** As the reservation of the write was answered. */
  readonly beforeMs: number;
}

/** Lifetime of a reservation, in milliseconds. */
export const RESERVED_MS = 60_000;
/** The last part of it, in which the hash is no longer stored: how far the clocks of two nodes may differ. */
const MARGIN_MS = 10_000;

const references = reference<ReserveHash | ReleaseHash>("hash-reservations");
/** The actor that reserves hashes. */
export const hashReservationsRef = references(GLOBAL_PARTITION, "all");

interface Reservation {
  readonly workspaceId: string;
  readonly untilMs: number;
  /** Writes of the workspace that have it and are not over; absent for one of an earlier release. */
  readonly writes?: number;
}

/** `[kind, hash]` */
const reservations = table<Reservation>("hash-reservation");

const { on, machine } = chartOf<NoContext, ReserveHash | ReleaseHash | Woken>();

const hashReservationsMachine = machine({
  id: "hash-reservations",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        ...on("hash.reserve", (event) => event.turn.reply(reserve(event))),
        ...on("hash.release", release),
        ...on("woken", forget),
      },
    },
  },
});

/** See the table above. */
export const hashReservationsActor = defineActor(references, { machine: hashReservationsMachine, version: 1 });

function reserve({ turn, kind, hash, workspaceId, formerOwner }: Delivered<ReserveHash>): {
  readonly beforeMs: number;
} | null {
  const reserved = reservations.get(turn, GLOBAL_PARTITION, kind, hash);
  const directed = findHashOwner(turn, kind, hash);
  const owner = directed?.id === formerOwner?.id ? undefined : directed;
  const holders = [owner?.workspaceId, reserved?.workspaceId];
  if (holders.some((holder) => holder !== undefined && holder !== workspaceId)) return null;
  const untilMs = turn.now + RESERVED_MS;
  const writes = (reserved?.writes ?? 0) + 1;
  reservations.put(turn, GLOBAL_PARTITION, [kind, hash], { workspaceId, untilMs, writes });
  turn.wake(toWakeUp(kind, hash), untilMs);
  return { beforeMs: untilMs - MARGIN_MS };
}

function release({ turn, kind, hash, workspaceId, beforeMs }: Delivered<ReleaseHash>): void {
  const reserved = reservations.get(turn, GLOBAL_PARTITION, kind, hash);
  // A write whose own reservation has lapsed has no part in a later one.
  if (reserved?.workspaceId !== workspaceId || turn.now >= beforeMs) return;
  const writes = (reserved.writes ?? 0) - 1;
  if (writes > 0) {
    reservations.put(turn, GLOBAL_PARTITION, [kind, hash], { ...reserved, writes });
    return;
  }
  reservations.remove(turn, GLOBAL_PARTITION, kind, hash);
  turn.cancelWake(toWakeUp(kind, hash));
}

function toWakeUp(kind: string, hash: string): string {
  return JSON.stringify([kind, hash]);
}

function forget({ turn, name }: Delivered<Woken>): void {
  const [kind, hash]: readonly string[] = JSON.parse(name);
  if (kind !== undefined && hash !== undefined) reservations.remove(turn, GLOBAL_PARTITION, kind, hash);
}
