/**
 * Reserves hashes that must be unique over all workspaces, such as the token of a runner pool,
 * `hash-reservations/all` under the global partition. A hash is reserved before the turn that stores it. After that
 * turn the directory of hashes names its owner; until then the reservation excludes other workspaces. The only state
 * has no data: the reservations are in rows.
 *
 * | state   | moved by     | condition                           | next    | also                                     |
 * |---------|--------------|-------------------------------------|---------|------------------------------------------|
 * | keeping | hash.reserve | another workspace has stored or     | keeping | refused                                  |
 * |         |              | reserved it                         |         |                                          |
 * | keeping | hash.reserve | otherwise                           | keeping | reserves it for a minute from now        |
 * | keeping | hash.release | of a finished write                 | keeping | ends the reservation with its last write |
 * | keeping | woken        |                                     | keeping | removes the reservation                  |
 *
 * The workspace decides which of its resources has a hash. An owner whose workspace is closed, or that no longer
 * has the hash, does not count as an owner. The edge reads the owner's rows, because turns of this actor cannot.
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Delivered, Message, Woken } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { findHashOwner, type HashOwner } from "./resource-hash.table.js";

/**
 * Reserves a hash for a workspace. The answer is the time until which the workspace may store it, or null for a
 * refusal.
 */
export interface ReserveHash extends Answered<{ readonly beforeMs: number } | null> {
  readonly type: "hash.reserve";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  /**
   * The hash's owner in the directory, if that owner's rows no longer have the hash. The reservation ignores this
   * owner.
   */
  readonly formerOwner?: HashOwner | undefined;
}

/** A write no longer needs its reservation of a hash: it has stored the hash, or will not store it. */
export interface ReleaseHash extends Message {
  readonly type: "hash.release";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  /** The `beforeMs` in the answer to {@link ReserveHash}. */
  readonly beforeMs: number;
}

/** Lifetime of a reservation, in milliseconds. */
export const RESERVED_MS = 60_000;
/**
 * The last part of a reservation's lifetime, in milliseconds, in which the hash may no longer be stored: the maximum
 * clock difference between two nodes.
 */
const MARGIN_MS = 10_000;

const references = reference<ReserveHash | ReleaseHash>("hash-reservations");
/** The actor that reserves hashes. */
export const hashReservationsRef = references(GLOBAL_PARTITION, "all");

interface Reservation {
  readonly workspaceId: string;
  readonly untilMs: number;
  /** Number of the workspace's unfinished writes with this hash; absent in rows of earlier releases. */
  readonly writes?: number;
}

/** Key: `[kind, hash]`. */
export const reservations = table<Reservation>("hash-reservation");

const { on, machine } = createChart<NoContext, ReserveHash | ReleaseHash | Woken>();

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

/** The actor of the machine above. */
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
  // If the write's own reservation has expired, a later reservation of the hash does not belong to this write.
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
