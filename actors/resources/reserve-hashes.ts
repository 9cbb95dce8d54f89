import type { Runtime } from "../../runtime/runtime.js";
import { hashReservationsRef } from "./hash-reservations.machine.js";
import type { Kind } from "./kind.js";
import type { ReservedHashes } from "./resource.messages.js";
import { findHashOwner } from "./resource-hash.table.js";

/** The resource that hashes are reserved for; `id` is null for a new one. */
export interface HashHolder {
  readonly workspaceId: string;
  readonly id: string | null;
}

/**
 * Reserves the hashes of a write that must be unique over all workspaces, before the workspace's turn; undefined when
 * there are none. The turn refuses the write for hashes that another resource has: those in `taken`.
 */
export async function reserveHashes(
  runtime: Pick<Runtime, "ask" | "reading" | "clock">,
  kind: Kind,
  hidden: Readonly<Record<string, string>>,
  { workspaceId, id }: HashHolder,
): Promise<ReservedHashes | undefined> {
  const taken: string[] = [];
  let beforeMs: number | undefined;
  for (const { path, unique } of kind.hidden) {
    const hash = hidden[path];
    if (unique === undefined || hash === undefined) continue;
    const isTaken = unique.isTaken(runtime.reading, hash, { id, nowMs: runtime.clock.now() });
    // Nobody has it now, so whoever the directory still names (a pool of a closed workspace) had it once.
    const formerOwner = isTaken ? undefined : findHashOwner(runtime.reading, kind.name, hash);
    const message = { type: "hash.reserve", kind: kind.name, hash, workspaceId, formerOwner } as const;
    const reserved = isTaken ? null : await runtime.ask(hashReservationsRef, message);
    if (reserved === null) taken.push(path);
    beforeMs = Math.min(beforeMs ?? Number.POSITIVE_INFINITY, reserved?.beforeMs ?? Number.POSITIVE_INFINITY);
  }
  return beforeMs === undefined ? undefined : { taken, beforeMs };
}
