/**
 * Reserves hashes that must be unique over all workspaces, such as the hash of a runner pool's token. The actor is
 * `hash-reservations/all` in the global partition. A write reserves a hash before the turn that stores the hash. From
 * that turn on, the directory of hashes has the owner. Until then the reservation excludes other workspaces. There is
 * only one state, because rows store the reservations.
 *
 * | state   | moved by     | condition                           | next    | also                                     |
 * |---------|--------------|-------------------------------------|---------|------------------------------------------|
 * | keeping | hash.reserve | another workspace has stored or     | keeping | refused                                  |
 * |         |              | reserved it                         |         |                                          |
 * | keeping | hash.reserve | otherwise                           | keeping | reserves it for a minute from now        |
 * | keeping | hash.release | of a finished write                 | keeping | ends the reservation with its last write |
 * | keeping | woken        |                                     | keeping | removes the reservation                  |
 *
 * The actor only compares workspaces. Within a workspace, the workspace actor decides which resource has a hash.
 *
 * The directory may name a former owner: a resource whose workspace is closed, or that no longer has the hash. A former
 * owner does not count. Turns of this actor cannot read the owner's rows. So the edge reads them and names the former
 * owner in `hash.reserve`.
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Delivered, Message, Woken } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { findHashOwner, type HashOwner } from "./resource-hash.table.js";

/**
 * Reserves a hash for a workspace. The answer has the time before which the workspace must store the hash. The answer
 * is null if another workspace has the hash.
 */
export interface ReserveHash extends Answered<{ readonly beforeMs: number } | null> {
  readonly type: "hash.reserve";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  /**
   * The owner that the directory names, if the rows of this owner no longer have the hash. The actor ignores this
   * owner.
   */
  readonly formerOwner?: HashOwner | undefined;
}

/** Sent when a write no longer needs its reservation, because the write has stored the hash or will not store it. */
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
 * The last part of a reservation's lifetime, in milliseconds. In this part the hash may no longer be stored. It covers
 * the maximum clock difference between two nodes.
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
  // Keep the reservation if the write's own reservation has expired: the stored one belongs to a later write.
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
