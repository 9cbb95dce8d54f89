/**
 * Who may keep a hash that is one resource's alone over all workspaces (the token of a runner pool),
 * `hash-reservations/all` under the global partition. It is asked before the turn that keeps the hash: from then on the
 * directory of hashes says whose it is, and a reservation only keeps others away until it does.
 *
 * | state   | moved by     | condition                           | next    | also                                     |
 * |---------|--------------|-------------------------------------|---------|------------------------------------------|
 * | keeping | hash.reserve | another workspace keeps it, or has  | keeping | refused                                  |
 * |         |              | reserved it                         |         |                                          |
 * | keeping | the same     | any other                           | keeping | reserved for a minute, from now on       |
 * | keeping | woken        |                                     | keeping | the reservation goes                     |
 *
 * Which of its resources keeps a hash a workspace decides itself.
 */
import { setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import { reference } from "../../runtime/reference.js";
import type { Answered, Delivered, Turn, Woken } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { findHashOwner } from "./resource-hash.table.js";

/** Reserves a hash for a resource of a workspace; answered with until when it may be kept, null for never. */
export interface ReserveHash extends Answered<{ readonly beforeMs: number } | null> {
  readonly type: "hash.reserve";
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
}

/** How long a reservation keeps others away, in milliseconds. */
export const RESERVED_MS = 60_000;
/** The last of it, in which the hash is kept no more: as far as the clocks of two nodes may differ. */
const MARGIN_MS = 10_000;

const references = reference<ReserveHash>("hash-reservations");
/** Who keeps them. */
export const hashReservationsRef = references(GLOBAL_PARTITION, "all");

/** `[kind, hash]` -> the workspace. */
const reservations = table<{ readonly workspaceId: string; readonly untilMs: number }>("hash-reservation");

const machine = setup({
  types: { context: {} as Record<string, never>, events: {} as Delivered<ReserveHash | Woken> },
}).createMachine({
  id: "hash-reservations",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        "hash.reserve": { actions: ({ event }) => event.turn.reply(reserve(event)) },
        woken: { actions: ({ event }) => forget(event.turn, event.name) },
      },
    },
  },
});

/** See the table above. */
export const hashReservationsActor = defineActor(references, { machine, version: 1 });

function reserve({ turn, kind, hash, workspaceId }: Delivered<ReserveHash>): { readonly beforeMs: number } | null {
  const reserved = reservations.get(turn, GLOBAL_PARTITION, kind, hash);
  const holders = [findHashOwner(turn, kind, hash)?.workspaceId, reserved?.workspaceId];
  if (holders.some((holder) => holder !== undefined && holder !== workspaceId)) return null;
  const untilMs = turn.now + RESERVED_MS;
  reservations.put(turn, GLOBAL_PARTITION, [kind, hash], { workspaceId, untilMs });
  turn.wake(JSON.stringify([kind, hash]), untilMs);
  return { beforeMs: untilMs - MARGIN_MS };
}

function forget(turn: Turn, wakeUp: string): void {
  const [kind, hash]: readonly string[] = JSON.parse(wakeUp);
  if (kind !== undefined && hash !== undefined) reservations.remove(turn, GLOBAL_PARTITION, kind, hash);
}
