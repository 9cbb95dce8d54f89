import type { Runtime } from "../../runtime/runtime.js";
import { hashReservationsRef } from "./hash-reservations.machine.js";
import type { Kind } from "./kind.js";
import type { ReservedHashes } from "./resource.messages.js";
import { findHashOwner } from "./resource-hash.table.js";

/** The resource that needs the hashes; `id` is null for a new one. */
export interface HashHolder {
  readonly workspaceId: string;
  readonly id: string | null;
}

/** The parts of the runtime that a reservation needs. */
type Reserving = Pick<Runtime, "ask" | "reading" | "clock">;

/** A hash that a write has reserved. */
interface Reserved {
  readonly kind: string;
  readonly hash: string;
  readonly workspaceId: string;
  readonly beforeMs: number;
}

/**
 * Reserves the hashes that must be unique over all workspaces while `write` runs. `write` receives the reservations;
 * undefined if there are no such hashes. `taken` has the paths of the hashes that other resources already have. If
 * there are any, the workspace refuses the write in its turn.
 */
export async function withReservedHashes<Result>(
  runtime: Reserving,
  of: { readonly kind: Kind; readonly hidden: Readonly<Record<string, string>>; readonly holder: HashHolder },
  write: (hashes: ReservedHashes | undefined) => Promise<Result>,
): Promise<Result> {
  const reserved: Reserved[] = [];
  try {
    return await write(await reserve(runtime, of, reserved));
  } finally {
    // If the process ends before the release, the reservation expires.
    for (const each of reserved) await runtime.ask(hashReservationsRef, { type: "hash.release", ...each });
  }
}

async function reserve(
  runtime: Reserving,
  { kind, hidden, holder: { workspaceId, id } }: Parameters<typeof withReservedHashes>[1],
  reserved: Reserved[],
): Promise<ReservedHashes | undefined> {
  const taken: string[] = [];
  for (const { path, unique } of kind.hidden) {
    const hash = hidden[path];
    if (unique === undefined || hash === undefined) continue;
    const isTaken = unique.isTaken(runtime.reading, hash, { id, nowMs: runtime.clock.now() });
    // If no resource has the hash, an owner in the directory is a former owner, such as a pool of a closed workspace.
    const formerOwner = isTaken ? undefined : findHashOwner(runtime.reading, kind.name, hash);
    const message = { type: "hash.reserve", kind: kind.name, hash, workspaceId, formerOwner } as const;
    const answer = isTaken ? null : await runtime.ask(hashReservationsRef, message);
    if (answer === null) taken.push(path);
    else reserved.push({ kind: kind.name, hash, workspaceId, beforeMs: answer.beforeMs });
  }
  const beforeMs = Math.min(...reserved.map((each) => each.beforeMs));
  return taken.length + reserved.length === 0 ? undefined : { taken, beforeMs };
}
